/** What one cause explains, and what naming it costs: above 1, so that fewer are always cheaper than more that fit. */
export interface Candidate {
  /** Numbers of what it explains. */
  readonly explains: ReadonlySet<number>;
  readonly cost: number;
}

/** Steps of the search; beyond it the cheapest that was found stands. */
const STEPS = 2_000;

/** The cheapest weighted set cover, in the order of the list: exact within `STEPS`, else greedy. */
export function cheapestCover<C extends Candidate>(candidates: readonly C[]): readonly C[] {
  const useful = candidates.filter(
    (each, at) => !candidates.some((other, place) => place !== at && replaces(other, each, place < at)),
  );
  const all = distinct(useful);
  let best = greedy(useful, all);
  let least = costOf(best);
  let steps = STEPS;

  const search = (left: ReadonlySet<number>, chosen: readonly C[], cost: number): void => {
    if (steps === 0) return;
    steps -= 1;
    const { bound, hardest } = outlook(useful, left);
    if (cost + bound >= least - 1e-9) return;
    if (hardest === null) {
      best = chosen;
      least = cost;
      return;
    }
    for (const each of hardest) search(left.difference(each.explains), [...chosen, each], cost + each.cost);
  };
  search(all, [], 0);
  return useful.filter((each) => best.includes(each));
}

/** What there is to explain; of items that the same candidates explain one stands for all. */
function distinct(candidates: readonly Candidate[]): ReadonlySet<number> {
  const items = new Set(candidates.flatMap(({ explains }) => [...explains]));
  const alike = Map.groupBy(items, (item) =>
    candidates.flatMap(({ explains }, at) => (explains.has(item) ? at : [])).join(),
  );
  return new Set([...alike.values()].flatMap(([first]) => first ?? []));
}

/** Whether one makes the other needless: it explains as much and more, and costs no more. */
function replaces(one: Candidate, other: Candidate, isEarlier: boolean): boolean {
  if (one.cost > other.cost || !other.explains.isSubsetOf(one.explains)) return false;
  return isEarlier || one.cost < other.cost || one.explains.size > other.explains.size;
}

/** What the rest costs at the least, and those that explain the part of it that the fewest explain. */
function outlook<C extends Candidate>(
  candidates: readonly C[],
  left: ReadonlySet<number>,
): { readonly bound: number; readonly hardest: readonly C[] | null } {
  const explaining = [...left]
    .map((item) => candidates.filter(({ explains }) => explains.has(item)))
    .sort((one, other) => one.length - other.length);
  const counted = new Set<C>();
  let bound = 0;
  for (const each of explaining) {
    // None of them has been counted for another item: one more is needed.
    if (each.some((candidate) => counted.has(candidate))) continue;
    for (const candidate of each) counted.add(candidate);
    bound += Math.min(...each.map(({ cost }) => cost));
  }
  return { bound, hardest: explaining[0] ?? null };
}

function greedy<C extends Candidate>(candidates: readonly C[], all: ReadonlySet<number>): readonly C[] {
  const chosen: C[] = [];
  for (let left = all; left.size > 0; ) {
    const value = ({ explains, cost }: C) => left.intersection(explains).size / cost;
    const next = candidates.reduce((best, each) => (value(each) > value(best) ? each : best));
    chosen.push(next);
    left = left.difference(next.explains);
  }
  return chosen;
}

function costOf(chosen: readonly Candidate[]): number {
  return chosen.reduce((sum, { cost }) => sum + cost, 0);
}
