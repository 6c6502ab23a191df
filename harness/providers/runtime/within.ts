import { InconclusiveError } from '../../base/exit.ts';

/** For one request to a runtime that is there: one that is busy, with the removal of an image for one, takes its time. */
export const REQUEST_MS = 30_000;

/**
 * What the promise yields, unless it takes longer than `ms` or the signal aborts: the client library has no way to
 * break off. What becomes of the promise then is nobody's concern any more.
 *
 * @throws InconclusiveError `WHAT within 3 s`, and when the signal aborts.
 */
export async function within<T>(
  promise: Promise<T>,
  ms: number,
  what: string,
  signal?: AbortSignal,
): Promise<T> {
  promise.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new InconclusiveError(`${what} within ${ms / 1_000} s`)), ms);
        onAbort = () => reject(new InconclusiveError(`its start was given up: ${String(signal?.reason)}`));
        if (signal?.aborted) onAbort();
        else signal?.addEventListener('abort', onAbort, { once: true });
      }),
    ]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal?.removeEventListener('abort', onAbort);
  }
}
