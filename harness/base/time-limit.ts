import { type Context, createContext, Script } from 'node:vm';
import { isJsonObject } from './json-text.ts';

/** Work that does not end by itself soon enough, such as a pattern that backtracks without end. */
export class TimeLimitReached extends Error {
  constructor(limitMs: number) {
    super(`takes longer than ${limitMs} ms`);
    this.name = 'TimeLimitReached';
  }
}

/** Only a script of a context can be ended from outside; it costs about a tenth of a millisecond. */
const SCRIPT = new Script('work()');
let context: Context | undefined;

/**
 * Does synchronous work within a time limit. What is cut short leaves behind whatever it had changed by then.
 *
 * @throws TimeLimitReached, and what the work throws.
 */
export function withinTimeLimit<T>(limitMs: number, work: () => T): T {
  const scope = context ?? createContext();
  context = scope;
  const around: unknown = scope.work;
  scope.work = work;
  try {
    return SCRIPT.runInContext(scope, { timeout: limitMs }) as T;
  } catch (error) {
    if (isJsonObject(error) && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new TimeLimitReached(limitMs);
    throw error;
  } finally {
    scope.work = around;
  }
}
