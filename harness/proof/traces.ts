import { createHash } from 'node:crypto';
import { isJsonObject } from '../base/json-text.ts';

/** Members of evidence that tell when and in which order it was recorded, not how the service behaves. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set(['id', 'timing', 'atMs', 'forMs', 'before', 'length']);

/** It may be drawn by chance, as keys of handshakes and ids are; a name or a path has no digit, nor `aA`. */
const LONG_WORD = /[\w+/=-]{16,}/g;
const DRAWN = /\d|[a-z][A-Z]/;

/** How many of the members of an entry of a burst tell when it was sent. */
const TIMES_OF_ENTRY = 3;

/**
 * What a service has left in a piece of evidence (in the form in which it is stored), or in what was observed of it: a
 * digest that is the same for the same behaviour, whatever the time, the port and the dice were.
 */
export function traceOf(told: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(settled(told)))
    .digest('base64');
}

function settled(told: unknown): unknown {
  if (typeof told === 'string') {
    return told.replaceAll(LONG_WORD, (word) => (DRAWN.test(word) ? '…' : word)).replaceAll(/\d+/g, '0');
  }
  if (Array.isArray(told)) return told.filter((each) => Object(each).from !== 'client').map(settled);
  if (!isJsonObject(told)) return told;
  return Object.fromEntries(
    Object.entries(told)
      .filter(([name]) => !OF_THE_MOMENT.has(name))
      .map(([name, value]) => [name, name === 'entries' ? answersOf(value) : settled(value)]),
  );
}

/** Each kind of answer of a burst, once: how many there are hangs on what was sent before. */
function answersOf(entries: unknown): readonly string[] {
  const rows = Array.isArray(entries) ? entries : [];
  return [...new Set(rows.map((row) => JSON.stringify(settled(row.slice(TIMES_OF_ENTRY)))))].sort();
}
