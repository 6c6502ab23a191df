import { InconclusiveError } from '../base/exit.ts';
import type { ProviderConfig } from '../config/service.ts';
import type { Network } from '../wire/socket/options.ts';

/** A service that is reachable, and how to end it. */
export interface RunningProvider {
  readonly kind: ProviderConfig['kind'];
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** The image that runs, by name and content: `search:1.4 (sha256:…)`. Containers only. */
  readonly image?: string;
  /** Ends it; safe to call twice; never throws. */
  stop(): Promise<void>;
  /** Its output so far, bounded, without secrets; '' if none. */
  logs?(): string;
  /**
   * How it ended by itself, such as `the container exited with code 1; its last lines: …`; null while it runs, and
   * when it was stopped. Waits up to `patienceMs` for an end that may be under way. Never throws.
   */
  ending?(patienceMs: number): Promise<string | null>;
  /** Starts the same again after `stop`. Rejects as its start does. Containers and commands only. */
  again?(): Promise<RunningProvider>;
  /** Ends it at once, for a harness that is exiting; never throws. */
  abandon?(): void;
}

export interface StartOptions {
  /** Network for readiness requests; default: no proxy, the usual authorities. */
  readonly network?: Network;
  /** Label of everything that is started, to recognise leftovers of a killed run. */
  readonly runId: string;
  /** Aborted, the start is given up and everything it started ends. */
  readonly signal: AbortSignal;
  /** Receives a line of progress for each slow step. */
  readonly say: (text: string) => void;
}

/** A container or command did not start, or was not ready in time. It has been removed. */
export class StartFailure extends InconclusiveError {
  /** Its output until then, without secrets; '' if none. */
  readonly logs: string;

  constructor(reason: string, logs: string) {
    super(reason);
    this.name = 'StartFailure';
    this.logs = logs;
  }
}
