import type { Settings } from 'node:http2';
import type { WebSocket } from 'ws';
import type { FieldLine } from '../../wire/exchange.ts';
import type { Access, CredentialBehavior } from '../credentials.ts';
import type { HttpAnswer } from '../http/answer.ts';
import type { ReceivedRequest } from '../http/message.ts';
import type { Route } from '../http/routes.ts';
import type { Limiter, LimiterAlgorithm, QuotaFields, QuotaPlan } from '../quota/limiter.ts';
import type { GateRules } from '../websocket/gate.ts';
import type { EpochClock } from './clock.ts';
import type { WebhookBehavior } from './webhooks.ts';

/** An address where WebSocket connections are taken. */
export interface SocketEndpoint {
  /** Path with `:name` segments, e.g. `/app/:key`. */
  readonly template: string;
  readonly credential: boolean;
  /** Speaks the endpoint's dialect on an open connection. */
  readonly converse: (
    socket: WebSocket,
    request: ReceivedRequest,
    parameters: Readonly<Record<string, string>>,
  ) => void;
}

/** The routes and WebSocket endpoints of a service; everything else is the kernel's. */
export interface Service {
  readonly name: string;
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketEndpoint[];
}

export type AnswerChange = (answer: HttpAnswer, request: ReceivedRequest, kernel: Kernel) => HttpAnswer;

export type Handling = (request: ReceivedRequest, kernel: Kernel) => Promise<HttpAnswer>;

export interface QuotaBehavior {
  readonly algorithm: LimiterAlgorithm;
  /** Under which key a request of this identity is counted. */
  readonly keyOf: (identity: string, request: ReceivedRequest) => string;
  /** Whether an authorised request takes from the quota. */
  readonly counts: (request: ReceivedRequest) => boolean;
  readonly fields: QuotaFields;
  /** The value of Retry-After on a refusal. */
  readonly retryAfter: (renewsInMs: number, nowMs: number) => string;
}

/** One demand on an opening handshake; null when it is met. */
export interface HandshakeRule {
  readonly name: 'credential' | 'quota' | 'method' | 'host' | 'key' | 'version' | 'origin' | 'further';
  readonly refuses: (request: ReceivedRequest, kernel: Kernel, endpoint: SocketEndpoint) => HttpAnswer | null;
}

export type HandshakeVerdict =
  | { readonly accepted: false; readonly answer: HttpAnswer }
  | {
      readonly accepted: true;
      readonly endpoint: SocketEndpoint;
      readonly parameters: Readonly<Record<string, string>>;
      /** Close at once with this code; null for an ordinary connection. */
      readonly closeCode: number | null;
    };

export interface WebSocketBehavior extends GateRules {
  /** What an opening handshake is held to, in this order. */
  readonly rules: readonly HandshakeRule[];
  readonly judge: (request: ReceivedRequest, kernel: Kernel) => HandshakeVerdict;
  /** Accept an offer of permessage-deflate (RFC 7692), or such an offer alone. */
  readonly compression: boolean | { readonly clientMaxWindowBits: number };
  /** Octets of the largest message that is taken, inflated; a larger one is answered with close code 1009. */
  readonly messageLimit: number;
  /** Demand that text is UTF-8 (RFC 6455 §8.1). */
  readonly utf8Demanded: boolean;
}

/**
 * Everything the reference provider does that a defect or a variant may do otherwise: a record of replaceable
 * parts. A patch is a function from behavior to behavior; `conforming.ts` has the parts that obey the rules.
 */
export interface Behavior {
  /**
   * The first octets of a connection, to the end of a head, before HTTP is read, and the number of segments in which they
   * came; null leaves connections to Node alone.
   */
  readonly intake: ((octets: Buffer, segments: number) => Buffer) | null;
  /** Reads a request as the service understands it. */
  readonly receive: (request: ReceivedRequest) => ReceivedRequest;
  readonly handle: Handling;
  /** Changes an answer before its length is counted and common fields are added. */
  readonly compose: AnswerChange;
  /** Changes the finished answer: what it declares may then differ from what it is. */
  readonly finish: AnswerChange;
  readonly credentials: CredentialBehavior;
  readonly quota: QuotaBehavior;
  readonly websocket: WebSocketBehavior;
  /** Null: spoken where it is asked for, and as it should be. */
  readonly http2: Http2Behavior | null;
  /** How events are sent to receivers; null for not at all. */
  readonly webhooks: WebhookBehavior | null;
}

/** How HTTP/2 is spoken beside HTTP/1.1, or alone. */
export interface Http2Behavior {
  /** HTTP/1.1 is not answered. */
  readonly isAlone?: boolean;
  /** Changes the answer to a request that came over HTTP/2. */
  readonly answersAs?: (answer: HttpAnswer, request: ReceivedRequest) => HttpAnswer;
  /** A stream that the client resets ends the connection. */
  readonly resetEnds?: boolean;
  /** Refuses a stream without processing it (RFC 9113 §8.7); `count`: of the streams so far. */
  readonly refuses?: (count: number) => boolean;
  /** Each connection ends by GOAWAY after this number of streams (RFC 9113 §6.8). */
  readonly endsAfter?: number;
  /** A field is written behind those of the answer to such a request, as it is. */
  readonly appended?: (request: ReceivedRequest) => FieldLine | null;
  readonly settings?: Settings;
}

/** One running instance: a service, who may call it, its quota, and how it behaves. */
export interface Kernel {
  readonly service: Service;
  readonly access: Access;
  readonly plan: QuotaPlan | null;
  /** Null exactly when there is no plan. */
  readonly limiter: Limiter | null;
  /** The origin whose pages may open WebSockets; null when there is no such policy. */
  readonly origin: string | null;
  readonly subprotocols: readonly string[];
  readonly overTls: boolean;
  readonly clock: EpochClock;
  /** Unique per answer. */
  readonly requestId: () => string;
  readonly behavior: Behavior;
  /** Receives faults of the service itself. */
  readonly report: (fault: unknown) => void;
}
