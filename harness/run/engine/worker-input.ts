/** What a worker is given, by structured clone over its private channel; never written anywhere. */
export interface WorkerInput {
  readonly service: string;
  /** `packService(config)`: validated, secrets in memory. */
  readonly config: unknown;
  readonly providerUrl: string;
  readonly runId: string;
  /** `conform/1.2.3`. */
  readonly userAgent: string;
  readonly journalPath: string;
  /** URL of the module whose `suites` are run. */
  readonly suitesUrl: string;
  /** Ids of the checks to judge. */
  readonly selected: readonly string[];
  readonly strict: boolean;
  /** The longest active time of one check, in ms; null for the usual one. */
  readonly checkLimitMs: number | null;
}

declare module 'vitest' {
  interface ProvidedContext {
    conform: WorkerInput;
  }
}
