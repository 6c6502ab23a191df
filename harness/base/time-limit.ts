import { type Context, createContext, Script } from 'node:vm';
import { isJsonObject } from './json-text.ts';

/** The work took too long, for example a pattern that backtracks without end. */
export class TimeLimitReached extends Error {
  constructor(limitMs: number) {
    super(`takes longer than ${limitMs} ms`);
    this.name = 'TimeLimitReached';
  }
}

/** Only a script in a context can be interrupted; it costs about a tenth of a millisecond. */
const SCRIPT = new Script('work()');
let context: Context | undefined;

/**
 * Does synchronous work within a time limit. Work that is cut short keeps the changes it has made.
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
