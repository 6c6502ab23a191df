import type { Clause, ClauseValue, Contract } from '../contract/clause.ts';
import type { Credentials } from '../credential/scheme.ts';
import type { Plan, Safety, Timeouts } from './blocks/limits.ts';
import type { TlsConfig } from './blocks/tls.ts';
import type { WebhooksConfig } from './blocks/webhooks.ts';
import type { WebSocketConfig } from './blocks/websocket.ts';
import type { Operation } from './operation/operation.ts';
import type { PactsConfig } from './pact/pacts.ts';
import type { ProviderConfig } from './provider/provider.ts';

export type { Plan, Safety } from './blocks/limits.ts';
export type { WebSocketConfig } from './blocks/websocket.ts';
export type { BadInput, ExpectedResponse, Operation, OperationRequest } from './operation/operation.ts';
export type { ProviderConfig } from './provider/provider.ts';
export type { ReferenceName } from './provider/reference.ts';

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
  readonly timeouts: Timeouts;
  /** Clause keys whose fact this config fills in (`limits.rate` by `plan` …): authority as firm as a stated clause. */
  readonly facts: Readonly<Record<Clause['key'], Fact>>;
}

export interface Fact {
  readonly value: ClauseValue;
  /** Where it stands: `config/services/search.yaml:12:7`. */
  readonly origin: string;
}
