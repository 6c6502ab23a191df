import type { Conversation } from '../../conversation.ts';
import type { Evidence } from '../../evidence.ts';
import type { Exchange, RecordedRequest } from '../../exchange.ts';
import { fieldValues } from '../../fields/grammar/field-grammar.ts';
import { readQuota } from '../../quota/quota.ts';
import { type DocumentedLimit, isLimitersRefusal, type RefusalFace, type Span } from './observation.ts';

/**
 * Which kinds of request spend the quota: a service may count a 404, a refused key or a handshake, or may not. Nothing
 * is taken for granted; it shows by the remaining quota that answers tell, and by requests that are served while it is spent.
 */

/** Requests that a service may well count alike: `GET right 404`, `handshake right 101`. */
type SpendingKind = string & { readonly __spendingKind: unique symbol };

type Spending = 'free' | 'counted';

/** What requests of each kind cost, as far as that is known. */
export type Spendings = ReadonlyMap<SpendingKind, Spending>;

interface SpendingReading extends DocumentedLimit {
  /** What the limiter's refusal looks like; null where none was met yet. */
  readonly refusal: RefusalFace | null;
}

/** An answered request in the order of sending. Times in ms on the session's clock. */
interface SpentRequest extends Span {
  readonly kind: SpendingKind;
  /** It asks as documented and is served: this counts, if anything does. */
  readonly isPlain: boolean;
  readonly isRefused: boolean;
  /** What remains of the documented quota behind it; null where it does not tell. */
  readonly remaining: number | null;
  readonly resetMs: number | null;
}

/** null without an answer: it is unknown whether anything was counted. */
export function spendingKind(evidence: Exchange | Conversation): SpendingKind | null {
  const { credential } = evidence;
  if (evidence.kind === 'conversation') return handshakeKind({ credential, ...evidence.handshake });
  const { request, response } = evidence;
  return response && kindOf(request.method, credential, response.status);
}

interface Handshake {
  readonly credential: Conversation['credential'];
  readonly request: Pick<RecordedRequest, 'method' | 'fields' | 'httpVersion'>;
  readonly response: { readonly status: number } | null;
}

export function handshakeKind({ credential, request, response }: Handshake): SpendingKind | null {
  return (
    response && kindOf(asksForUpgrade(request) ? 'handshake' : request.method, credential, response.status)
  );
}

function kindOf(way: string, credential: string, status: number): SpendingKind {
  return `${way} ${credential} ${status}` as SpendingKind;
}

/** RFC 9110 §7.8: what does not ask for it in HTTP/1.1 is a request like others. */
function asksForUpgrade({ fields, httpVersion }: Handshake['request']): boolean {
  const names = (name: string) => fieldValues(fields, name).join().toLowerCase();
  return (
    httpVersion !== '1.0' && /\bupgrade\b/.test(names('connection')) && /\bwebsocket\b/.test(names('upgrade'))
  );
}

/** What the kinds of these requests cost, which are in the order of recording. */
export function spendingsOf(evidence: readonly Evidence[], reading: SpendingReading): Spendings {
  const sent = evidence.flatMap((each) => sentOf(each, reading)).toSorted((a, b) => a.fromMs - b.fromMs);
  const verdicts = new Map<SpendingKind, Spending | 'both'>();
  const tell = (kind: SpendingKind, spending: Spending) => {
    const known = verdicts.get(kind);
    verdicts.set(kind, known === undefined || known === spending ? spending : 'both');
  };
  for (const stretch of stretchesOf(sent)) tellByFall(stretch, reading, { known: verdicts, tell });
  tellWhileSpent(sent, reading, tell);
  return new Map(
    [...verdicts].flatMap(([kind, spending]) => (spending === 'both' ? [] : [[kind, spending]])),
  );
}

/** Whether one of these was counted shows nothing of the others. */
const UNANSWERED = 'unanswered' as SpendingKind;

type Tell = (kind: SpendingKind, spending: Spending) => void;

/** What requests cost is asked for each of them, of all that came before. */
const sentBefore = new WeakMap<
  Evidence,
  { readonly reading: SpendingReading; readonly sent: readonly SpentRequest[] }
>();

function sentOf(each: Evidence, reading: SpendingReading): readonly SpentRequest[] {
  const before = sentBefore.get(each);
  if (before !== undefined && isAlike(before.reading, reading)) return before.sent;
  const sent = sentAnew(each, reading);
  sentBefore.set(each, { reading, sent });
  return sent;
}

function isAlike(one: SpendingReading, other: SpendingReading): boolean {
  return one.requests === other.requests && one.windowMs === other.windowMs && one.refusal === other.refusal;
}

function sentAnew(each: Evidence, reading: SpendingReading): readonly SpentRequest[] {
  // A burst is of plain requests alone, and its answers are known otherwise.
  if (each.kind === 'burst') return [];
  const { timing, failure } = each;
  if (failure?.kind === 'not-sent') return [];
  const { response } = each.kind === 'exchange' ? each : each.handshake;
  const answeredMs = each.kind === 'exchange' ? timing.durationMs : (timing.responseMs ?? timing.durationMs);
  const isRight = each.credential === 'right';
  const receivedAt = new Date(Date.parse(timing.startedAt) + answeredMs);
  const quota = readQuota(response?.fields ?? [], { receivedAt, windowMs: reading.windowMs });
  const { limit, remaining, resetSeconds } = quota;
  const tells = isRight && limit === reading.requests && remaining !== null && remaining <= reading.requests;
  return [
    {
      fromMs: timing.startedMs,
      toMs: timing.startedMs + answeredMs,
      kind: spendingKind(each) ?? UNANSWERED,
      isPlain:
        each.kind === 'exchange' && each.request.method === 'GET' && isRight && response?.status === 200,
      isRefused: isLimitersRefusal({ response, failure: null }, reading.refusal),
      remaining: tells ? remaining : null,
      resetMs: tells && resetSeconds !== null ? resetSeconds * 1000 : null,
    },
  ];
}

/** How many requests one more answer may tell the cost of: those behind the last one with the remaining quota. */
export function openRequests(
  evidence: readonly Evidence[],
  reading: SpendingReading,
  known: Spendings,
): number {
  const sent = evidence.flatMap((each) => sentOf(each, reading)).toSorted((a, b) => a.fromMs - b.fromMs);
  const last = sent.findLastIndex(tells);
  if (last === -1) return 0;
  return sent.slice(last + 1).filter(({ kind, isPlain }) => !isPlain && !known.has(kind)).length;
}

/** What remains of the documented quota by this answer to a request that counts; null where it does not tell. */
export function reportedRemaining(exchange: Exchange, reading: SpendingReading): number | null {
  return sentOf(exchange, reading).find(tells)?.remaining ?? null;
}

function tells({ isPlain, remaining }: SpentRequest): boolean {
  return isPlain && remaining !== null;
}

/** From one answer that tells what remains to the next, both of plain requests, with the requests between them. */
interface SpendingStretch {
  readonly from: SpentRequest;
  readonly to: SpentRequest;
  /** All of it was sent behind the one answer, and answered before the other request. */
  readonly within: readonly SpentRequest[];
  /** Was under way together with either, and counted before or after it. */
  readonly across: readonly SpentRequest[];
}

function stretchesOf(sent: readonly SpentRequest[]): readonly SpendingStretch[] {
  const telling = sent.filter(tells);
  return telling.slice(1).flatMap((to, at) => {
    const from = telling[at];
    if (from === undefined || to.fromMs < from.toMs) return [];
    const between = sent.filter((each) => !tells(each) && each.toMs > from.fromMs && each.fromMs < to.toMs);
    const isWithin = ({ fromMs, toMs }: SpentRequest) => fromMs >= from.toMs && toMs <= to.fromMs;
    return [
      { from, to, within: between.filter(isWithin), across: between.filter((each) => !isWithin(each)) },
    ];
  });
}

/** The most kinds between two answers that are distinguished. */
const MOST_KINDS = 10;

/** Of the time in which one request flows back, where the quota is refilled evenly. */
const MOMENT = 0.1;

/** The costs on which all choices of counted kinds agree that explain the fall of the quota. */
function tellByFall(
  { from, to, within, across }: SpendingStretch,
  { requests, windowMs }: SpendingReading,
  { known, tell }: { readonly known: ReadonlyMap<SpendingKind, Spending | 'both'>; readonly tell: Tell },
): void {
  if (from.remaining === null || to.remaining === null) return;
  const forMs = to.toMs - from.fromMs;
  const fall = from.remaining - to.remaining - 1;
  const kinds = [...new Set([...within, ...across].map(({ kind }) => kind))].map((kind) => {
    const of = (all: readonly SpentRequest[]) => all.filter((each) => each.kind === kind).length;
    return { kind, least: of(within), most: of(within) + of(across) };
  });
  const renewed = forMs >= Math.min(windowMs, from.resetMs ?? windowMs);
  if (kinds.length === 0 || kinds.length > MOST_KINDS || fall < 0 || renewed) return;
  // A bucket is refilled meanwhile, but hardly ever within a moment.
  const slots = (forMs * requests) / windowMs;
  const flowed = slots < MOMENT ? 0 : Math.ceil(slots);
  const choices = Array.from({ length: 2 ** kinds.length }, (_, bits) =>
    kinds.map((_kind, at) => (bits >> at) % 2 === 1),
  );
  const explaining = choices.filter((counted) => {
    const sum = (bound: 'least' | 'most') =>
      kinds.reduce((so, each, at) => so + (counted[at] ? each[bound] : 0), 0);
    return sum('least') <= fall + flowed && sum('most') >= fall;
  });
  const asKnown = explaining.filter((counted) =>
    kinds.every(({ kind }, at) => known.get(kind) !== (counted[at] ? 'free' : 'counted')),
  );
  // A contradiction of all that is known counts as well: then nothing is known.
  const [first, ...others] = asKnown.length > 0 ? asKnown : explaining;
  if (first === undefined) return;
  for (const [at, { kind }] of kinds.entries()) {
    if (others.every((counted) => counted[at] === first[at])) tell(kind, first[at] ? 'counted' : 'free');
  }
}

/** Served between two refusals, more often than the quota can have come back: free. Refused like others: counted. */
function tellWhileSpent(
  sent: readonly SpentRequest[],
  { requests, windowMs }: SpendingReading,
  tell: Tell,
): void {
  let refusal: SpentRequest | null = null;
  let served: SpentRequest[] = [];
  for (const each of sent) {
    if (!each.isRefused) served.push(each);
    else {
      if (refusal !== null && !served.some(({ isPlain }) => isPlain)) {
        const flowed = 1 + ((each.toMs - refusal.fromMs) * requests) / windowMs;
        for (const [kind, all] of Map.groupBy(served, ({ kind }) => kind))
          if (all.length > flowed) tell(kind, 'free');
      }
      [refusal, served] = [each, []];
    }
  }
}
