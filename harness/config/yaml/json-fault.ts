import { readJsonText } from '../../wire/json/text.ts';

/** Why a text is no JSON; line and column count from 1. */
export interface JsonFault {
  readonly problem: string;
  readonly line?: number;
  readonly column?: number;
}

/** null when it is JSON. Quotes nothing of it: a file with a key may have been named by mistake. */
export function jsonFault(text: string): JsonFault | null {
  const octets = Buffer.from(text);
  const { faults, limit } = readJsonText(octets);
  const [fault] = faults;
  if (fault) return { problem: 'is not JSON', ...placeOf(octets, fault.offset) };
  return limit === null ? null : { problem: `cannot be read: ${limit}` };
}

function placeOf(octets: Buffer, offset: number): { readonly line: number; readonly column: number } {
  const lines = octets.toString('utf8', 0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
