/**
 * Exit codes and the errors that lead to them: one class per code, so that a caller never has to guess
 * whether the target, the user's input or the harness itself was at fault.
 */
export const EXIT = {
  /** Every judged check conforms. */
  conforms: 0,
  /** At least one check failed, or a pinned observation drifted. */
  doesNotConform: 1,
  /** The command line or a config file is wrong; nothing was sent. */
  usage: 2,
  /** No verdict: unreachable, a MUST check blocked, nothing ran, interrupted. */
  inconclusive: 3,
  /** A fault of the harness. */
  harness: 70,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Place of a fault in a file; lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** Prints as `file:line:column`, without unknown parts. */
export function formatPlace(place: Place): string {
  return [place.file, place.line, place.column].filter((part) => part !== undefined).join(':');
}

interface UsageErrorDetail {
  readonly place?: Place;
  /** The config key in dotted form, e.g. `plan.window`. */
  readonly key?: string;
  /** How to fix it, as an instruction. */
  readonly remedy?: string;
}

/** The user's input is wrong (exit 2): says what, where, and what would be right. */
export class UsageError extends Error {
  readonly exitCode = EXIT.usage;
  /** The fault alone, without the place, key and remedy of the message. */
  readonly problem: string;
  readonly place: Place | undefined;
  readonly key: string | undefined;
  readonly remedy: string | undefined;

  constructor(problem: string, detail: UsageErrorDetail = {}) {
    const where = detail.place ? `${formatPlace(detail.place)}: ` : '';
    const key = detail.key ? `${detail.key}: ` : '';
    const remedy = detail.remedy ? `\n  remedy: ${detail.remedy}` : '';
    super(`${where}${key}${problem}${remedy}`);
    this.name = 'UsageError';
    this.problem = problem;
    this.place = detail.place;
    this.key = detail.key;
    this.remedy = detail.remedy;
  }
}

/** Several faults, reported together. */
export class UsageErrors extends UsageError {
  readonly faults: readonly UsageError[];

  constructor(faults: readonly UsageError[]) {
    super(`${faults.length} things are wrong\n\n${faults.map(({ message }) => message).join('\n\n')}`);
    this.faults = faults;
  }
}

/** No verdict could be reached (exit 3), and no fault is proven. */
export class InconclusiveError extends Error {
  readonly exitCode = EXIT.inconclusive;
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'InconclusiveError';
  }
}

/** The harness broke its own rules (exit 70). */
export class HarnessError extends Error {
  readonly exitCode = EXIT.harness;
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'HarnessError';
  }
}
