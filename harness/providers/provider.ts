import { InconclusiveError } from '../base/exit.ts';
import type { ProviderConfig } from '../config/service.ts';
import type { Network } from '../wire/socket/options.ts';

/** How a service comes to be there. */
export interface RunningProvider {
  readonly kind: ProviderConfig['kind'];
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** The image that runs, by name and content: `search:1.4 (sha256:…)`. Containers only. */
  readonly image?: string;
  /** Ends what was started; safe to call twice; never throws. */
  stop(): Promise<void>;
  /** What it has written so far, bounded, secrets taken out; '' when nothing. */
  logs?(): string;
  /**
   * How it came to its end of its own, such as `the container exited with code 1; its last lines: …`; null while
   * it runs, and when it was stopped. An end that may be under way is waited for, `patienceMs` long. Never throws.
   */
  ending?(patienceMs: number): Promise<string | null>;
  /** Starts the same once more, when it has been stopped. Rejects as its start does. Containers and commands only. */
  again?(): Promise<RunningProvider>;
  /** Ends what was started at once, for a process on its way out; never throws. */
  abandon?(): void;
}

export interface StartOptions {
  /** How it is asked whether it is ready; without proxy and with the usual authorities when left out. */
  readonly network?: Network;
  /** Marks what is started, so that what a killed run left behind can be told. */
  readonly runId: string;
  /** Aborted, it gives up the start and ends what it has started. */
  readonly signal: AbortSignal;
  /** Told what is going on where it takes a while. */
  readonly say: (text: string) => void;
}

/** A container or command did not start, or was not ready in time. Nothing of it is left. */
export class StartFailure extends InconclusiveError {
  /** What it wrote until then, secrets taken out; '' when nothing. */
  readonly logs: string;

  constructor(reason: string, logs: string) {
    super(reason);
    this.name = 'StartFailure';
    this.logs = logs;
  }
}
