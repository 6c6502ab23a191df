import type { EvidenceId, FieldLine } from '../../evidence/exchange.ts';
import { createRedaction } from '../../evidence/redaction.ts';
import { systemClock } from '../clock.ts';
import type { About, TransportOptions } from '../transport.ts';

/** Options of a transport in a test: short deadlines, no secrets known unless they are added. */
export function setting(baseUrl: string, overrides: Partial<TransportOptions> = {}): TransportOptions {
  return {
    baseUrl,
    timeouts: { connectMs: 2000, responseMs: 2000 },
    redaction: createRedaction(),
    clock: systemClock,
    userAgent: 'conform/0.0.0',
    runId: 'run-for-tests',
    ...overrides,
  };
}

let count = 0;

export function about(overrides: Partial<About> = {}): About {
  count += 1;
  return { id: evidenceId(`e${count}`), purpose: 'test', credential: 'none', ...overrides };
}

function evidenceId(id: string): EvidenceId {
  return id as EvidenceId;
}

/** The values of a field, whatever its case. */
export function valuesOf(fields: readonly FieldLine[] | undefined, name: string): string[] {
  return (fields ?? [])
    .filter(([each]) => each.toLowerCase() === name.toLowerCase())
    .map(([, value]) => value);
}
