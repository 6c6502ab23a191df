import { visible } from '../octets/visible.ts';

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

/** Knows which pattern is at work, so that one that does not end can be named, and is tried once only. */
export class PatternWatch {
  /** For ajv, in place of `new RegExp`. */
  readonly engine: ((pattern: string, flags: string) => Watched) & { readonly code: string };
  readonly #endless = new Map<string, string>();
  #atWork: { readonly pattern: string; readonly length: number } | null = null;

  /** @param refusal of a value that would be held against a pattern which is known to have no end. */
  constructor(refusal: (reason: string) => Error) {
    const watch = (pattern: string, flags: string): Watched => {
      const read = readPattern(pattern, flags);
      return {
        test: (text) => {
          const reason = this.#endless.get(pattern);
          if (reason !== undefined) throw refusal(reason);
          this.#atWork = { pattern, length: text.length };
          const fits = read.test(text);
          this.#atWork = null;
          return fits;
        },
        // What tells patterns apart in generated code.
        toString: () => String(read),
      };
    };
    this.engine = Object.assign(watch, { code: 'watch' });
  }

  begin(): void {
    this.#atWork = null;
  }

  /** Why the work was not done in its time, where a pattern was the reason. */
  overdue(limitMs: number): string | null {
    if (this.#atWork === null) return null;
    const { pattern, length } = this.#atWork;
    const reason = `its pattern ${visible(pattern, 80)} takes longer than ${limitMs} ms over a text of ${length} characters`;
    this.#endless.set(pattern, reason);
    return reason;
  }
}

interface Watched {
  readonly test: (text: string) => boolean;
  readonly toString: () => string;
}
