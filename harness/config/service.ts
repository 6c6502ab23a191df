import type { Clause, ClauseValue, Contract } from '../contract/clause.ts';
import type { Credentials } from '../credential/scheme.ts';
import type { WebhooksConfig } from './blocks/webhooks.ts';
import type { WebSocketConfig } from './blocks/websocket.ts';
import type { PactsConfig } from './pact/pacts.ts';
import type { CommandProvider, ContainerProvider } from './provider/started-provider.ts';

export type { WebSocketConfig } from './blocks/websocket.ts';

/** One deployment under test, loaded, validated and overlaid. Durations are milliseconds. */
export interface ServiceConfig {
  readonly service: string;
  readonly environment: string | null;
  readonly contract: Contract;
  readonly provider: ProviderConfig;
  readonly credentials: Credentials;
  readonly plan: Plan | null;
  readonly operations: readonly Operation[];
  /** JSON Schemas that those of the operations refer to, by URI. */
  readonly definitions?: Readonly<Record<string, unknown>>;
  readonly websocket: WebSocketConfig | null;
  /** Where the service may send events, and how one is brought about; absent where it is not known. */
  readonly webhooks?: WebhooksConfig;
  /** Whom to trust beside the usual authorities; absent for nobody. */
  readonly tls?: TlsConfig;
  /** What its consumers expect of it; absent where no pact is known. */
  readonly pacts?: PactsConfig;
  readonly safety: Safety;
  readonly timeouts: { readonly connectMs: number; readonly responseMs: number };
  /** Clause keys whose fact this config fills in (`limits.rate` by `plan` …): authority as firm as a stated clause. */
  readonly facts: Readonly<Record<Clause['key'], Fact>>;
}

export interface TlsConfig {
  /** As the config names it. */
  readonly file: string;
  /** Certificates of authorities, in PEM. */
  readonly ca: string;
}

export interface Fact {
  readonly value: ClauseValue;
  /** Where it stands: `config/services/search.yaml:12:7`. */
  readonly origin: string;
}

export type ReferenceName = 'search' | 'messaging' | 'realtime';

export type ProviderConfig =
  | {
      readonly kind: 'reference';
      readonly name: ReferenceName;
      readonly defects: readonly string[];
      readonly variant: string | null;
    }
  | { readonly kind: 'url'; readonly url: string }
  | ContainerProvider
  | CommandProvider;

/** The quota that the account under test has. */
export interface Plan {
  readonly name: string | null;
  readonly requests: number;
  readonly windowMs: number;
}

/** A documented call beyond the sample, from `operations:` or an OpenAPI document, its values filled in. */
export interface Operation extends OperationRequest {
  readonly id: string;
  readonly method: string;
  /** The path as it is documented, such as `/v1/resources/{id}`; names the operation in messages. */
  readonly template: string;
  /** What is documented for a call that succeeds. */
  readonly response: ExpectedResponse;
  /** Further responses that are documented as success. */
  readonly alternatives: readonly ExpectedResponse[];
  /** Whether a credential is demanded; an `optional` one is sent, and not missed. */
  readonly auth: 'required' | 'optional' | 'none';
  /** Requests that its documentation rules out. */
  readonly badInputs: readonly BadInput[];
  /** Why it cannot be called; null when it can. */
  readonly uncallable: string | null;
}

/** A request, ready to be sent but for the credential. */
export interface OperationRequest {
  /** Path below the base address, with its query. */
  readonly path: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: OperationBody | null;
}

export interface OperationBody {
  readonly mediaType: string;
  readonly text: string;
}

export interface ExpectedResponse {
  readonly status: number;
  /** Lower case, without parameters; `*` stands for any text. Empty when nothing is documented. */
  readonly mediaTypes: readonly string[];
  /** JSON Schema of the body, which may refer to `ServiceConfig.definitions`; null when there is none. */
  readonly schema: unknown;
}

/** A request that must be refused, but for `extra`, of which it is only seen what becomes of it. */
export interface BadInput extends OperationRequest {
  readonly kind: 'wrong-type' | 'missing' | 'out-of-range' | 'surplus' | 'extra';
  /** Completes "GET /v1/resources …": `with the query parameter "limit" = 101 (at most 100)`. */
  readonly what: string;
}

export interface Safety {
  readonly exceedRateLimit: boolean;
  readonly unsafeMethods: boolean;
  /** Send requests of up to 32 KiB, to find how long a target and a field may be. */
  readonly findSizeLimits: boolean;
  /** Ceiling over the whole run of this service. */
  readonly maxRequests: number;
  /** Connections open at the same time, where many are tried on purpose; the default when left out. */
  readonly maxConnections?: number;
  /** Ceiling over the requests of the operations suite; the default when left out. */
  readonly operationRequests?: number;
  /** Send credentials over plain http to a host that is not loopback. */
  readonly plainHttp: boolean;
}
