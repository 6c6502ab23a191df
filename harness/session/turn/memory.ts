import { HarnessError } from '../../exit.ts';

/** What a probe yielded, or threw, with the ids of the evidence it rests on. */
export type Remembered<E> =
  | { readonly evidence: readonly string[]; readonly value: E }
  | { readonly evidence: readonly string[]; readonly failed: unknown };

/** A named stimulus and what it yields. */
export interface Named {
  readonly name: string;
}

/**
 * Each probe is sent once per session; every check that asks shares its evidence. A probe is known by its name,
 * so two different ones of the same name would silently answer for each other: refused.
 */
export class ProbeMemory<P extends Named> {
  readonly #answers = new Map<string, { readonly probe: P; readonly answer: Promise<unknown> }>();

  recall<A>(probe: P, send: () => Promise<A>): Promise<A> {
    const known = this.#answers.get(probe.name);
    if (known !== undefined) {
      if (known.probe !== probe) throw new HarnessError(`two probes are called ${probe.name}`);
      // Stored by the same probe, whose answers all have one type.
      return known.answer as Promise<A>;
    }
    const answer = send();
    this.#answers.set(probe.name, { probe, answer });
    return answer;
  }
}
