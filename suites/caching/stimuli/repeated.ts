import { unlessBlocked } from '../../../harness/base/verdict.ts';
import { lookingBack, type Port, type Probe, probe } from '../../../harness/engine/session/probe.ts';
import type { Evidence } from '../../../harness/wire/evidence.ts';
import type * as oddOnes from '../../../harness/wire/exchange/likeness.ts';
import {
  countsDiffer,
  countsInTurn,
  isList,
  type Likeness,
  UNLIKE,
} from '../../../harness/wire/exchange/likeness.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { Exchange, FieldLine } from '../../../harness/wire/exchange.ts';
import { fieldValue } from '../../../harness/wire/fields/grammar/field-grammar.ts';
import { isLimitersRefusal } from '../../../harness/wire/limit/observed/observation.ts';
import { wholeOf } from '../../../harness/wire/limit/observed/observing.ts';
import { latin1Text } from '../../../harness/wire/octets/utf8.ts';
import { sample, samplesInARow } from '../../stimuli/sample.ts';

/** Answers to the same request that show how often one of them is unlike the others. */
const ENOUGH = 20;

export type { Likeness };
export type OddOnes = oddOnes.OddOnes<Reply>;

/** The answers to one request, held against each other. */
export interface Repeated {
  /** Those that are unlike the others; null where all are alike. */
  readonly unlike: Readonly<Record<Likeness, OddOnes | null>>;
  readonly replies: readonly Reply[];
  readonly isList: boolean;
  /** Two counts in turn, among those that followed one another at once; null for none. */
  readonly countsInTurn: OddOnes | null;
}

/**
 * Every answer to the documented request with the service's own key, whatever it was sent for. Where something suggests
 * that what answers behind the address is not all alike, the same request is sent until there are enough of them to tell;
 * where nothing does, nothing is sent.
 */
export const sameRequests: Probe<Repeated> = lookingBack(
  probe('same-requests', { needs: [sample, samplesInARow], cost: ENOUGH, usualCost: 0 }, async (port) => {
    const first = await port.ask(sample);
    const inARow = [first, ...(await port.ask(samplesInARow))];
    const all = port.quota.evidenceSoFar();
    // What a burst met is told of that.
    const ofBursts = new Set(all.flatMap((each) => (each.kind === 'burst' ? wholeOf(each) : [])));
    const evidence = all.filter(({ id }) => !ofBursts.has(id));
    const judged = (replies: readonly Reply[]) => replies.filter((reply) => isJudged(reply, port));
    const known = judged(
      evidence.filter((each) => isSame(each, first.exchange)).map((exchange) => new Reply(exchange)),
    );
    const akin = judged(
      evidence.filter((each) => isAkin(each, first.exchange)).map((exchange) => new Reply(exchange)),
    );
    const isSuspicious =
      countsDiffer(judged(inARow)) ||
      [known, akin].some((some) => Object.values(UNLIKE).some((unlike) => unlike(some) !== null));
    const further: Reply[] = [];
    while (isSuspicious && known.length + further.length < ENOUGH) {
      const reply = await port.http.send({ purpose: 'as documented, once more' }).catch(unlessBlocked);
      if (reply === null) break;
      further.push(reply);
    }
    return {
      ...repeatedOf([...known, ...judged(further)], judged(inARow), port),
      isList: inARow.every((reply) => reply.served && isList(reply)),
      countsInTurn: countsInTurn(judged(further)),
    };
  }),
);

/**
 * No status comes but the usual one. All else may change for good in the course of a run: there, what came and went is
 * told, and what has changed between requests that followed one another at once.
 */
function repeatedOf(
  all: readonly Reply[],
  inARow: readonly Reply[],
  port: Limited,
): Pick<Repeated, 'unlike' | 'replies'> {
  const told = (likeness: Likeness) => {
    const unlike = UNLIKE[likeness];
    if (likeness === 'status') return unlike(withoutUnknownRefusals(all, port));
    if (likeness === 'media type') return unlike(all);
    return unlike(all, { returning: true }) ?? unlike(inARow);
  };
  return {
    replies: all,
    unlike: {
      status: told('status'),
      'media type': told('media type'),
      shape: told('shape'),
      tag: told('tag'),
      fields: told('fields'),
      clock: told('clock'),
    },
  };
}

/** Sent alone: behind another request on its connection, that one may have to do with it. */
function isSame(evidence: Evidence, sample: Exchange): evidence is Exchange {
  if (evidence.kind !== 'exchange' || evidence.credential !== 'right') return false;
  // In HTTP/2 requests share a connection as a rule.
  const isAlone = evidence.connection?.reused !== true || evidence.request.httpVersion === '2';
  return isAlone && wireOf(evidence) === wireOf(sample);
}

/** All that the service gets to see of a request, but for whether its connection is kept. */
function wireOf({ request }: Exchange): string {
  const { method, target, fields, body, httpVersion, piecemeal, spelled, hasBehind } = request;
  const lines = fields.filter(([name]) => name.toLowerCase() !== 'connection');
  const content = latin1Text(body?.bytes ?? new Uint8Array());
  return JSON.stringify([method, target, lines, content, httpVersion, piecemeal, spelled, hasBehind]);
}

/**
 * Left out is what was no answer to the request: a refusal for the rate, a service that sheds load and says for how long
 * (RFC 9110 §15.6.4), and one that found that a key which was obtained is over.
 */
function isJudged({ exchange, status }: Reply, { quota, config }: Limited): boolean {
  if (exchange.failure?.kind === 'not-sent' || isLimitersRefusal(exchange, quota.refusal)) return false;
  if (shedsLoad(exchange)) return false;
  return status !== 401 || config.credentials.obtain === null;
}

type Limited = Pick<Port, 'quota' | 'config'>;

/** In ms: sooner than that no window ends behind a refusal, but by chance. */
const SOON_MS = 50;

/**
 * Without what may be the refusals of a limiter that nobody has met yet and that does not say 429: where a plan is
 * stated, what was never followed by a served answer sooner than the plan gives back half a request.
 */
function withoutUnknownRefusals(replies: readonly Reply[], { quota, config }: Limited): readonly Reply[] {
  const { plan } = config;
  if (plan === null || quota.refusal !== null) return replies;
  const soonMs = Math.max(SOON_MS, plan.windowMs / plan.requests / 2);
  const noRefusals = new Set<number | null>();
  for (const [at, { served, status, exchange }] of replies.entries()) {
    const next = replies[at + 1];
    const { startedMs, durationMs } = exchange.timing;
    if (!served && next?.served && next.exchange.timing.startedMs < startedMs + durationMs + soonMs)
      noRefusals.add(status);
  }
  return replies.filter(({ served, status }) => served || noRefusals.has(status));
}

function shedsLoad({ response }: Exchange): boolean {
  return response?.status === 503 && fieldValue(response.fields, 'retry-after') !== undefined;
}

/** What an instance out of order answers. */
const OUT_OF_ORDER: ReadonlySet<number> = new Set([401, 404, 500, 502, 503, 504]);

/**
 * A request that differs from the documented one by its headers alone, as far as they should make no difference: what is
 * served has the same media type and no coding.
 */
function isAkin(evidence: Evidence, sample: Exchange): evidence is Exchange {
  if (evidence.kind !== 'exchange' || evidence.credential !== 'right') return false;
  const { request, response } = evidence;
  if (request.method !== sample.request.method || request.target !== sample.request.target) return false;
  const asked = sample.request.fields.filter(([name]) => name.toLowerCase() !== 'connection');
  if (!asked.every((line) => standsIn(line, request.fields))) return false;
  if (response === null || OUT_OF_ORDER.has(response.status)) return true;
  const typeOf = (each: Exchange) => fieldValue(each.response?.fields ?? [], 'content-type');
  const isPlain = fieldValue(response.fields, 'content-encoding') === undefined;
  return response.status === sample.response?.status && isPlain && typeOf(evidence) === typeOf(sample);
}

/** With that value, and with no other. */
function standsIn([name, value]: FieldLine, lines: readonly FieldLine[]): boolean {
  const same = lines.filter(([each]) => each.toLowerCase() === name.toLowerCase());
  return same.length === 1 && same[0]?.[1].trim() === value;
}

/** Answers of the whole record to the same GET that share a strong ETag and a coding: each with the first. */
export function withTheSameTag(
  all: readonly Reply[],
): readonly { readonly first: Reply; readonly again: Reply }[] {
  const firsts = new Map<string, Reply>();
  return all.flatMap((again) => {
    const { request, credential } = again.exchange;
    const { entityTag, contentCodings } = again.response;
    const isPart = fieldValue(request.fields, 'range') !== undefined;
    if (!again.served || isPart || request.method !== 'GET' || !again.sharesStrongTagWith(again)) return [];
    const key = JSON.stringify([request.url, request.fields, credential, contentCodings, entityTag]);
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, again);
    return first === undefined ? [] : [{ first, again }];
  });
}
