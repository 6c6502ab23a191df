import { visible } from '../../octets/visible.ts';
import { FieldReader } from '../grammar/field-grammar.ts';

/** What Strict-Transport-Security says (RFC 6797 §6.1). */
export interface TransportSecurity {
  /** How long browsers go by it; null where it is not told, or malformed. */
  readonly maxAgeSeconds: number | null;
  /** What breaks the grammar; null for nothing. */
  readonly fault: string | null;
}

/** Reads the value of one field line; never throws. Directives that nobody knows are in order (§6.1 rule 5). */
export function readTransportSecurity(value: string): TransportSecurity {
  const reader = new FieldReader(value);
  const seen = new Map<string, string>();
  const malformed = (fault: string): TransportSecurity => ({
    maxAgeSeconds: null,
    fault: `${fault} in "${visible(value, 80)}"`,
  });
  while (true) {
    reader.skipSpace();
    const name = reader.token()?.toLowerCase();
    if (name !== undefined) {
      reader.skipSpace();
      const isArgued = reader.takeChar('=');
      reader.skipSpace();
      const argument = isArgued ? reader.word() : '';
      if (argument === null) return malformed(`no value of ${name}`);
      if (seen.has(name)) return malformed(`${name} twice`);
      seen.set(name, argument);
      reader.skipSpace();
    }
    if (reader.done) break;
    if (!reader.takeChar(';')) return malformed(`${reader.rest()} where ; should be`);
  }
  const maxAge = seen.get('max-age');
  if (maxAge === undefined) return malformed('no max-age');
  if (!/^\d+$/.test(maxAge)) return malformed('no number of seconds as max-age');
  return { maxAgeSeconds: Number(maxAge), fault: null };
}
