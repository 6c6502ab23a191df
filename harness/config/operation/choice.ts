import { UsageError } from '../../base/exit.ts';
import { mapping, whole } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';
import { didYouMean } from '../yaml/nearest.ts';
import type { Operation } from './call/call.ts';

/** An operation that the config or the command line keeps out of a run. */
export interface LeftOutOperation {
  readonly operation: Operation;
  /** Completes "not exercised: …". */
  readonly reason: string;
}

type Named = Pick<Operation, 'method' | 'template' | 'id' | 'tags'>;

/** The names by which an operation can be meant. */
export function namesOfOperation({ method, template, id, tags }: Named): readonly string[] {
  return [`${method} ${template}`, template, id, ...tags];
}

/** `GET /v1/orders*`: `*` stands for any text. Also a path, an operationId or a tag. */
export function isMeant(operation: Named, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const form = new RegExp(`^${parts.join('.*')}$`);
  return namesOfOperation(operation).some((name) => form.test(name));
}

interface Choosable {
  readonly operations: readonly Operation[];
  readonly leftOut?: readonly LeftOutOperation[];
}

/** The services with the chosen operations only. `!` before a pattern leaves out. @throws UsageError if one matches nothing. */
export function chooseOperations<C extends Choosable>(
  services: readonly C[],
  patterns: readonly string[],
): readonly C[] {
  const all = services.flatMap(({ operations }) => operations);
  const plain = (pattern: string) => pattern.replace(/^!/, '');
  for (const pattern of patterns) {
    if (all.some((each) => isMeant(each, plain(pattern)))) continue;
    throw nothingMeant(plain(pattern), all);
  }
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'));
  const unwanted = patterns.filter((pattern) => pattern.startsWith('!'));
  const isChosen = (operation: Operation) =>
    (wanted.length === 0 || wanted.some((pattern) => isMeant(operation, pattern))) &&
    !unwanted.some((pattern) => isMeant(operation, plain(pattern)));
  const reason = `it is not chosen (--operation ${patterns.join(' ')})`;
  return services.map((service) => {
    const left = service.operations.filter((each) => !isChosen(each));
    return {
      ...service,
      operations: service.operations.filter(isChosen),
      leftOut: [...(service.leftOut ?? []), ...left.map((operation) => ({ operation, reason }))],
    };
  });
}

/** The error for a pattern that no operation matches. */
export function nothingMeant(pattern: string, all: readonly Operation[]): UsageError {
  const known = [...new Set(all.flatMap(namesOfOperation))];
  const near = didYouMean(pattern, known);
  return new UsageError(`no operation matches ${JSON.stringify(pattern)}`, { remedy: near });
}

const PERCENT = { minimum: 0, maximum: 100, expected: 'a whole number from 0 to 100' };

export const COVERAGE_FLOOR = mapping(
  'How much of the OpenAPI document a run must exercise, in percent. A run that exercises less fails.',
  { expected: 'a mapping such as { operations: 100, responses: 60 }', nullable: true },
  {
    operations: whole('Of the operations, those that are called.', PERCENT),
    responses: whole('Of the documented responses of all operations, those that are seen.', PERCENT),
  },
);

export type CoverageFloor = Loaded<typeof COVERAGE_FLOOR>;
