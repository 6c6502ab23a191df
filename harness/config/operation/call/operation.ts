import type { Call, OperationRequest } from './call.ts';

/** A documented call beyond the sample, from `operations:` or an OpenAPI document, its values filled in. */
export interface Operation extends OperationRequest {
  readonly id: string;
  readonly method: string;
  /** Where it is documented, for a person: `openapi.yaml:12:5`. */
  readonly place: string;
  /** The path as it is documented, such as `/v1/resources/{id}`; names the operation in messages. */
  readonly template: string;
  /** What is documented for a call that succeeds. */
  readonly response: ExpectedResponse;
  /** Further responses that are documented as success. */
  readonly alternatives: readonly ExpectedResponse[];
  /** Whether a credential is demanded; an `optional` one is sent, and not missed. */
  readonly auth: 'required' | 'optional' | 'none';
  /** The same with its values apart, of which requests are made that its documentation rules out. */
  readonly call: Call;
  /** Why it cannot be called; null when it can. */
  readonly uncallable: string | null;
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
