/** So many of the latest answers show how long the service takes now. */
const LATEST = 9;
/** So often as long as an answer takes as a rule, what should come at once is waited for. */
const TIMES = 3;
/** And no longer than that, in ms. */
const LONGEST_MS = 30_000;

/** How long the service takes for its answers, from which follows how long to wait for what may not come. */
export class AnswerTimes {
  readonly #longestMs: number;
  #latest: readonly number[] = [];

  /** `responseMs`: how long an answer is waited for at all. */
  constructor(responseMs: number) {
    this.#longestMs = Math.min(responseMs, LONGEST_MS);
  }

  /** An ordinary request was answered after so many ms. */
  answered(afterMs: number): void {
    this.#latest = [...this.#latest, afterMs].slice(-LATEST);
  }

  /** What an answer takes as a rule, in ms; 0 before the first. */
  get usualMs(): number {
    return this.#latest.toSorted((a, b) => a - b)[Math.floor(this.#latest.length / 2)] ?? 0;
  }

  /** How long to wait for something of the service, in ms: what does for a quick one, and more where it takes its time. */
  patienceMs(quickMs: number): number {
    return Math.max(quickMs, Math.min(Math.ceil(TIMES * this.usualMs), this.#longestMs));
  }
}
