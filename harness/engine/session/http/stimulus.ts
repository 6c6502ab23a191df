import type { Sample } from '../../../base/clause.ts';
import { type CredentialChoice, credentialUse } from '../../../config/credential/placing.ts';
import type { FieldLine } from '../../../wire/exchange.ts';
import type { RequestForm } from '../../../wire/http/request.ts';
import type { HttpRequest } from '../../../wire/request.ts';
import type { Listening } from '../../../wire/stream/listening.ts';

/** A request for a probe: the documented sample with these changes. */
export interface Stimulus {
  /** Completes "GET /v1/resources …": `without a credential`. */
  readonly purpose: string;
  readonly method?: string;
  readonly target?: (sample: Sample) => string;
  /** They replace fields of the sample with the same name. */
  readonly fields?: readonly FieldLine[];
  /** Names of omitted fields, lower-case. */
  readonly without?: readonly string[];
  /** Omits all fields of the sample, and its content. */
  readonly withoutSampleFields?: boolean;
  /** Default: that of the sample, if the method is the sample's. */
  readonly content?: string | Uint8Array;
  /** Default: `right`. */
  readonly credential?: CredentialChoice;
  /** On the kept connection of the request before; otherwise each request has a connection of its own. */
  readonly onKept?: boolean;
  /** In HTTP/2 the same request goes out right before it on the same connection, and is reset at once. */
  readonly besideReset?: boolean;
  /** In HTTP/2 on a new connection of its own; all others share one. In HTTP/1.1 each has one. */
  readonly onOwn?: boolean;
  /** Over a raw socket, so that the message framing can be judged; in an unusual form if given. */
  readonly raw?: boolean | RequestForm;
  /**
   * Over a raw socket that then waits for this number of responses and for the end of the connection, which may
   * lawfully not come.
   */
  readonly responses?: number;
  /** Over a raw socket, on which a success is listened to: it may have no end. */
  readonly listen?: Listening;
}

/** Whether it is the unchanged sample. */
export function isSample({ purpose: _, ...otherwise }: Stimulus): boolean {
  return Object.keys(otherwise).length === 0;
}

/** Methods with effects; an unregistered method has none. */
const CHANGING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** The declaration of a probe with this request. */
export function declaredBy({ method = 'GET', credential = 'right', responses = 1, ...more }: Stimulus) {
  const use = credentialUse(credential);
  const changes = CHANGING.has(method) && use === 'right';
  const cost = more.besideReset ? 2 : responses;
  return { cost, credential: use, risks: changes ? (['change'] as const) : [] };
}

/** The request without its credential. */
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
    ...(dropped.has('x-conform-run') && { withoutRunId: true }),
  };
}
