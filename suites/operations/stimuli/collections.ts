import { derivedOnce } from '../../../harness/config/derived.ts';
import { placeholdersOf, withoutEndSlash } from '../../../harness/config/operation/call/call.ts';
import { itemPathElsewhere } from '../../../harness/config/operation/item-path.ts';
import type { Lifecycle } from '../../../harness/config/operation/lifecycle.ts';
import type { Operation } from '../../../harness/config/service.ts';
import { ownName, singular } from './names.ts';
import { creationOf, itemOperationOf } from './own-operations.ts';

/** A path where a POST creates items, at whatever depth: `/orgs/{org}/repos`. */
export interface Collection {
  readonly create: Operation;
  /** `/orgs/{org}/repos/{repo}`; several if the paths below have other names for the same. */
  readonly itemTemplates: readonly string[];
  /** The last parameter of each. */
  readonly parameters: readonly string[];
  /** The items stand below another path: only the Location of a creation says which they are. */
  readonly isElsewhere: boolean;
  /** `repo` */
  readonly noun: string;
  /** DELETE of one item; null if none is documented. */
  readonly remove: Operation | null;
}

/** The end of a path that names the format of its answer. */
export const FORMAT = /\.(?:json|xml)$/;

/** The collections of a document; none where the parameter of the items is in doubt. */
export function collectionsOf(operations: readonly Operation[]): readonly Collection[] {
  const templates = [...new Set(operations.map(({ call }) => pathOf(call.template)))];
  return operations.flatMap((create) => {
    // `POST /containers/create` makes what `/containers/{id}` names.
    const path = pathOf(create.call.template).replace(/\/(?:create|new)$/i, '');
    if (create.method !== 'POST' || path.endsWith('}') || isUnfit(create)) return [];
    const below = templates.flatMap((each) =>
      each.startsWith(`${path}/{`) ? [each.slice(path.length + 1)] : [],
    );
    const parameters = [...new Set(below.flatMap((rest) => /^\{([^{}/]+)\}(?=\/|$)/.exec(rest)?.[1] ?? []))];
    const noun = singular(path.split('/').at(-1) ?? '');
    const elsewhere = parameters.length === 0 ? itemPathElsewhere(create, operations) : null;
    if (elsewhere !== null) parameters.push(...placeholdersOf(elsewhere).slice(-1));
    // `{id}` and `{contact_id}` below `/contacts` are one.
    if (new Set(parameters.map((name) => ownName(name, noun))).size !== 1) return [];
    const itemTemplates = elsewhere === null ? parameters.map((name) => `${path}/{${name}}`) : [elsewhere];
    const remove = operations.find(
      ({ method, call }) => method === 'DELETE' && itemTemplates.includes(pathOf(call.template)),
    );
    const isElsewhere = elsewhere !== null;
    return [{ create, itemTemplates, parameters, isElsewhere, noun, remove: remove ?? null }];
  });
}

/** The collections that a service documents. */
export const collectionsIn = derivedOnce(
  ({ operations }) => [operations],
  ({ operations }) => collectionsOf(operations),
);

/** Something other than a value of an answer is missing. */
function isUnfit({ uncallable, awaits }: Operation): boolean {
  return uncallable !== null && awaits.length === 0;
}

/** The innermost collection that an operation is about an item of; null for none. */
export function collectionAround(
  operation: Operation,
  collections: readonly Collection[],
): Collection | null {
  const path = pathOf(operation.call.template);
  const around = collections.filter(({ itemTemplates }) =>
    itemTemplates.some((each) => path === each || path.startsWith(`${each}/`)),
  );
  const lengthOf = ({ itemTemplates: [item = ''] }: Collection) => item.length;
  const valuesOf = ({ create }: Collection) => placeholdersOf(create.call.template).length;
  // Of several that create such items, the one that needs the fewest values.
  return around.toSorted((a, b) => lengthOf(b) - lengthOf(a) || valuesOf(a) - valuesOf(b))[0] ?? null;
}

/** What a run does with an operation that changes something, beyond the lifecycles. */
export interface NestedUse {
  /** The item that it is about, or that it creates something in; null if that needs none of the run. */
  readonly item: Collection | null;
  /** The collection that it adds to; null if it creates nothing there. */
  readonly into: Collection | null;
}

/** null for operations of the lifecycles, and for those that nothing shows to be about an item of the run. */
export function nestedUse(
  operation: Operation,
  collections: readonly Collection[],
  lifecycles: readonly Lifecycle[],
): NestedUse | null {
  if (operation.safe || isUnfit(operation)) return null;
  if ([creationOf, itemOperationOf].some((lifecycleIn) => lifecycleIn(operation, lifecycles) !== null))
    return null;
  const item = collectionAround(operation, collections);
  const into = collections.find(({ create }) => create === operation) ?? null;
  return item === null && into === null ? null : { item, into };
}

/** `/Accounts.json` and `/Accounts/{Sid}.json` are `/Accounts` and `/Accounts/{Sid}` in one format. */
function pathOf(template: string): string {
  return withoutEndSlash(template.split('?', 1)[0] ?? '').replace(FORMAT, '');
}
