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
export interface Counting {
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
  const told = answers.flatMap((answer) => {
    const kind = kindOf(answer);
    return kind === null ? [] : [{ answer, kind }];
  });
  const kinds = Map.groupBy(told, ({ kind }) => kind);
  const [most] = [...kinds.values()].toSorted((a, b) => b.length - a.length);
  const usual = most?.[0]?.kind;
  if (usual === undefined) return null;
  const [first, last] = [
    told.findIndex(({ kind }) => kind === usual),
    told.findLastIndex(({ kind }) => kind === usual),
  ];
  const counts = (at: number) => !returning || (at > first && at < last);
  const odd = told.find(({ kind }, at) => kind !== usual && counts(at))?.kind;
  if (odd === undefined) return null;
  return { usual, odd, answers: (kinds.get(odd) ?? []).map(({ answer }) => answer), of: told.length };
}
