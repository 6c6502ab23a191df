import { formatPlace } from '../../base/exit.ts';
import { isJsonObject, parseJsonObject } from '../../base/json-text.ts';
import type { Definitions } from '../../wire/json/schema.ts';
import { child, type DocumentNode } from '../document/source.ts';
import type {
  DocumentedMessage,
  DocumentedMessages,
  MessageEndpoint,
  MessageOperation,
  MessageText,
} from './documented-messages.ts';
import type { FoundMessage, MessageReader } from './messages.ts';
import type { ChannelOperation, FoundChannel, Outline } from './outline.ts';

/** The messages and operations of channels that have one address. */
export function endpointOf(
  channels: readonly FoundChannel[],
  outline: Outline,
  reader: MessageReader,
): Pick<MessageEndpoint, 'messages' | 'operations'> {
  const all = new Set(channels);
  const operations = outline.operations.filter(({ channel }) => all.has(channel));
  const found = new EndpointReader(reader, outline, all, operations);
  return { messages: found.messages, operations: found.operations };
}

/** The endpoints, where the config says the address of one: of that with its path, of one without any, or of the first. */
export function withAddress(
  { endpoints, elsewhere }: Pick<DocumentedMessages, 'endpoints' | 'elsewhere'>,
  url: string | null,
): readonly MessageEndpoint[] {
  if (url === null || endpoints.some(({ target }) => target === url)) return endpoints;
  const pathOf = (target: string) => target.replace(/^wss?:\/\/[^/?]*/i, '').replace(/\?.*$/, '') || '/';
  const named = endpoints.findIndex(({ target }) => pathOf(target) === pathOf(url));
  if (named !== -1 || (endpoints.length > 0 && !elsewhere.some(({ isOpen }) => isOpen))) {
    return endpoints.map((each, index) => (index === Math.max(named, 0) ? { ...each, target: url } : each));
  }
  const open = elsewhere.find(({ isOpen }) => isOpen);
  if (open === undefined) return endpoints;
  const { messages, operations } = open;
  return [{ target: url, fields: [], messages, operations }, ...endpoints];
}

/** Those that no endpoint has, with the reason in place of any other. */
export function operationsElsewhere(
  { elsewhere }: Pick<DocumentedMessages, 'elsewhere'>,
  endpoints: readonly MessageEndpoint[],
): readonly MessageOperation[] {
  const here = new Set(endpoints.flatMap(({ operations }) => operations));
  return elsewhere.flatMap(({ operations, reason }) =>
    operations.filter((each) => !here.has(each)).map((each) => ({ ...each, unfit: reason })),
  );
}

/** Definitions that one schema may take along. */
const MOST_DEFINITIONS = 50;

/** The first message that changes nothing, with the schema of what answers it; for rules about whatever is answered. */
export function pairsOf(
  { operations, messages }: MessageEndpoint,
  definitions: Definitions,
): readonly { readonly send: string; readonly expect: unknown; readonly inAnyKind: true }[] {
  for (const { texts, replies, unfit } of operations) {
    const [first] = texts.filter(({ risk }) => risk === null);
    const schemas = messages.flatMap(({ name, schema }) =>
      replies?.includes(name) && schema ? [schema] : [],
    );
    if (first === undefined || unfit !== null || schemas.length !== (replies?.length ?? 0)) continue;
    const expect = schemas.length === 0 ? null : together(schemas, definitions);
    if (expect !== null) return [{ send: first.text, expect, inAnyKind: true }];
  }
  return [];
}

/** One schema that needs no other; null where it would be long, or of several dialects. */
function together(schemas: readonly { readonly $ref: string }[], definitions: Definitions): unknown {
  const uris = new Set(schemas.map(({ $ref }) => $ref));
  const parts: [string, unknown][] = [];
  const dialects = new Set<unknown>();
  for (const uri of uris) {
    const definition = Object.hasOwn(definitions, uri) ? definitions[uri] : undefined;
    if (uris.size > MOST_DEFINITIONS || !isJsonObject(definition)) return null;
    const { $schema, ...rest } = definition;
    dialects.add($schema);
    for (const next of refsIn(rest)) uris.add(next);
    parts.push([`part-${parts.length + 1}`, { $id: uri, ...('$ref' in rest ? { allOf: [rest] } : rest) }]);
  }
  const [$schema] = dialects;
  if (dialects.size !== 1) return null;
  return {
    ...($schema === undefined ? {} : { $schema }),
    anyOf: schemas,
    definitions: Object.fromEntries(parts),
  };
}

function refsIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(refsIn);
  if (!isJsonObject(node)) return [];
  const own = typeof node.$ref === 'string' ? [node.$ref] : [];
  return [...own, ...Object.values(node).flatMap(refsIn)];
}

/** Messages of one operation that are sent at most. */
const MOST_TEXTS = 10;

/** Gives each message a name of its own, whatever refers to it. */
class EndpointReader {
  readonly messages: readonly DocumentedMessage[];
  readonly operations: readonly MessageOperation[];
  readonly #reader: MessageReader;
  readonly #byKey = new Map<string, { readonly found: FoundMessage; readonly name: string }>();

  constructor(
    reader: MessageReader,
    outline: Outline,
    channels: ReadonlySet<FoundChannel>,
    operations: readonly ChannelOperation[],
  ) {
    this.#reader = reader;
    this.operations = operations.map((each) => this.#operation(each, channels));
    for (const channel of channels) for (const given of outline.messagesOf(channel)) this.#find(given);
    this.messages = [...this.#byKey.values()].map(({ found, name }) => reader.received(found, name));
  }

  #find(given: DocumentNode): { readonly found: FoundMessage; readonly name: string } | null {
    const found = this.#reader.find(given);
    if (found === null) return null;
    const known = this.#byKey.get(found.key);
    if (known !== undefined) return known;
    const taken = new Set([...this.#byKey.values()].map(({ name }) => name));
    let name = found.name;
    for (let copy = 2; taken.has(name); copy += 1) name = `${found.name} ${copy}`;
    this.#byKey.set(found.key, { found, name });
    return { found, name };
  }

  #operation(operation: ChannelOperation, channels: ReadonlySet<FoundChannel>): MessageOperation {
    const { id, action, at, reply } = operation;
    const own = operation.messages.flatMap((given) => this.#find(given) ?? []);
    const isHere = reply !== null && !reply.isElsewhere && channels.has(reply.channel);
    const replies = isHere ? reply.messages.flatMap((given) => this.#find(given)?.name ?? []) : null;
    const texts: MessageText[] = [];
    let lacks: string | null = own.length === 0 ? 'no message of it can be read' : null;
    if (action === 'send') {
      for (const { found, name } of own.slice(0, MOST_TEXTS)) {
        const sent = this.#reader.sent(found);
        if ('lacks' in sent) lacks ??= `${name}: ${sent.lacks}`;
        else texts.push({ message: name, risk: riskOf(at, found, id, sent.text), ...sent });
      }
    }
    const unfit = action === 'send' && texts.length > 0 ? null : lacks;
    const far = reply !== null && !isHere ? 'its reply comes over another connection' : null;
    return {
      ...{ id, action, texts },
      messages: own.map(({ name }) => name),
      replies: replies !== null && replies.length > 0 ? replies : null,
      unfit: unfit ?? far,
      place: formatPlace(at.file.placeOf(at.pointer)),
    };
  }
}

/** What only this connection, or nothing at all, is another for. */
const HARMLESS = /^(?:ping|heartbeat|keep-?alive|subscribe|unsubscribe)$/i;
/** It may change or remove what the run did not create. */
const DESTRUCTIVE =
  /delete|remove|cancel|destroy|drop|purge|reset|clear|kick|ban|revoke|terminate|shutdown|update|replace|patch|rename|transfer|withdraw/i;
/** Members of a message that say what it asks for. */
const WORDS = ['type', 'event', 'method', 'op', 'action', 'kind', 'cmd', 'command'];

/** What sending a message may change. The document's `x-safe` goes before its names. */
function riskOf(
  operation: DocumentNode,
  { at, name }: FoundMessage,
  id: string,
  text: string,
): MessageText['risk'] {
  const marks = [child(at, 'x-safe').value, child(operation, 'x-safe').value];
  const mark = marks.find((each) => typeof each === 'boolean');
  if (mark === true) return null;
  const value = parseJsonObject(text);
  const words = WORDS.map((word) => value?.[word]).filter((word) => typeof word === 'string');
  if (mark === undefined && (words.length > 0 ? words : [name]).every((word) => HARMLESS.test(word)))
    return null;
  return [id, name, ...words].some((word) => DESTRUCTIVE.test(word)) ? 'destroys' : 'changes';
}
