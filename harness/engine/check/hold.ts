import { type FaultSide, type Got, sharedSide } from '../../base/finding.ts';
import { listed } from '../../base/text.ts';
import { Blocked, NotApplicable, Violation } from '../../base/verdict.ts';
import { ConversationView } from '../../wire/conversation/view.ts';
import { Reply } from '../../wire/exchange/reply.ts';
import type { ResponseView } from '../../wire/exchange/response.ts';
import type { Probe } from '../session/probe.ts';

/** A piece of evidence, as expectations name it. */
export interface Subject {
  /** The stimulus, for messages. */
  readonly to: string;
  readonly evidence: string;
  /** Place of its documentation for a person, if it has one. */
  readonly documentedAt?: string;
  /** What to change if it deviates; null or absent where the check says it. */
  readonly change?: string | null;
}

/** Number of deviations that a finding names; it counts the others. */
const NAMED = 3;

/**
 * Compares each piece with one expectation: `got` completes "expected …, got …", and is null if it conforms. @throws
 * Violation that names the deviating pieces.
 */
export function holdEach<S>(
  pieces: readonly S[],
  wanted: string,
  got: (piece: S) => string | null,
  subjectOf: (piece: S) => Subject,
  judged: (evidence: string, got: string | null) => void,
  faultOf: (piece: S) => FaultSide = () => 'service',
): void {
  const faults = pieces.flatMap((piece) => {
    const text = got(piece);
    judged(subjectOf(piece).evidence, text);
    return text === null ? [] : [{ text, subject: subjectOf(piece), side: faultOf(piece) }];
  });
  const [first] = faults;
  if (first === undefined) return;
  const spelledOut = faults.slice(0, NAMED);
  const named = Map.groupBy(spelledOut, ({ text }) => text);
  const places = new Set(spelledOut.flatMap(({ subject }) => subject.documentedAt ?? []));
  const more = faults.length - NAMED;
  const changes = new Set(faults.flatMap(({ subject }) => subject.change ?? []));
  const came = [...named].map(
    ([text, alike]): Got => ({
      text,
      stimuli: alike.map(({ subject: { to, evidence } }) => ({ to, evidence })),
    }),
  );
  const deviation = { expected: wanted, got: came, ...(more > 0 && { more }) };
  throw new Violation(deviation, first.subject.evidence, {
    places: [...places],
    change: changeOf([...changes]),
    got: [...new Set(faults.map(({ text }) => text))],
    fault: sharedSide(faults.map(({ side }) => side)),
  });
}

/** The first change, and how many others there are; null for none. */
function changeOf([first, ...others]: readonly string[]): string | null {
  if (first === undefined || others.length === 0) return first ?? null;
  return `${first} ${others.length === 1 ? 'One more constraint needs' : `${others.length} more constraints need`} the same.`;
}

/** `401, 403 or 404` */
export function orList(items: readonly (string | number)[]): string {
  return listed(items, 'or');
}

/** Evidence that may be incomplete: the pieces are judged, then the shortfall is reported. */
export interface Gathered<S> {
  readonly all: readonly S[];
  readonly shortfall: Shortfall | null;
}

interface Shortfall {
  /** The ending of a check if all pieces conform. */
  readonly end: 'note' | 'blocked' | 'not-applicable';
  readonly reason: string;
}

/** Evidence, or a probe that yields it. */
export type EvidenceSource = Yield | Probe<Yield>;
type Yield = Subject | readonly Subject[] | Gathered<Subject>;
export type PieceOf<A> =
  A extends Probe<infer E> ? PieceOf<E> : A extends readonly (infer S)[] | Gathered<infer S> ? S : A;

function distinct(pieces: readonly Subject[]): readonly Subject[] {
  const seen = new Set<string>();
  return pieces.filter((piece) => {
    if (!(piece instanceof Reply || piece instanceof ConversationView)) return true;
    const isNew = !seen.has(piece.evidence);
    seen.add(piece.evidence);
    return isNew;
  });
}

/**
 * All pieces in order. Of several probes, the available ones are judged. @throws NotApplicable if none applies,
 * Blocked if none is available.
 */
export async function gather<S extends Subject>(
  asked: readonly EvidenceSource[],
  ask: <E>(probe: Probe<E>) => Promise<E>,
): Promise<Gathered<S>> {
  const pieces: Subject[] = [];
  const unjudged: (Blocked | NotApplicable)[] = [];
  let shortfall: Shortfall | null = null;
  for (const each of asked) {
    try {
      const found = 'send' in each ? await ask(each) : each;
      if ('shortfall' in found) shortfall ??= found.shortfall;
      pieces.push(...('shortfall' in found ? found.all : [found].flat()));
    } catch (thrown) {
      if (!(thrown instanceof Blocked || thrown instanceof NotApplicable)) throw thrown;
      unjudged.push(thrown);
    }
  }
  const blocked = unjudged.find((each) => each instanceof Blocked);
  if (unjudged.length > 0 && unjudged.length === asked.length) throw blocked ?? unjudged[0];
  if (blocked !== undefined) shortfall = { end: 'blocked', reason: blocked.message };
  // The types of the probes say so.
  return { all: distinct(pieces) as readonly Subject[] as readonly S[], shortfall };
}

/** The part of a response that a judgment needs. */
export interface ResponseReading<S = unknown> {
  /** Why it cannot be judged, one line that begins with `it` or `its`; null if it can. */
  readonly unread: (response: ResponseView, piece: S) => string | null;
  /** The part that was read is judged all the same. */
  readonly partly: boolean;
}

/** The octets of the content, to their end. */
export const IN_CONTENT: ResponseReading = { unread: ({ unread }) => unread, partly: false };
export const IN_JSON: ResponseReading = { unread: ({ unreadJson }) => unreadJson, partly: false };
/** Something that must be nowhere in a response. */
export const THROUGHOUT: ResponseReading = { unread: ({ unread }) => unread, partly: true };
/** The same, in fields or in a JSON value. */
export const THROUGHOUT_JSON: ResponseReading = { unread: ({ unreadJson }) => unreadJson, partly: true };
/** The same, in bodies that are searched only up to a limit. */
export const SEARCHED: ResponseReading = { unread: ({ unsearched }) => unsearched, partly: true };
/** The message as it was framed, whatever its content. */
export const FRAMED: ResponseReading = {
  unread: ({ body, unread }) => (body.truncated ? unread : null),
  partly: true,
};
/** The content as it was encoded. */
export const ENCODED: ResponseReading = {
  unread: ({ body, unread, codingLimit }) => (body.truncated ? unread : codingLimit),
  partly: true,
};
/** The octets of the body with all content codings. */
export const AS_SENT: ResponseReading = { unread: ({ unknownOctets }) => unknownOctets, partly: false };
