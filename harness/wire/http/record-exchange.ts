import { decodeContent } from '../exchange/content/content-coding.ts';
import type { ConnectionUse, Exchange, ExchangeFailure, HeardStream } from '../exchange.ts';
import { fieldValues } from '../fields/grammar/field-grammar.ts';
import type { Stopwatch } from '../pace/clock.ts';
import type { ReadResponse } from '../reader/lines.ts';
import type { Redaction } from '../redaction/redaction.ts';
import { type Address, absoluteUrl } from '../socket/address.ts';
import { proxysOwn } from '../socket/dial.ts';
import { redactFailure } from '../socket/failure.ts';
import { type About, responseLimits, type TransportOptions } from '../socket/options.ts';
import { type ReadMessage, recordRequest, recordResponse, type SentRequest } from '../socket/recording.ts';

/** What became of a request. */
export interface Attempted {
  /** null if nothing was sent. */
  readonly read: ReadMessage | null;
  readonly failure: ExchangeFailure | null;
  readonly use: ConnectionUse;
  readonly stopwatch: Stopwatch;
  /** null, or absent, if the response was read as a whole. */
  readonly heard?: HeardStream | null;
}

/** The evidence of an exchange, redacted. */
export function recordExchange(
  sent: SentRequest,
  { read, failure, use, stopwatch, heard }: Attempted,
  about: About,
  address: Address,
  options: TransportOptions,
): Exchange {
  const { redaction } = options;
  const limits = responseLimits(options);
  const trouble = failure ?? proxysOwn(read?.response ?? null, address, options);
  const isKnown = read?.response ? learned(redaction, read.response, about) : true;
  return {
    kind: 'exchange',
    id: about.id,
    purpose: about.purpose,
    credential: about.credential,
    request: recordRequest(redaction, sent, absoluteUrl(address, sent.target), limits),
    response: read
      ? recordResponse(
          redaction,
          read,
          isKnown ? limits : { ...limits, bodyBytes: 0 },
          heard?.left !== undefined,
        )
      : null,
    ...(heard && { stream: heard }),
    failure: trouble && redactFailure(redaction, trouble),
    timing: stopwatch.timing,
    connection: use,
  };
}

/** Tells the redaction the secrets in a response; whether its content may be recorded. */
function learned(
  redaction: Redaction,
  { body, fields }: ReadResponse,
  { secretsIn }: Pick<About, 'secretsIn'>,
): boolean {
  if (!secretsIn) return true;
  const { octets, fault, limit } = decodeContent(body, fieldValues(fields, 'content-encoding'), true);
  const isReadable = fault === null && limit === null;
  const secrets = secretsIn(isReadable ? Buffer.from(octets).toString('utf8') : '', fields);
  for (const secret of secrets ?? []) redaction.add(secret.name, secret.reveal());
  return isReadable && secrets !== null;
}
