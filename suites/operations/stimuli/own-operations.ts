import { isJsonObject, parseJsonObject } from '../../../harness/base/json-text.ts';
import { derivedOnce } from '../../../harness/config/derived.ts';
import { type Call, requestOfCall, withoutEndSlash } from '../../../harness/config/operation/call/call.ts';
import { type Lifecycle, lifecyclesOf } from '../../../harness/config/operation/lifecycle.ts';
import type { Operation, OperationRequest } from '../../../harness/config/service.ts';

/** A run changes and removes only what it has created, whatever examples a document has. */

/** The lifecycles that a service documents. */
export const lifecyclesIn = derivedOnce(
  ({ operations, definitions }) => [operations, definitions],
  ({ operations, definitions = {} }): readonly Lifecycle[] => lifecyclesOf(operations, definitions),
);

/** The lifecycle whose items an operation creates; null if it creates none that can be removed again. */
export function creationOf(operation: Operation, lifecycles: readonly Lifecycle[]): Lifecycle | null {
  return lifecycles.find(({ create }) => create === operation) ?? null;
}

/** The lifecycle of which an operation is about one item; null if anything but its path may say which. */
export function itemOperationOf({ call }: Operation, lifecycles: readonly Lifecycle[]): Lifecycle | null {
  const isOf = ({ create, parameter, idMember }: Lifecycle) => {
    const item = `${withoutEndSlash(create.call.template)}/{${parameter}}`;
    const below = withoutEndSlash(call.template).slice(item.length);
    const isNamed = isJsonObject(call.body?.value) && idMember in call.body.value;
    return call.template.startsWith(item) && (below === '' || /^\/[^{}]*$/.test(below)) && !isNamed;
  };
  return lifecycles.find(isOf) ?? null;
}

/** Stands in a path for the identifier of an item until there is one. */
export const OWN_ID = 'conform-own-item';

/** The operation with the item that the run will have created, in place of an example of the document. */
export function aboutOwnItem(operation: Operation, lifecycles: readonly Lifecycle[]): Operation {
  const lifecycle = operation.safe ? null : itemOperationOf(operation, lifecycles);
  if (lifecycle === null) return operation;
  const call = withItem(operation.call, lifecycle.parameter, OWN_ID);
  return { ...operation, ...requestOfCall(call), call };
}

/** The call about an item, whose identifier the query may have under the same name as the path. */
export function withItem(call: Call, parameter: string, id: string): Call {
  const isNamed = ({ in: place, name, value }: Call['inputs'][number]) =>
    name === parameter && (place === 'path' || (place === 'query' && value === `{${parameter}}`));
  return {
    ...call,
    inputs: call.inputs.map((input) => (isNamed(input) ? { ...input, value: id } : input)),
  };
}

/** Whether a path is that of an item that the run will have created. */
export function isOfOwnItem(path: string): boolean {
  return path.includes(`/${OWN_ID}`);
}

/** It creates an item that can be removed again, or is about one that the run has created. */
export function isOfOwn(operation: Operation, lifecycles: readonly Lifecycle[]): boolean {
  return [creationOf, itemOperationOf].some((lifecycleIn) => lifecycleIn(operation, lifecycles) !== null);
}

/** Whether a variation of a request is still about the same item. */
export function leavesOthersAlone(
  { path, body }: OperationRequest,
  { operation, path: documented }: OperationRequest & { readonly operation: Operation },
  lifecycles: readonly Lifecycle[],
): boolean {
  if (operation.safe) return true;
  const lifecycle = creationOf(operation, lifecycles) ?? itemOperationOf(operation, lifecycles);
  const names = parseJsonObject(body?.text ?? '');
  const isNamed = lifecycle !== null && names !== null && lifecycle.idMember in names;
  return isOfOwnItem(path) === isOfOwnItem(documented) && !isNamed;
}
