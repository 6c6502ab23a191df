import type { Level, Outcome, ResolvedGround } from '../../contract/outcome.ts';

/**
 * The results model (`results.json`, schema version 1). Every report is rendered from it and from nothing
 * else. Other tools read it: it only grows.
 */
export interface Results {
  readonly schemaVersion: 1;
  readonly run: RunResult;
  readonly services: readonly ServiceResult[];
  readonly totals: Readonly<Record<Outcome, number>>;
}

export interface RunResult {
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly harness: { readonly name: string; readonly version: string; readonly node: string };
  /** The run was cut short; `interruption` says by what. */
  readonly interrupted: boolean;
  readonly interruption: string | null;
  readonly strict: boolean;
  readonly exitCode: number;
  /** Faults of the harness that belong to no check. */
  readonly faults: readonly string[];
}

export interface ServiceResult {
  readonly service: string;
  readonly contract: string;
  readonly environment: string | null;
  readonly provider: {
    readonly kind: string;
    readonly url: string;
    /** What a container ran, by name and content. */
    readonly image?: string;
    /** What it wrote, a file beside the results; absent where nothing was kept. */
    readonly log?: string;
  };
  readonly plan: { readonly requests: number; readonly windowSeconds: number } | null;
  readonly requestsSent: number;
  readonly durationMs: number;
  /** Set when the service could not be exercised to its end (unreachable, crashed worker …). */
  readonly trouble: string | null;
  readonly checks: readonly CheckResult[];
  readonly observations: readonly Observation[];
  /** The pacts that the service is held against; absent where there are none. */
  readonly pacts?: readonly ListedPact[];
  /** What each request was for, in the order sent. */
  readonly ledger: readonly LedgerLine[];
  /** Waits on purpose, in the order begun; absent where there were none. */
  readonly waits?: readonly Wait[];
  /** Evidence id to evidence in its JSON form (`evidence/evidence.ts`). */
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** A consumer's pact and the checks that judge its interactions. */
export interface ListedPact {
  readonly consumer: string;
  /** A path or a URL. */
  readonly source: string;
  readonly interactions: readonly {
    readonly check: string;
    /** What the broker calls it; null for a pact that comes from none. */
    readonly brokerId: string | null;
  }[];
}

export interface CheckResult {
  readonly id: string;
  readonly suite: string;
  readonly title: string;
  readonly level: Level;
  readonly grounds: readonly ResolvedGround[];
  readonly outcome: Outcome;
  /** One line: what was expected and what came; the reason when skipped or blocked; '' on a plain pass. */
  readonly message: string;
  readonly durationMs: number;
  readonly evidence: readonly string[];
  /** A command line that repeats the decisive request, the key as `$ENV_NAME`; null when nothing was sent. */
  readonly reproduce: string | null;
}

export interface Observation {
  /** Stable dotted key, e.g. `limits.first-refused`. */
  readonly key: string;
  readonly value: unknown;
  /** The check that recorded it. */
  readonly check: string;
  /** The accepted value it is held against; null until something is accepted. */
  readonly accepted: unknown;
}

export interface LedgerLine {
  readonly evidence: string;
  readonly purpose: string;
  /** Requests sent for it: 1 for an exchange or a handshake, many for a burst. */
  readonly requests: number;
}

/** A wait on purpose: for a window to end, or to keep to a rate. */
export interface Wait {
  readonly reason: string;
  /** Unix times in ms; it may have been cut short. */
  readonly fromMs: number;
  readonly untilMs: number;
}
