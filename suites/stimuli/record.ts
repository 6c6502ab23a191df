import { Blocked } from '../../harness/base/verdict.ts';
import { overRecord, type Port } from '../../harness/engine/session/probe.ts';
import { asksForNoPage, type Reply } from '../../harness/wire/exchange/reply.ts';
import { fieldValue, fieldValues } from '../../harness/wire/fields/grammar/field-grammar.ts';
import { withoutCredential, wrongCredential } from '../auth/stimuli/credential.ts';
import { rawSample, sample } from './sample.ts';
import { siblingOf, UNKNOWN_TYPE, unknownPath } from './target.ts';

/** Everything that the run has recorded, for rules that hold whatever was asked. A rule says by `where` which of it is meant. */

/** Every request that got a response. */
export const everyExchange = overRecord<Reply>(
  'every-exchange',
  [sample, withoutCredential, unknownPath],
  ({ recorded }) => recorded.exchanges.filter(({ status }) => status !== null),
);

/** An answer that lists methods, and one that the service's own key was served by at the same address. */
export interface AllowBeside {
  readonly allowing: Reply;
  readonly method: string;
}

/** RFC 9110 §9.1: HEAD goes with GET, and OPTIONS asks for the list itself. */
const OF_ITSELF: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS', 'TRACE']);

/** Each list of methods, beside each method that was served at the same address before or after it. */
export function allowBesideServed(all: readonly Reply[]): readonly AllowBeside[] {
  const own = all.filter(({ exchange }) => exchange.credential === 'right');
  const placeOf = ({ exchange }: Reply) => exchange.request.url.replace(/[?#].*/s, '');
  const methods = Map.groupBy(own.filter(isOfUse), placeOf);
  return own.flatMap((allowing) => {
    if (allowing.response.allow.length === 0) return [];
    const ofPlace = (methods.get(placeOf(allowing)) ?? []).map(({ exchange }) => exchange.request.method);
    return [...new Set(ofPlace)].map((method) => ({ allowing, method }));
  });
}

/** It was served, and shows that the method is: what the run knows not to be offered it sends with an unknown type. */
function isOfUse({ served, isOrdinary, exchange: { request } }: Reply): boolean {
  const isKnown = fieldValue(request.fields, 'content-type') !== UNKNOWN_TYPE;
  return served && isOrdinary && isKnown && !OF_ITSELF.has(request.method);
}

/** Every response that was read octet by octet, and what came in place of one. */
export const everyMessage = overRecord<Reply>('every-message', [rawSample], ({ recorded }) =>
  recorded.exchanges.filter(({ isFramingSeen }) => isFramingSeen),
);

/** Every response with content that calls itself JSON, whole: the range of a JSON text that was asked for is none. */
export const everyJson = overRecord<Reply>(
  'every-json',
  [sample, withoutCredential, unknownPath],
  ({ recorded }) => recorded.exchanges.filter(isWholeJson),
);

function isWholeJson(reply: Reply): boolean {
  const isRange = reply.status === 206 && fieldValues(reply.exchange.request.fields, 'range').length > 0;
  if (reply.status === null || isRange) return false;
  return reply.response.isJson && reply.response.bodyLength > 0;
}

/** Every error that the service explains itself: once a request has got through to it that it must be able to read. */
export const everyError = overRecord<Reply>(
  'every-error',
  [withoutCredential, wrongCredential, unknownPath],
  ({ recorded, documented }) => recorded.exchanges.filter((reply) => isExplained(reply, documented)),
);

/** Every other error with content: as a rule the HTTP server before the service explains it, or a gateway. */
export const everyServerError = overRecord<Reply>(
  'every-server-error',
  [unknownPath],
  ({ recorded, documented }) =>
    recorded.exchanges.filter(
      (reply) =>
        isError(reply) &&
        !isExplained(reply, documented) &&
        reply.response.bodyLength > 0 &&
        asksForNoPage(reply.exchange.request),
    ),
);

/**
 * Every refusal of a missing or wrong credential, and whatever the plainest two of them get: others that are refused with 400
 * may have been refused by an HTTP server that knows no credentials.
 */
export const everyRefusal = overRecord<Reply>(
  'every-refusal',
  [withoutCredential, wrongCredential],
  async ({ ask, recorded }) => {
    const plainest = [await ask(withoutCredential), await ask(wrongCredential)];
    const isPlainest = (reply: Reply) => plainest.some(({ evidence }) => evidence === reply.evidence);
    const refused = recorded.exchanges.filter(
      (reply) =>
        !reply.served &&
        (isPlainest(reply) ||
          (isForTheCredential(reply) && [401, 403].includes(reply.status ?? 0) && isExplainable(reply))),
    );
    if (refused.length === 0)
      throw new Blocked('no refusal to judge: a missing and a wrong credential are served');
    return refused;
  },
);

/** A refusal of the credential that was sent, or of none. */
export function isForTheCredential({ status, exchange: { credential, request } }: Reply): boolean {
  if (fieldValues(request.fields, 'authorization').length > 1) return true;
  return status === 401 || credential === 'wrong' || (credential === 'none' && status === 403);
}

/** Methods whose answers a service writes by itself, with content. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']);
/**
 * RFC 9110 §15.6: gateways say so of what is behind them. RFC 6585 §4: a limiter may stand before the service.
 * §15.5.17: what serves ranges cuts them out of finished responses.
 */
const OF_OTHERS: ReadonlySet<number> = new Set([416, 429, 502, 503, 504]);

/** The limit has rules of its own. */
function isError({ status }: Reply): boolean {
  return status !== null && status >= 400 && status !== 429;
}

/** The service can say what is wrong with it. */
function isExplainable(reply: Reply): boolean {
  const { request } = reply.exchange;
  return METHODS.has(request.method) && reply.isOrdinary && asksForNoPage(request);
}

/** At a path of the API, by a method that an API may have. */
function isExplained(reply: Reply, { path }: Port['documented']): boolean {
  if (!isError(reply) || OF_OTHERS.has(reply.status ?? 0) || !isExplainable(reply)) return false;
  const parent = siblingOf(path).slice(0, siblingOf(path).lastIndexOf('/') + 1);
  return new URL(reply.exchange.request.url).pathname.includes(parent);
}
