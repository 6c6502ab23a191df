import type { SecretProfile } from '../../config/credential/stand-in.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import type { Conversation } from '../../wire/conversation.ts';
import type { Burst, BurstEntry, Evidence } from '../../wire/evidence.ts';
import type { Exchange, RecordedRequest } from '../../wire/exchange.ts';
import { wholeOf } from '../../wire/limit/observed/observing.ts';

/** A piece of evidence and its purpose. */
export interface Recorded<E extends Evidence = Evidence> {
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

type Kinds = { readonly exchange: RecordedExchange; readonly conversation: Conversation };

interface Wanted<K extends keyof Kinds> {
  readonly kind: K;
  readonly probe: string | null;
  readonly purpose: string;
  /** `isNamed`: it was recorded for that purpose. */
  readonly isSame: (recorded: Kinds[K], isNamed: boolean) => boolean;
}

interface Held<K extends keyof Kinds = keyof Kinds> {
  readonly probe: string | null;
  readonly requests: number;
  readonly purpose: string | null;
  readonly piece: Kinds[K];
}

/** The evidence of a record; each piece answers once. */
export class Shelf {
  #left: readonly Held[];
  #bursts: readonly Recorded<Burst>[];

  constructor(evidence: readonly Recorded[]) {
    this.#bursts = evidence.filter((each): each is Recorded<Burst> => each.evidence.kind === 'burst');
    const single = evidence.flatMap(held).toSorted(({ piece: a }, { piece: b }) => numberOf(a) - numberOf(b));
    const whole = new Set(this.#bursts.flatMap((burst) => wholeOf(burst.evidence)));
    this.#left = [
      ...this.#bursts.flatMap((burst) => entriesOf(burst, single)),
      ...single.filter(({ piece }) => !whole.has(piece.id)),
    ].toSorted(({ piece: a }, { piece: b }) => a.timing.startedMs - b.timing.startedMs);
  }

  /** Without parts of bursts. */
  get unused(): number {
    return this.#left.filter(({ piece }) => piece.kind !== 'exchange' || piece.request !== null).length;
  }

  /** The first match by probe, else by purpose, else by request alone. */
  take<K extends keyof Kinds>({ kind, probe, purpose, isSame }: Wanted<K>): Kinds[K] | null {
    const ofKind = this.#left.filter((each): each is Held<K> => each.piece.kind === kind);
    const named = ofKind.filter((each) => each.purpose === purpose);
    const found =
      named.find((each) => each.probe === probe && isSame(each.piece, true)) ??
      named.find((each) => isSame(each.piece, true)) ??
      ofKind.find((each) => each.purpose === null && isSame(each.piece, false));
    if (found === undefined) return null;
    this.#left = this.#left.filter((each) => each !== found);
    return found.piece;
  }

  takeAll(
    probe: string,
    isMeant: (exchange: Exchange) => boolean = () => true,
  ): readonly Recorded<Exchange>[] {
    const found = this.#left.flatMap((each): readonly Recorded<Exchange>[] => {
      const { piece, ...about } = each;
      if (each.probe !== probe || piece.kind !== 'exchange' || piece.request === null) return [];
      const evidence = { ...piece, request: piece.request };
      return isMeant(evidence) ? [{ ...about, evidence }] : [];
    });
    const ids = new Set(found.map(({ evidence }) => evidence.id));
    this.#left = this.#left.filter(({ piece }) => !ids.has(piece.id));
    return found;
  }

  takeBurst(probe: string | null, purpose: string): Burst | null {
    const named = this.#bursts.filter((each) => each.purpose === purpose);
    const found = named.find((each) => each.probe === probe) ?? named[0];
    this.#bursts = this.#bursts.filter((each) => each !== found);
    return found?.evidence ?? null;
  }
}

function held({ evidence, ...about }: Recorded): readonly Held[] {
  return evidence.kind === 'burst' ? [] : [{ ...about, piece: evidence }];
}

/** `e12` is the twelfth. */
function numberOf({ id }: { readonly id: string }): number {
  return Number(id.replace(/^\D+/, '')) || 0;
}

/**
 * The requests of a burst in order. Only exchanges recorded in whole have exact times, so later entries do not begin
 * before them.
 */
function entriesOf({ probe, purpose, evidence }: Recorded<Burst>, single: readonly Held[]): readonly Held[] {
  const ids = wholeOf(evidence);
  const unserved = evidence.entries.filter(({ status }) => status === null || status < 200 || status >= 300);
  const kept = new Map<BurstEntry | undefined, Held>();
  for (const each of single.filter(({ piece }) => ids.includes(piece.id))) {
    const apartMs = ({ sentMs }: BurstEntry) => Math.abs(each.piece.timing.startedMs - sentMs);
    kept.set(unserved.toSorted((a, b) => apartMs(a) - apartMs(b))[0], each);
  }
  let sinceMs = Number.NEGATIVE_INFINITY;
  return evidence.entries.map((entry) => {
    const whole = kept.get(entry);
    sinceMs = Math.max(sinceMs, whole?.piece.timing.startedMs ?? entry.sentMs);
    const piece = exchangeOf({ ...entry, sentMs: sinceMs }, evidence);
    return whole ?? { probe, purpose, requests: 0, piece };
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
    response:
      status === null
        ? null
        : {
            status,
            reason: null,
            httpVersion: '1.1',
            fields,
            trailers: [],
            body: { bytes: new Uint8Array(), received: 0, truncated: false },
            informational: [],
            framingFaults: null,
          },
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
