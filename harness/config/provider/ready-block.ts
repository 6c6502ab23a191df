import type { ReadyBlock } from '../service-file.ts';
import type { FaultAt } from '../yaml/origin.ts';
import type { Readiness } from './started-provider.ts';

/** @throws UsageError when not exactly one way is named, or a path is none. */
export function buildReadiness(
  faultAt: FaultAt,
  key: string,
  block: ReadyBlock | null | undefined,
): Readiness | null {
  if (!block) return null;
  const { http, status, log, times, health } = block;
  const ways = Object.entries({ http, log, health }).filter(([, value]) => value !== undefined);
  if (ways.length !== 1) {
    const named = ways.map(([way]) => way).join(' and ');
    throw named === ''
      ? faultAt(key, 'says neither http nor log nor health', 'add one, such as `http: /healthz`')
      : faultAt(key, `names ${named}`, 'keep one of them');
  }
  if (status !== undefined && http === undefined) {
    throw faultAt(`${key}.status`, 'belongs to http', 'remove it');
  }
  if (times !== undefined && log === undefined) throw faultAt(`${key}.times`, 'belongs to log', 'remove it');
  if (http !== undefined) {
    if (!/^\/[\x21-\x7e]*$/.test(http) || http.startsWith('//') || http.includes('#')) {
      throw faultAt(
        `${key}.http`,
        'is not a path',
        'write a path that begins with one slash, such as /healthz',
      );
    }
    return { kind: 'http', path: http, status: status ?? null };
  }
  if (log !== undefined) return { kind: 'log', text: log, times: times ?? 1 };
  return { kind: 'health' };
}
