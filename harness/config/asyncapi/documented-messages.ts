import type { FieldLine } from '../../wire/exchange.ts';
import type { Definitions } from '../../wire/json/schema.ts';
import type { DocumentRemark } from '../document/source.ts';

/** What an AsyncAPI document says of a service's WebSocket, from the side of its clients. */
export interface DocumentedMessages {
  readonly title: string | null;
  /** `wss://chat.example`: its first server for a WebSocket; null if it names none. */
  readonly server: string | null;
  /** In the order of the document; channels with one address are one endpoint. */
  readonly endpoints: readonly MessageEndpoint[];
  /** Those of channels that have no address here, a channel each. */
  readonly elsewhere: readonly UnservedChannel[];
  /** Schemas of the messages, by the URI with which they are referred to. */
  readonly definitions: Definitions;
  readonly remarks: readonly DocumentRemark[];
  /** Where the handshake carries the key; null where the document leaves it to the config. */
  readonly keyPlace: { readonly in: 'header' | 'query'; readonly name: string } | null;
}

/** An address at which a WebSocket is opened. */
export interface MessageEndpoint {
  /** Path and query below the base URL. */
  readonly target: string;
  /** Header fields that its handshake must have. */
  readonly fields: readonly FieldLine[];
  /** Whatever may come over it. */
  readonly messages: readonly DocumentedMessage[];
  readonly operations: readonly MessageOperation[];
}

/** A channel without an address of this service. */
export interface UnservedChannel extends Omit<MessageEndpoint, 'target' | 'fields'> {
  readonly reason: string;
  /** The document leaves the address open, which the config may say. */
  readonly isOpen: boolean;
}

export interface DocumentedMessage {
  /** Unique in its endpoint. */
  readonly name: string;
  /** Refers to a definition; null where nothing of its form is known. */
  readonly schema: { readonly $ref: string } | null;
  readonly contentType: string;
  /** The member that tells it from other messages, with the values that it may have; null if it has none. */
  readonly kind: MessageKind | null;
  /** Where its correlation id stands in its payload, as the members that lead there; null for nowhere. */
  readonly correlation: readonly string[] | null;
  /** For a person: `asyncapi.yaml:12:5`. */
  readonly place: string;
}

export interface MessageKind {
  readonly member: string;
  readonly values: readonly string[];
}

export interface MessageOperation {
  /** Unique in the document. */
  readonly id: string;
  /** Of the client: `receive` listens. */
  readonly action: 'send' | 'receive';
  /** Names of its messages. */
  readonly messages: readonly string[];
  /** What a client sends: a text for each message that it has one for. */
  readonly texts: readonly MessageText[];
  /** Names of the messages of which one answers; null where no reply is documented. */
  readonly replies: readonly string[] | null;
  /** Why it cannot be exercised; null if nothing stands against it. */
  readonly unfit: string | null;
  readonly place: string;
}

export interface MessageText {
  readonly message: string;
  readonly text: string;
  /** Why it is not sent unless the config allows it; null for one that changes nothing. */
  readonly risk: 'changes' | 'destroys' | null;
  /** The correlation id in it; absent for none. */
  readonly id?: unknown;
  /** Of the same form, but for one fault; null if the schema refuses nothing. */
  readonly unfitText: string | null;
}
