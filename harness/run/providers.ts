import type { RunningProvider } from '../provider/provider.ts';

/** A connection breaks a moment before the process is known to have ended. */
const PATIENCE_MS = 2_000;

/** The providers of a run, by service: what they write, how they end, and that they are stopped in every ending. */
export class Providers {
  readonly #running = new Map<string, RunningProvider>();
  readonly #failed = new Map<string, string>();

  started(service: string, provider: RunningProvider): void {
    this.#running.set(service, provider);
  }

  /** Did not start; `logs` is what it wrote until then. */
  failed(service: string, logs: string): void {
    this.#failed.set(service, logs);
  }

  /** What each has written so far, of those that are known to have written something. */
  logs(): ReadonlyMap<string, string> {
    const running = [...this.#running].map(
      ([service, provider]) => [service, provider.logs?.() ?? ''] as const,
    );
    return new Map([...this.#failed, ...running].filter(([, logs]) => logs !== ''));
  }

  /** How those came to their end that ended of their own; a troubled one may be about to. */
  async endings(troubled: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
    const all = await Promise.all(
      [...this.#running].map(async ([service, provider]) => {
        const ending = await provider.ending?.(troubled.has(service) ? PATIENCE_MS : 0);
        return [service, ending ?? ''] as const;
      }),
    );
    return new Map(all.filter(([, ending]) => ending !== ''));
  }

  /** Ends all of them; what does not end within `ms` is not waited for any more. */
  async stop(ms: number): Promise<void> {
    const patience = new Promise<void>((resolve) => setTimeout(resolve, ms).unref());
    await Promise.race([Promise.all([...this.#running.values()].map((each) => each.stop())), patience]);
  }

  /** Ends what can be ended without waiting, for a process on its way out. */
  abandon(): void {
    for (const provider of this.#running.values()) provider.abandon?.();
  }
}
