import type { Sample } from '../../../base/clause.ts';
import { type CredentialChoice, credentialUse } from '../../../config/credential/placing.ts';
import type { FieldLine } from '../../../wire/exchange.ts';
import type { RequestForm } from '../../../wire/http/request.ts';
import type { HttpRequest } from '../../../wire/request.ts';

/** A request as a probe wants it: the documented sample, but for what is named here. */
export interface Stimulus {
  /** Completes "GET /v1/resources …": `without a credential`. */
  readonly purpose: string;
  readonly method?: string;
  readonly target?: (sample: Sample) => string;
  /** Take the place of the sample's fields of the same name. */
  readonly fields?: readonly FieldLine[];
  /** Names of fields that are left out, lower-case. */
  readonly without?: readonly string[];
  /** Leaves out all fields of the sample, and its content. */
  readonly withoutSampleFields?: boolean;
  /** That of the sample when left out, where the method is the sample's. */
  readonly content?: string | Uint8Array;
  /** `right` when left out. */
  readonly credential?: CredentialChoice;
  /** On the connection of the request before, where that is kept; each request has one of its own when left out. */
  readonly onKept?: boolean;
  /** Over a raw socket, so that the message framing can be judged and nothing is added; in an unusual form if given. */
  readonly raw?: boolean | RequestForm;
  /**
   * Over a raw socket, which is listened to behind its first response: for so many, and then for the end of the
   * connection. That nothing comes may be in order.
   */
  readonly responses?: number;
}

/** Whether it is the documented sample, as it is documented. */
export function isSample({ purpose: _, ...otherwise }: Stimulus): boolean {
  return Object.keys(otherwise).length === 0;
}

/** What may change something; a method that is not registered can have no effect. */
const CHANGING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** What is known beforehand of a request that differs from the sample in this. */
export function declaredBy({ method = 'GET', credential = 'right', responses = 1 }: Stimulus) {
  const use = credentialUse(credential);
  const changes = CHANGING.has(method) && use === 'right';
  return { cost: responses, credential: use, risks: changes ? (['change'] as const) : [] };
}

/** The request of a stimulus before its credential is placed. */
export function requestOf(stimulus: Stimulus, sample: Sample): HttpRequest {
  const replaced = new Set((stimulus.fields ?? []).map(([name]) => name.toLowerCase()));
  const dropped = new Set(stimulus.without ?? []);
  const kept = Object.entries(stimulus.withoutSampleFields ? {} : sample.fields).filter(([name]) => {
    const key = name.toLowerCase();
    return key !== 'authorization' && !replaced.has(key) && !dropped.has(key);
  });
  const { method = sample.method } = stimulus;
  const isOwn = stimulus.withoutSampleFields || method !== sample.method;
  const content = stimulus.content ?? (isOwn ? null : sample.body);
  return {
    method,
    target: stimulus.target ? stimulus.target(sample) : sample.path,
    fields: [...kept, ...(stimulus.fields ?? [])],
    body: content === null ? null : Buffer.from(content),
    withoutUserAgent: dropped.has('user-agent'),
  };
}
