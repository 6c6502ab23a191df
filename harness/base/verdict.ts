export const OUTCOMES = [
  'pass',
  'fail',
  'warning',
  'observed',
  'known',
  'skipped',
  'blocked',
  'error',
] as const;

/**
 * What became of a check. `skipped`: does not apply to this service. `blocked`: applies, but could not be
 * exercised; never green. `error`: the harness's own fault. `known`: a listed known failure.
 */
export type Outcome = (typeof OUTCOMES)[number];

/**
 * How what is observed may differ from day to day without anything having changed: `never`; `order`, lists are sets;
 * `shape`, it is a shape, and what is optional may be missing; `upwards`, numbers are the least that was seen;
 * `downwards`, numbers are the most; `count`, numbers are some or none; `text`, texts are others.
 */
export const VARIATIONS = ['never', 'order', 'shape', 'upwards', 'downwards', 'count', 'text'] as const;
export type Variation = (typeof VARIATIONS)[number];

/**
 * How a judgment ends when it does not simply conform. Thrown by expectations and by the evidence itself;
 * `check/judge.ts` turns each into its outcome.
 */

/** The evidence contradicts what the check expects. */
export class Violation extends Error {
  /** Id of the evidence that decided it; null when no single one did. */
  readonly evidence: string | null;
  /** Where that stands which the evidence contradicts; empty when it stands in no particular place. */
  readonly places: readonly string[];
  /** What came instead, each once, in the words of the message; empty when there are none. */
  readonly got: readonly string[];

  constructor(
    message: string,
    evidence: string | null = null,
    { places = [], got = [] }: Partial<Pick<Violation, 'places' | 'got'>> = {},
  ) {
    super(message);
    this.name = 'Violation';
    this.evidence = evidence;
    this.places = places;
    this.got = got;
  }
}

/** The check applies, but could not be exercised: no verdict. */
export class Blocked extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Blocked';
  }
}

/** It turned out on the evidence that the check does not apply. */
export class NotApplicable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NotApplicable';
  }
}

/** For what was only tried: null where it could not be exercised. @throws anything else. */
export function unlessBlocked(thrown: unknown): null {
  if (thrown instanceof Blocked) return null;
  throw thrown;
}

/** For what there may be nothing to try of: null where there is not. @throws anything else. */
export function unlessInapplicable(thrown: unknown): null {
  if (thrown instanceof NotApplicable) return null;
  throw thrown;
}

/** The same of both. */
export function unlessUnjudged(thrown: unknown): null {
  return thrown instanceof Blocked ? null : unlessInapplicable(thrown);
}
