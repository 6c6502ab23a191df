import { either, type Loaded, mapping, text, whole } from '../shape/kinds.ts';
import type { FaultAt } from '../yaml/origin.ts';
import type { Readiness } from './started-provider.ts';

export const READY = mapping(
  'How to know that it is ready: exactly one of http, log and health. Without it, a provider is ready when it answers any request, and a companion when the health check of its image succeeds, if it has one.',
  { expected: 'a mapping such as { http: /healthz }', nullable: true, def: 'ready', replaces: () => true },
  {
    http: text('Path below the base URL that answers a GET with 2xx.', {
      expected: 'a path such as /healthz',
      read: (path, fault) => {
        if (/^\/[\x21-\x7e]*$/.test(path) && !path.startsWith('//') && !path.includes('#')) return path;
        throw fault('is not a path', 'write a path that begins with one slash, such as /healthz');
      },
    }),
    status: whole('The status that it must answer with, in place of any 2xx.', {
      minimum: 200,
      maximum: 599,
      expected: 'a final status code, 200 to 599',
    }),
    log: text('Text in a line that it writes.'),
    times: whole('How many such lines. Default: 1.', {
      minimum: 1,
      maximum: 1_000,
      expected: 'a whole number, at least 1',
    }),
    health: either<true>(
      'The HEALTHCHECK of its image succeeds. Containers only.',
      { expected: 'true' },
      { const: true },
    ),
  },
);

/** @throws UsageError when not exactly one way is named, or a path is none. */
export function buildReadiness(
  faultAt: FaultAt,
  key: string,
  block: Loaded<typeof READY> | undefined,
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
    return { kind: 'http', path: http, status: status ?? null };
  }
  if (log !== undefined) return { kind: 'log', text: log, times: times ?? 1 };
  return { kind: 'health' };
}
