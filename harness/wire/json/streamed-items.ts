import { parseJson } from '../../base/json-text.ts';

/** An item of a stream: its value, or the fault of its text. */
export type StreamedItem = { readonly value: unknown } | { readonly fault: string };

type ReadItems = (text: string) => readonly StreamedItem[];

/** Media types of sequences (OpenAPI 3.2 §4.14.4), and how their items are read from a whole text. */
const READERS: Readonly<Record<string, ReadItems>> = {
  'application/jsonl': jsonLines,
  'application/x-jsonl': jsonLines,
  'application/ndjson': jsonLines,
  'application/x-ndjson': jsonLines,
  'application/json-seq': jsonSequence,
  'application/geo+json-seq': jsonSequence,
  'text/event-stream': events,
};

/** How the items of this media type are read; null if it is no sequence. */
export function itemReader(essence: string): ReadItems | null {
  return Object.hasOwn(READERS, essence) ? (READERS[essence] ?? null) : null;
}

/** A value a line; empty lines are none. */
function jsonLines(text: string): readonly StreamedItem[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(jsonItem);
}

/** RFC 7464 §2.2: each text after a record separator. */
function jsonSequence(text: string): readonly StreamedItem[] {
  const [before = '', ...texts] = text.split('\u{1e}');
  const stray = before.trim() === '' ? [] : [{ fault: 'no record separator before it' }];
  return [...stray, ...texts.filter((each) => each.trim() !== '').map(jsonItem)];
}

function jsonItem(text: string): StreamedItem {
  const value = parseJson(text);
  return value === undefined ? { fault: 'it is no JSON' } : { value };
}

/** WHATWG HTML §9.2.6: an object for each event that has data; comments, unknown fields and an unfinished event are none. */
function events(text: string): readonly StreamedItem[] {
  const blocks = text
    .replace(/^\u{feff}/u, '')
    .replace(/\r\n?/g, '\n')
    .split('\n\n')
    .slice(0, -1);
  return blocks.flatMap((block) => {
    const fields = block.split('\n').map((line) => {
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      return { name, value };
    });
    const of = (wanted: string) => fields.filter(({ name }) => name === wanted).map(({ value }) => value);
    const data = of('data');
    if (data.length === 0) return [];
    const [event, id, retry] = ['event', 'id', 'retry'].map((name) => of(name).at(-1));
    return [
      {
        value: {
          ...(event !== undefined && { event }),
          data: data.join('\n'),
          ...(id !== undefined && { id }),
          ...(retry !== undefined && /^\d{1,15}$/.test(retry) && { retry: Number(retry) }),
        },
      },
    ];
  });
}
