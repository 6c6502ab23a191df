import { either, named } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';
import type { DocumentedInput } from './openapi/inputs.ts';
import type { DocumentedOperation } from './openapi/openapi.ts';

export const PARAMETERS = named(
  'Values of parameters for all operations of the OpenAPI document, by name. `orders.id` is the parameter `id` of paths with /orders/{id}, `getOrder.id` that of one operation.',
  {
    nullable: true,
    expected: 'a mapping such as { org: acme, orders.id: 42 }',
    examples: [{ org: 'acme', 'orders.id': 42 }],
  },
  either<string | number | boolean>(
    'Value of the parameter.',
    { expected: 'text, a number, true or false', references: 'open' },
    { type: ['string', 'number', 'boolean'] },
  ),
);

/** The documented operation with the values that the config gives once for the whole document. */
export function withGivenValues(
  operation: DocumentedOperation,
  given: Loaded<typeof PARAMETERS> | undefined,
): DocumentedOperation {
  if (given === undefined) return operation;
  const inputs = operation.inputs.map((input): DocumentedInput => {
    const key = keysOf(operation, input).find((each) => Object.hasOwn(given, each));
    return key === undefined
      ? input
      : { ...input, value: given[key], lacks: null, findable: false, from: 'config' };
  });
  return { ...operation, inputs };
}

/** The most specific first. An optional input is given only by a specific key. */
function keysOf({ id, template }: DocumentedOperation, { name, in: place, required }: DocumentedInput) {
  const segments = template.split('/');
  const before = place === 'path' ? segments[segments.indexOf(`{${name}}`) - 1] : undefined;
  return [
    `${id}.${name}`,
    ...(before === undefined ? [] : [`${before}.${name}`]),
    ...(required ? [name] : []),
  ];
}
