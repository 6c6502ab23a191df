import type { Probe } from '../session.ts';
import type { Subject } from './hold.ts';

/** Evidence some of which could not be had: what there is gets judged, and then it is told what was missing. */
export interface Gathered<S> {
  readonly all: readonly S[];
  readonly shortfall: Shortfall | null;
}

interface Shortfall {
  /** How a check ends over it that what there is conforms to. */
  readonly end: 'note' | 'blocked' | 'not-applicable';
  readonly reason: string;
}

/** Evidence, or a probe that yields it: one piece, several, or as many as could be had. */
export type Asked = Yield | Probe<Yield>;
type Yield = Subject | readonly Subject[] | Gathered<Subject>;
export type PieceOf<A> =
  A extends Probe<infer E> ? PieceOf<E> : A extends readonly (infer S)[] | Gathered<infer S> ? S : A;

/** The pieces of everything that was asked, in its order. */
export async function gather<S extends Subject>(
  asked: readonly Asked[],
  ask: <E>(probe: Probe<E>) => Promise<E>,
): Promise<Gathered<S>> {
  const pieces: Subject[] = [];
  let shortfall: Shortfall | null = null;
  for (const each of asked) {
    const found = 'send' in each ? await ask(each) : each;
    if ('shortfall' in found) shortfall ??= found.shortfall;
    pieces.push(...('shortfall' in found ? found.all : [found].flat()));
  }
  // What a probe yields is what its type says.
  return { all: pieces as readonly Subject[] as readonly S[], shortfall };
}
