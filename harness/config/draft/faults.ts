import { formatPlace, type Place, UsageError, UsageErrors } from '../../base/exit.ts';

/** A part that cannot be built because of another fault, which is reported. */
export class Consequence extends Error {}

/** Gathers faults, so that all are reported at once. */
export class Faults {
  readonly #all: UsageError[] = [];
  readonly #spoilt = new Set<string>();

  get all(): readonly UsageError[] {
    return this.#all;
  }

  add(...faults: readonly UsageError[]): void {
    for (const fault of faults) this.#all.push(...(fault instanceof UsageErrors ? fault.faults : [fault]));
  }

  /** Marks a key whose fault follows from a reported one. */
  spoil(key: string): void {
    this.#spoilt.add(key);
  }

  /** Whether something is wrong with the very value of this key. */
  at(key: string): boolean {
    return this.#spoilt.has(key) || this.#all.some((fault) => fault.key === key);
  }

  /** Whether something is wrong with this key, or within it. */
  concern(key: string): boolean {
    return this.at(key) || this.#all.some((fault) => fault.key?.startsWith(`${key}.`));
  }

  /** Does what may throw a fault, which is noted; undefined when it does. */
  try<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#note(error);
      return undefined;
    }
  }

  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#note(error);
      return undefined;
    }
  }

  /** The same for each entry of a mapping, one after the other; yields those of which nothing was wrong. */
  async each<V, R>(
    map: Readonly<Record<string, V>> | undefined,
    work: (name: string, value: V) => Promise<R>,
  ): Promise<readonly (readonly [name: string, done: R])[]> {
    const all: (readonly [string, R])[] = [];
    for (const [name, value] of Object.entries(map ?? {})) {
      const done = await this.attempt(() => work(name, value));
      if (done !== undefined) all.push([name, done]);
    }
    return all;
  }

  /** The same for what others are built upon: who asks for it when something is wrong with it is not built either. */
  async part<T>(work: () => T | Promise<T>): Promise<() => T> {
    const made = await this.attempt(async () => ({ part: await work() }));
    return () => {
      if (!made) throw new Consequence();
      return made.part;
    };
  }

  /** @throws UsageError with all that is wrong. */
  hold(): void {
    if (this.#all.length > 0) throw this.error();
  }

  error(): UsageError {
    // A file is held to its schema as it is written and as its environments make it.
    const each = new Map(this.#all.toReversed().map((fault) => [whatOf(fault), fault]));
    const sorted = [...each.values()].toSorted(({ place: a }, { place: b }) => byPlace(a, b));
    const [first, ...others] = sorted;
    return first && others.length === 0 ? first : new UsageErrors(sorted);
  }

  #note(error: unknown): void {
    if (error instanceof UsageError) this.add(error);
    else if (!(error instanceof Consequence)) throw error;
  }
}

function whatOf({ place, key = '', problem }: UsageError): string {
  return place ? `${formatPlace(place)} ${key.replace(/^.*\./, '')} ${problem}` : `${key} ${problem}`;
}

function byPlace(a: Place | undefined, b: Place | undefined): number {
  const byFile = (a?.file ?? '').localeCompare(b?.file ?? '');
  return byFile || (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}
