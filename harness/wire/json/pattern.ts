import { TimeLimitReached, withinTimeLimit } from '../../base/time-limit.ts';
import { visible } from '../octets/utf8.ts';

/**
 * A pattern as schemas write it: ECMA-262 with the flag u; many in use are right only without it, and mean the same
 * there.
 *
 * @throws SyntaxError
 */
export function readPattern(pattern: string, flags = 'u'): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    try {
      return new RegExp(pattern, flags.replace('u', ''));
    } catch {
      throw error;
    }
  }
}

/** Steps that take no time to speak of; more are done within a time limit, which has a price of its own. */
const FEW_STEPS = 1_000_000;

/** Knows which pattern is at work, so that one that does not end can be named, and is tried once only. */
export class PatternWatch {
  /** For ajv, in place of `new RegExp`. */
  readonly engine: ((pattern: string, flags: string) => Watched) & { readonly code: string };
  readonly #limitMs: number;
  readonly #refusal: (reason: string) => Error;
  readonly #endless = new Map<string, string>();
  #atWork: { readonly pattern: string; readonly length: number } | null = null;
  #limited = false;

  /** @param refusal of a value for whose pattern there is no end. */
  constructor(limitMs: number, refusal: (reason: string) => Error) {
    this.#limitMs = limitMs;
    this.#refusal = refusal;
    const watch = (pattern: string, flags: string): Watched => {
      const read = readPattern(pattern, flags);
      const stepsOver = backtracking(pattern);
      return {
        test: (text) => this.#test(pattern, text, stepsOver(text.length), () => read.test(text)),
        // What tells patterns apart in generated code.
        toString: () => String(read),
      };
    };
    this.engine = Object.assign(watch, { code: 'watch' });
  }

  /** @throws TimeLimitReached, or the refusal where a pattern is the reason. */
  withinTimeLimit<T>(work: () => T): T {
    this.#limited = true;
    try {
      return withinTimeLimit(this.#limitMs, work);
    } catch (error) {
      if (error instanceof TimeLimitReached && this.#atWork) throw this.#refusal(this.#named(this.#atWork));
      throw error;
    } finally {
      this.#limited = false;
      this.#atWork = null;
    }
  }

  #test(pattern: string, text: string, steps: number, test: () => boolean): boolean {
    const reason = this.#endless.get(pattern);
    if (reason !== undefined) throw this.#refusal(reason);
    if (steps <= FEW_STEPS) return test();
    if (!this.#limited) return this.withinTimeLimit(() => this.#test(pattern, text, steps, test));
    this.#atWork = { pattern, length: text.length };
    const fits = test();
    this.#atWork = null;
    return fits;
  }

  #named({ pattern, length }: { readonly pattern: string; readonly length: number }): string {
    const reason = `its pattern ${visible(pattern, 80)} takes longer than ${this.#limitMs} ms over a text of ${length} characters`;
    this.#endless.set(pattern, reason);
    return reason;
  }
}

interface Watched {
  readonly test: (text: string) => boolean;
  readonly toString: () => string;
}

/** An escape, a class, what repeats a group, what repeats anything else. */
const PARTS = /\\.|\[(?:\\.|[^\]\\])*\]|(\)(?:[*+]|\{\d))|([*+]|\{\d)/gs;

/** How many steps a backtracking engine may take, at the most, by the length of the text; roughly, and never too few. */
function backtracking(pattern: string): (length: number) => number {
  let repeated = 0;
  let repeatedGroups = 0;
  for (const [, group, other] of pattern.matchAll(PARTS)) {
    if (group !== undefined) repeatedGroups += 1;
    if (other !== undefined) repeated += 1;
  }
  return (length) =>
    (length + 1) ** (repeated + 1) * (repeatedGroups === 0 ? 1 : 2 ** Math.min(length, 1_000));
}
