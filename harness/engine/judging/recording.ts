import type { FaultSide } from '../../base/finding.ts';
import type { SecretProfile } from '../../config/credential/stand-in.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import type { Conversation } from '../../wire/conversation.ts';
import type { Burst, BurstEntry, Evidence } from '../../wire/evidence.ts';
import { bareResponse, type Exchange, type RecordedRequest } from '../../wire/exchange.ts';
import { wholeOf } from '../../wire/limit/observed/observing.ts';

/** A piece of evidence and its purpose. */
export interface Recorded<E extends Evidence | RecordedExchange = Evidence> {
  /** Its probe; null if unknown. */
  readonly probe: string | null;
  /** null if another client recorded it. */
  readonly purpose: string | null;
  /** Number of requests to the service. */
  readonly requests: number;
  readonly evidence: E;
}

type Event<T extends JournalEvent['type']> = Extract<JournalEvent, { type: T }>;

export interface RecordedService {
  readonly service: string;
  readonly environment: string | null;
  /** null if unknown. */
  readonly providerUrl: string | null;
  readonly image: string | null;
  /** Why the service could not be exercised to the end. */
  readonly outage: string | null;
  /** The side that it is mended on; null if it is not known. */
  readonly outageSide: FaultSide | null;
  readonly evidence: readonly Recorded[];
  readonly unasked: readonly Event<'unasked'>[];
  readonly receivers: readonly Event<'receiver'>[];
  readonly verifications: readonly Event<'verification'>[];
  readonly signatures: readonly Event<'signature'>[];
  /** null if the record does not list secrets. */
  readonly secrets: readonly SecretProfile[] | null;
  /** Whether it records unsolicited octets. */
  readonly tellsUnasked: boolean;
  /** Limits of this kind of record, a sentence each. */
  readonly remarks: readonly string[];
}

export interface RecordedRun {
  readonly run: Event<'run-started'>['run'];
  readonly finishedAt: string;
  /** Why the run was cut short; null if it was not. */
  readonly interruption: string | null;
  readonly services: readonly RecordedService[];
}

/** Of a request in a burst only what a burst records; its `request` is null. */
export type RecordedExchange = Omit<Exchange, 'request'> & { readonly request: RecordedRequest | null };

type RecordedAnswer = RecordedExchange | Conversation;
type RecordedAnswerOf<K extends RecordedAnswer['kind']> = Extract<RecordedAnswer, { readonly kind: K }>;

interface Wanted<K extends RecordedAnswer['kind']> {
  readonly kind: K;
  readonly probe: string | null;
  readonly purpose: string;
  /** `isNamed`: it was recorded for that purpose. */
  readonly isSame: (recorded: RecordedAnswerOf<K>, isNamed: boolean) => boolean;
}

/** The evidence of a record; each piece answers once. */
export class Shelf {
  #left: readonly Recorded<RecordedAnswer>[];
  #bursts: readonly Recorded<Burst>[];

  constructor(evidence: readonly Recorded[]) {
    const isBurst = (each: Recorded): each is Recorded<Burst> => each.evidence.kind === 'burst';
    this.#bursts = evidence.filter(isBurst);
    const single = evidence
      .filter((each): each is Recorded<Exchange | Conversation> => !isBurst(each))
      .toSorted(({ evidence: a }, { evidence: b }) => numberOf(a) - numberOf(b));
    const whole = new Set(this.#bursts.flatMap((burst) => wholeOf(burst.evidence)));
    this.#left = [
      ...this.#bursts.flatMap((burst) => entriesOf(burst, single)),
      ...single.filter((each) => !whole.has(each.evidence.id)),
    ].toSorted(({ evidence: a }, { evidence: b }) => a.timing.startedMs - b.timing.startedMs);
  }

  /** Without parts of bursts. */
  get unused(): number {
    return this.#left.filter(({ evidence }) => evidence.kind !== 'exchange' || evidence.request !== null)
      .length;
  }

  /** The first match by probe, else by purpose, else by request alone. */
  take<K extends RecordedAnswer['kind']>({
    kind,
    probe,
    purpose,
    isSame,
  }: Wanted<K>): RecordedAnswerOf<K> | null {
    const ofKind = this.#left.filter(
      (each): each is Recorded<RecordedAnswerOf<K>> => each.evidence.kind === kind,
    );
    const named = ofKind.filter((each) => each.purpose === purpose);
    const found =
      named.find((each) => each.probe === probe && isSame(each.evidence, true)) ??
      named.find((each) => isSame(each.evidence, true)) ??
      ofKind.find((each) => each.purpose === null && isSame(each.evidence, false));
    if (found === undefined) return null;
    this.#left = this.#left.filter((each) => each !== found);
    return found.evidence;
  }

  takeAll(
    probe: string,
    isMeant: (exchange: Exchange) => boolean = () => true,
  ): readonly Recorded<Exchange>[] {
    const found = this.#left.filter(
      (each): each is Recorded<Exchange> =>
        each.probe === probe && isWhole(each.evidence) && isMeant(each.evidence),
    );
    this.#left = this.#left.filter((each) => !found.some(({ evidence }) => evidence.id === each.evidence.id));
    return found;
  }

  takeBurst(probe: string | null, purpose: string): Burst | null {
    const named = this.#bursts.filter((each) => each.purpose === purpose);
    const found = named.find((each) => each.probe === probe) ?? named[0];
    this.#bursts = this.#bursts.filter((each) => each !== found);
    return found?.evidence ?? null;
  }
}

function isWhole(answer: RecordedAnswer): answer is Exchange {
  return answer.kind === 'exchange' && answer.request !== null;
}

/** `e12` is the twelfth. */
function numberOf({ id }: { readonly id: string }): number {
  return Number(id.replace(/^\D+/, '')) || 0;
}

/**
 * The requests of a burst in order. Only exchanges recorded in whole have exact times, so later entries do not begin
 * before them.
 */
function entriesOf(
  burst: Recorded<Burst>,
  single: readonly Recorded<RecordedAnswer>[],
): readonly Recorded<RecordedAnswer>[] {
  const { entries } = burst.evidence;
  const ids = wholeOf(burst.evidence);
  const unserved = entries.filter(({ status }) => status === null || status < 200 || status >= 300);
  const kept = new Map<BurstEntry | undefined, Recorded<RecordedAnswer>>();
  for (const each of single.filter(({ evidence }) => ids.includes(evidence.id))) {
    const apartMs = ({ sentMs }: BurstEntry) => Math.abs(each.evidence.timing.startedMs - sentMs);
    kept.set(unserved.toSorted((a, b) => apartMs(a) - apartMs(b))[0], each);
  }
  let sinceMs = Number.NEGATIVE_INFINITY;
  return entries.map((entry) => {
    const whole = kept.get(entry);
    sinceMs = Math.max(sinceMs, whole?.evidence.timing.startedMs ?? entry.sentMs);
    return (
      whole ?? { ...burst, requests: 0, evidence: exchangeOf({ ...entry, sentMs: sinceMs }, burst.evidence) }
    );
  });
}

function exchangeOf(
  { sentMs, durationMs, status, fields, failure }: BurstEntry,
  burst: Burst,
): RecordedExchange {
  return {
    kind: 'exchange',
    id: burst.id,
    purpose: burst.purpose,
    credential: burst.credential,
    request: null,
    response: status === null ? null : bareResponse(status, fields),
    failure: failure === null ? null : { kind: 'closed', message: failure },
    timing: {
      startedAt: burst.timing.startedAt,
      startedMs: sentMs,
      connectMs: null,
      responseMs: null,
      durationMs,
    },
  };
}
