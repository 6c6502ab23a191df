import { createHash } from 'node:crypto';
import { NO_RESPONSE } from '../../base/finding.ts';
import { isJsonObject } from '../../base/json-text.ts';
import type { Reply } from './reply.ts';

/** In what some of several answers to the same request are unlike the others. */
type Unlike = (replies: readonly Reply[], counting?: Counting) => OddOnes<Reply> | null;

/** Headers that belong to an answer from any instance: none of an instance, of a cache or of the moment. */
const STEADY_FIELDS = [
  'Cache-Control',
  'Content-Security-Policy',
  'Deprecation',
  'ETag',
  'Last-Modified',
  'Link',
  'Referrer-Policy',
  'Strict-Transport-Security',
  'Sunset',
  'Vary',
  'X-Content-Type-Options',
  'X-Frame-Options',
];

/** In ms: clocks that are kept in time differ by less, and no response takes as long. */
const SAME_CLOCK_MS = 90_000;

const served = (replies: readonly Reply[]): readonly Reply[] => replies.filter((reply) => reply.served);

/** How they end: the status, or none. */
const unlikeInStatus: Unlike = (replies, counting) =>
  oddOnesAmong(
    replies,
    (reply) => {
      if (reply.answered || reply.cut) return `status ${reply.status}`;
      return `${NO_RESPONSE} (${reply.exchange.failure?.message ?? 'unknown'})`;
    },
    counting,
  );

const unlikeInMediaType: Unlike = (replies, counting) =>
  oddOnesAmong(
    served(replies),
    ({ response }) => {
      const value = response.field('content-type');
      return value === undefined ? 'no Content-Type' : `Content-Type ${value}`;
    },
    counting,
  );

/** The shape of the content; of content that was not read to its end it is unknown. */
const unlikeInShape: Unlike = (replies, counting) =>
  oddOnesAmong(
    served(replies),
    ({ response }) => (response.unreadJson === null ? JSON.stringify(response.shape) : null),
    counting,
  );

/** The ETag of the very same content: of that which most of them have. */
const unlikeInTag: Unlike = (replies, counting) => {
  const contents = Map.groupBy(
    served(replies).filter(({ response }) => response.entityTag !== null && response.unread === null),
    ({ response }) => createHash('sha256').update(response.content).digest('hex'),
  );
  const [most = []] = [...contents.values()].toSorted((a, b) => b.length - a.length);
  return oddOnesAmong(most, ({ response }) => response.entityTag, counting);
};

/** A header that the others have, or have not. */
const unlikeInFields: Unlike = (replies, counting) => {
  const all = served(replies);
  for (const name of STEADY_FIELDS) {
    const odd = oddOnesAmong(all, ({ response }) => (response.has(name) ? name : `no ${name}`), counting);
    if (odd !== null) return odd;
  }
  return null;
};

/** How far Date is from that of the others; what a cache hands out is as old as it says (RFC 9111 §5.1). */
const unlikeInClock: Unlike = (replies, counting) => {
  const aheadOf = ({ response: { date, receivedAt } }: Reply) => Number(date) - Number(receivedAt);
  const dated = served(replies).filter(({ response }) => response.date !== null && !response.has('age'));
  const sorted = dated.map(aheadOf).toSorted((a, b) => a - b);
  const usualMs = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return oddOnesAmong(
    dated,
    (reply) => {
      const ms = aheadOf(reply) - usualMs;
      if (Math.abs(ms) <= SAME_CLOCK_MS) return 'the time of the others';
      return `a Date ${Math.round(Math.abs(ms) / 60_000)} min ${ms > 0 ? 'ahead of' : 'behind'} the others`;
    },
    counting,
  );
};

/** Members that tell how long a list is. */
const TOTALS: ReadonlySet<string> = new Set(['total', 'count', 'total_count', 'totalCount']);

/** How many entries the content has, and how many it says that there are; null where it is no list. */
function countIn({ response }: Reply): string | null {
  if (response.unreadJson !== null) return null;
  const { value } = response.json;
  if (Array.isArray(value)) return entries(value.length);
  if (!isJsonObject(value)) return null;
  const total = Object.entries(value).find(([name, each]) => TOTALS.has(name) && typeof each === 'number');
  const list = Object.values(value).find((each) => Array.isArray(each));
  const counts = [list && entries(list.length), total && `${total[0]} ${total[1]}`];
  return counts.filter((each) => each !== undefined).join(', ') || null;
}

const entries = (count: number): string => `${count} ${count === 1 ? 'entry' : 'entries'}`;

/** Whether it is a list, or says how many entries there are. */
export const isList = (reply: Reply): boolean => countIn(reply) !== null;

/** Whether some of them have another count than the others. */
export function countsDiffer(replies: readonly Reply[]): boolean {
  return new Set(served(replies).map(countIn)).size > 1;
}

/** How often two contents take turns before they count as two: the one, the other, and both once more. */
const TURNS = 4;

/**
 * Two counts that take turns while the content comes back octet by octet: two instances, each with data of its own. What
 * others add and remove is never the same twice.
 */
export function countsInTurn(replies: readonly Reply[]): OddOnes<Reply> | null {
  const lists = served(replies).filter(isList);
  const contents = lists.map(({ response }) => createHash('sha256').update(response.content).digest('hex'));
  const turns = contents.filter((content, at) => content !== contents[at - 1]).length;
  if (new Set(contents).size !== 2 || turns < TURNS) return null;
  return oddOnesAmong(lists, countIn);
}

/** By the compared property. */
export type Likeness = 'status' | 'media type' | 'shape' | 'tag' | 'fields' | 'clock';

export const UNLIKE: Readonly<Record<Likeness, Unlike>> = {
  status: unlikeInStatus,
  'media type': unlikeInMediaType,
  shape: unlikeInShape,
  tag: unlikeInTag,
  fields: unlikeInFields,
  clock: unlikeInClock,
};

/** What some of several answers to the same request were like, and the others not. */
export interface OddOnes<A> {
  /** What most were like, and what these were like instead. */
  readonly usual: string;
  readonly odd: string;
  readonly answers: readonly A[];
  /** How many answers were held against each other. */
  readonly of: number;
}

/** Which of them count. */
interface Counting {
  /**
   * Only those that came and went: the usual kind before them and behind them. Content may change for good between two
   * answers; an instance that is unlike the others answers now and then.
   */
  readonly returning: boolean;
}

/**
 * The answers that are unlike most, in the order in which they came; null where there are none. `kindOf`: what an answer
 * is like; one of null is left out.
 */
export function oddOnesAmong<A>(
  answers: readonly A[],
  kindOf: (answer: A) => string | null,
  { returning }: Counting = { returning: false },
): OddOnes<A> | null {
  const kept = answers.flatMap((answer) => {
    const kind = kindOf(answer);
    return kind === null ? [] : [{ answer, kind }];
  });
  const kinds = Map.groupBy(kept, ({ kind }) => kind);
  const [most] = [...kinds.values()].toSorted((a, b) => b.length - a.length);
  const usual = most?.[0]?.kind;
  if (usual === undefined) return null;
  const [first, last] = [
    kept.findIndex(({ kind }) => kind === usual),
    kept.findLastIndex(({ kind }) => kind === usual),
  ];
  const counts = (at: number) => !returning || (at > first && at < last);
  const odd = kept.find(({ kind }, at) => kind !== usual && counts(at))?.kind;
  if (odd === undefined) return null;
  return { usual, odd, answers: (kinds.get(odd) ?? []).map(({ answer }) => answer), of: kept.length };
}
