import { parseJson } from '../../../harness/base/json-text.ts';
import type {
  DocumentedMessage,
  MessageEndpoint,
} from '../../../harness/config/asyncapi/documented-messages.ts';
import { isJsonType } from '../../../harness/config/operation/call/call.ts';
import type { Message } from '../../../harness/wire/conversation/message.ts';
import { type Definitions, EndlessSchema, SchemaBook } from '../../../harness/wire/json/schema.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';

/** A message of the service, as its document knows it. */
export type MessageVerdict =
  | { readonly is: 'documented'; readonly message: DocumentedMessage; readonly value: unknown }
  /** It says that it is this message, and does not fit its schema. */
  | { readonly is: 'misfit'; readonly message: DocumentedMessage; readonly fault: string }
  | { readonly is: 'undocumented'; readonly got: string }
  /** It is not of the documented content type. */
  | { readonly is: 'malformed'; readonly got: string }
  /** Not all of it was kept. */
  | { readonly is: 'unread'; readonly reason: string }
  /** It holds a secret, or its schema has no end. */
  | { readonly is: 'unjudged'; readonly reason: string };

/** Holds messages to those that a document describes for an endpoint. */
export class EndpointBook {
  readonly #messages: readonly DocumentedMessage[];
  readonly #book: SchemaBook;
  readonly #isJson: boolean;

  constructor({ messages }: Pick<MessageEndpoint, 'messages'>, definitions: Definitions) {
    this.#messages = messages;
    this.#book = new SchemaBook(definitions);
    this.#isJson = messages.every(({ contentType }) => isJsonType(contentType));
  }

  judge({ text, kind, payload, truncated }: Message): MessageVerdict {
    if (truncated) return { is: 'unread', reason: 'a message is too long to be judged' };
    const said = text ?? Buffer.from(payload).toString();
    if (said.includes('[redacted:')) return { is: 'unjudged', reason: 'a message holds a secret' };
    const value = parseJson(said);
    if (value === undefined && this.#isJson) {
      const got = kind === 'text' ? 'a text that is not JSON' : 'a binary message that is not JSON';
      return { is: 'malformed', got };
    }
    try {
      return this.#verdict(value, said);
    } catch (error) {
      if (error instanceof EndlessSchema) return { is: 'unjudged', reason: error.message };
      throw error;
    }
  }

  /** `json`: undefined where it is none. What is of another content type may be meant as it is written, or as JSON. */
  #verdict(json: unknown, said: string): MessageVerdict {
    const value = json === undefined ? said : json;
    const faults = new Map<DocumentedMessage, string>();
    // Those with a schema say more.
    const ordered = this.#messages.toSorted((a, b) => Number(a.schema === null) - Number(b.schema === null));
    for (const message of ordered) {
      const isOfJson = isJsonType(message.contentType);
      if (isOfJson && json === undefined) continue;
      const judge = message.schema && this.#book.compile(message.schema);
      const meant = isOfJson ? [value] : [value, said];
      const results = meant.map((each) => judge?.(each) ?? null);
      const fitting = results.indexOf(null);
      if (fitting >= 0) return { is: 'documented', message, value: meant[fitting] };
      if (results[0]) faults.set(message, results[0].message);
    }
    const named = [...faults].find(([{ kind }]) => kind !== null && kindIn(value, kind.member, kind.values));
    const open = [...faults].filter(([{ kind }]) => kind === null);
    const [message, fault] = named ?? (open.length === 1 ? open[0] : undefined) ?? [];
    if (message !== undefined && fault !== undefined) return { is: 'misfit', message, fault };
    return { is: 'undocumented', got: this.#nameOf(value) };
  }

  /** What an undocumented message calls itself. */
  #nameOf(value: unknown): string {
    const members = new Set(this.#messages.flatMap(({ kind }) => (kind === null ? [] : [kind.member])));
    for (const member of [...members, 'type', 'event']) {
      const word = memberOf(value, member);
      if (typeof word === 'string') return `a message with ${member} ${JSON.stringify(visible(word, 60))}`;
    }
    if (Array.isArray(value)) return 'a message that is an array';
    if (value === null) return 'a message that is null';
    return typeof value === 'object' ? 'a message of another form' : `a message that is a ${typeof value}`;
  }
}

function kindIn(value: unknown, member: string, values: readonly string[]): boolean {
  const word = memberOf(value, member);
  return typeof word === 'string' && values.includes(word);
}

function memberOf(value: unknown, member: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, member)
    ? Reflect.get(value, member)
    : undefined;
}
