import type { ResolvedGround } from '../../contract/outcome.ts';
import { plainLine } from './plain.ts';

const STANDINGS: Readonly<Record<string, string>> = {
  'not-shown': 'not shown',
  config: 'filled in by the service config',
};

/** `RFC 9110 §15.5.2 (MUST)`, `clause auth.scheme, stated: search-service.md, Authentication, row 1`. */
export function groundInWords({ kind, ref, standing, place }: ResolvedGround): string {
  if (kind === 'standard') return plainLine(`${ref} (${standing})`, 300);
  if (kind === 'practice') return plainLine(`good practice: ${ref}`, 300);
  const where = place === '' ? '' : `: ${place}`;
  return plainLine(`clause ${ref}, ${STANDINGS[standing] ?? standing}${where}`, 300);
}

/** Where a standard's section can be read; null for all that is no address of the RFC editor. */
export function groundAddress({ kind, place }: ResolvedGround): string | null {
  return kind === 'standard' && place.startsWith('https://www.rfc-editor.org/') ? place : null;
}

/** Observed values and clause values on one line. */
export function valueInWords(value: unknown, longest = 500): string {
  return plainLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'), longest);
}
