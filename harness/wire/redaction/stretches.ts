import type { MarkerPlace } from './marker.ts';

/** From `start` to `end`, exclusive. */
export type TextRange = Pick<MarkerPlace, 'start' | 'end'>;

/** Stretches of a text, those that overlap joined, so that one is found among many in no time. */
export class Stretches {
  readonly #joined: TextRange[] = [];

  constructor(stretches: readonly TextRange[]) {
    for (const { start, end } of stretches.toSorted((a, b) => a.start - b.start)) {
      const last = this.#joined.at(-1);
      if (last && start < last.end) {
        this.#joined[this.#joined.length - 1] = { start: last.start, end: Math.max(last.end, end) };
      } else {
        this.#joined.push({ start, end });
      }
    }
  }

  /** Whether one of them overlaps it. */
  touches({ start, end }: TextRange): boolean {
    return (this.#lastBefore(end)?.end ?? start) > start;
  }

  /** Whether one of them covers all of it. */
  covers({ start, end }: TextRange): boolean {
    return (this.#lastBefore(start + 1)?.end ?? -1) >= end;
  }

  /** The last that starts before a place. */
  #lastBefore(place: number): TextRange | undefined {
    let [low, high] = [0, this.#joined.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#joined[middle]?.start ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    return this.#joined[low - 1];
  }
}
