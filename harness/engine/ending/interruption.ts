import { reasonOf } from '../../base/thrown.ts';

/** Reasons to end a run early. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** By a signal, not by the harness. */
  readonly signalled: boolean;
  readonly stop: (reason: string) => void;
  release(): void;
}

export interface InterruptionOptions {
  /** At the first signal: the run winds down. */
  readonly onSignal: (name: string) => void;
  /** At the second signal: writes the reports synchronously and ends the process. */
  readonly atOnce: (reason: string) => never;
}

/** Ctrl-C, `kill`, a closed terminal. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const STRAYS = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * Turns signals and stray errors into one abort, so that the run still writes its reports. Replaces other listeners
 * for stray errors until `release`.
 */
export function interruptible({ onSignal, atOnce }: InterruptionOptions): Interruption {
  const controller = new AbortController();
  let signalled = false;
  const stop = (reason: string) => {
    if (!controller.signal.aborted) controller.abort(reason);
  };
  const onSignalled = (name: NodeJS.Signals) => {
    if (signalled) atOnce(`${name}, the second signal`);
    signalled = true;
    onSignal(name);
    stop(name);
  };
  const onStray = (error: unknown) => {
    stop(`an unexpected error: ${reasonOf(error)}`);
  };

  const before = STRAYS.map((name) => ({ name, listeners: process.rawListeners(name) }));
  for (const { name } of before) process.removeAllListeners(name);
  for (const name of STRAYS) process.on(name, onStray);
  for (const name of SIGNALS) process.on(name, onSignalled);
  return {
    signal: controller.signal,
    get signalled() {
      return signalled;
    },
    stop,
    release() {
      for (const name of SIGNALS) process.off(name, onSignalled);
      for (const name of STRAYS) process.off(name, onStray);
      for (const { name, listeners } of before) {
        for (const listener of listeners) process.on(name, listener as (...args: unknown[]) => void);
      }
    },
  };
}
