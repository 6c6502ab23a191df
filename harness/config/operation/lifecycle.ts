import { isJsonObject } from '../../base/json-text.ts';
import type { Definitions } from '../../wire/json/schema.ts';
import {
  type Call,
  type Facets,
  facetsOf,
  isJsonType,
  type Operation,
  withoutEndSlash,
} from './call/call.ts';

/** A collection whose items a client creates, reads, changes and removes, as the documents describe it. */
export interface Lifecycle {
  readonly create: Operation;
  readonly read: Operation;
  readonly remove: Operation;
  /** PATCH, where it takes members as JSON. */
  readonly update: Operation | null;
  /** The update is a JSON merge patch (RFC 7396). */
  readonly updatesByMerge: boolean;
  /** PATCH, where it is documented to take a JSON patch (RFC 6902). */
  readonly patch: Operation | null;
  readonly replace: Operation | null;
  readonly list: Operation | null;
  readonly parameter: string;
  readonly idMember: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Members that a client may send. */
  readonly writable: Readonly<Record<string, Facets>>;
  /** Members that a client must send with a creation and a replacement. */
  readonly required: readonly string[];
  /** Members that are documented to be sent, and never answered. */
  readonly unreadable: readonly string[];
  /** Members that an item is documented to have when it is read. */
  readonly readable: Readonly<Record<string, Facets>>;
  /** The header that makes a creation repeatable, where it is documented; null where none is. */
  readonly idempotencyField: string | null;
}

type AllOperations = readonly Operation[];

/** A POST of a JSON object, and one parameter below its path with GET and DELETE; none in doubt. */
export function lifecyclesOf(operations: AllOperations, definitions: Definitions): readonly Lifecycle[] {
  return operations
    .filter(({ method, uncallable }) => method === 'POST' && uncallable === null)
    .flatMap((create) => lifecycleOf(create, operations, definitions) ?? []);
}

function lifecycleOf(
  create: Operation,
  operations: AllOperations,
  definitions: Definitions,
): Lifecycle | null {
  const { body } = create.call;
  const template = withoutEndSlash(create.call.template);
  if (body === null || !isJsonType(body.mediaType) || !isJsonObject(body.value)) return null;
  if (template.includes('?')) return null;
  const above = placeOf(create.call, template);
  if (above === null) return null;
  const items = operations.filter(
    ({ call }) => isItemOf(call, template) && placeOf(call, template) === above,
  );
  const parameters = new Set(items.map(({ call }) => withoutEndSlash(call.template)));
  if (parameters.size !== 1) return null;
  const [itemTemplate = ''] = parameters;
  const parameter = itemTemplate.slice(template.length + 2, -1);
  const by = (method: string) =>
    items.find((each) => each.method === method && canBeAsked(each.call, parameter)) ?? null;
  const [read, remove] = [by('GET'), by('DELETE')];
  if (read === null || remove === null || create.auth === 'none') return null;
  const readable = membersOf(read.response.schema, definitions);
  const idMember = [parameter, 'id'].find((name) => isIdentifier(readable[name]));
  // An identifier of the client's choice may be that of an item which is there.
  if (idMember === undefined || idMember in body.value) return null;
  const created = membersOf(create.response.schema, definitions);
  // It has to say where the item is: in its body, or by the Location of a 201.
  if (!isIdentifier(created[idMember]) && create.response.status !== 201) return null;
  const update = by('PATCH');
  const list = operations.find(
    ({ method, call, uncallable }) =>
      method === 'GET' &&
      withoutEndSlash(call.template) === template &&
      placeOf(call, template) === above &&
      uncallable === null,
  );
  const named = create.call.inputs.find(
    ({ name, in: place }) => place === 'header' && name.toLowerCase() === 'idempotency-key',
  );
  return {
    create,
    read,
    remove,
    update: update !== null && takesMembers(update.call) ? update : null,
    updatesByMerge: update?.call.body?.mediaType.toLowerCase().startsWith('application/merge-patch') ?? false,
    patch: update !== null && takesJsonPatch(update.call) ? update : null,
    replace: by('PUT'),
    list: list ?? null,
    parameter,
    idMember,
    body: body.value,
    writable: membersOf(body.schema, definitions),
    required: facetsOf(body.schema, definitions).required,
    unreadable: Object.keys(readable).filter((name) => readable[name]?.keywords.writeOnly === true),
    readable,
    idempotencyField: named?.name ?? null,
  };
}

/** The values in the path of a collection; null if any is not of the config: others may own the place. */
function placeOf({ inputs }: Call, collection: string): string | null {
  const names = [...collection.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name);
  const given = names.map((each) =>
    inputs.find(({ name, in: place, from }) => name === each && place === 'path' && from === 'config'),
  );
  return given.includes(undefined) ? null : JSON.stringify(given.map((each) => each?.value));
}

/** One parameter below the path of a collection, and nothing more. */
function isItemOf(call: Call, collection: string): boolean {
  const template = withoutEndSlash(call.template);
  const below = template.slice(collection.length + 1);
  return template.startsWith(`${collection}/{`) && /^\{[^{}/]+\}$/.test(below);
}

/** Nothing is missing but the item's own name. */
function canBeAsked({ inputs }: Call, parameter: string): boolean {
  return inputs.every(
    ({ name, in: place, required, value }) =>
      !required || value !== undefined || (place === 'path' && name === parameter),
  );
}

/** A JSON patch says how to change, and not what (RFC 6902). */
function takesMembers({ body }: Call): boolean {
  return body !== null && /^application\/(?:merge-patch\+)?json *(?:;|$)/i.test(body.mediaType);
}

function takesJsonPatch({ body }: Call): boolean {
  const types = body === null ? [] : [body.mediaType, ...(body.otherTypes ?? [])];
  return types.some((type) => /^application\/json-patch\+json *(?:;|$)/i.test(type));
}

function membersOf(schema: unknown, definitions: Definitions): Readonly<Record<string, Facets>> {
  const { properties } = facetsOf(schema, definitions);
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, facetsOf(member, definitions)]),
  );
}

function isIdentifier(facets: Facets | undefined): boolean {
  return facets?.type === 'string' || facets?.type === 'integer';
}
