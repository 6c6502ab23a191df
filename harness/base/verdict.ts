import { type Deviation, deviationText, type FaultSide, type Mismatch } from './finding.ts';

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
 * The outcome of a check. `skipped`: does not apply to this service. `blocked`: applies, but could not be
 * exercised; never green. `error`: the harness's own fault. `known`: a listed known failure.
 */
export type Outcome = (typeof OUTCOMES)[number];

/**
 * How an observed value may vary from day to day without being a change: `never`; `order`, lists are sets; `shape`, it is
 * a shape whose optional parts may be missing; `upwards`, numbers are a minimum; `downwards`, numbers are a maximum;
 * `count`, numbers are some or none; `text`, texts may differ.
 */
export const VARIATIONS = ['never', 'order', 'shape', 'upwards', 'downwards', 'count', 'text'] as const;
export type Variation = (typeof VARIATIONS)[number];

/** Ends of a judgment that does not simply conform; `check/judge.ts` turns each into its outcome. */

/** The evidence contradicts what the check expects. */
export class Violation extends Error {
  /** Id of the decisive evidence; null if no single one decided. */
  readonly evidence: string | null;
  /** Places of the contradicted clauses; may be empty. */
  readonly places: readonly string[];
  readonly deviation: Deviation;
  readonly fault: FaultSide;
  /** Everything that came instead, each once, also what the deviation only counts; empty if pieces were not compared. */
  readonly got: readonly string[];
  /** What to change; null where the check says it. */
  readonly change: string | null;

  constructor(
    deviation: Deviation,
    evidence: string | null = null,
    {
      places = [],
      got = [],
      fault = 'service',
      change = null,
    }: Partial<Pick<Violation, 'places' | 'got' | 'fault' | 'change'>> = {},
  ) {
    super(deviationText(deviation));
    this.name = 'Violation';
    this.deviation = deviation;
    this.evidence = evidence;
    this.places = places;
    this.got = got;
    this.fault = fault;
    this.change = change;
  }

  /** A violation with one result, whatever the stimulus. */
  static of({ expected, got }: Mismatch, evidence: string | null = null): Violation {
    return new Violation({ expected, got: [{ text: got, stimuli: [] }] }, evidence);
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

/** For an attempt: null if it was blocked. @throws anything else. */
export function unlessBlocked(thrown: unknown): null {
  if (thrown instanceof Blocked) return null;
  throw thrown;
}

/** For an attempt: null if it does not apply. @throws anything else. */
export function unlessInapplicable(thrown: unknown): null {
  if (thrown instanceof NotApplicable) return null;
  throw thrown;
}

/** For an attempt: null if it was blocked or does not apply. @throws anything else. */
export function unlessUnjudged(thrown: unknown): null {
  return thrown instanceof Blocked ? null : unlessInapplicable(thrown);
}
