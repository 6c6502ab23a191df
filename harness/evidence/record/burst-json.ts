import { HarnessError } from '../../exit.ts';
import type { Burst, BurstEntry } from '../burst.ts';
import { readEvidenceId, readHeading, readTiming } from './exchange-json.ts';
import {
  type Read,
  type RecordReader,
  readArray,
  readEach,
  readNullable,
  readNumber,
  readOneOf,
  readString,
} from './strict-reader.ts';

/**
 * A burst as JSON, compact: `entries` are rows of
 * `[index, sentMs, durationMs, status, layout, values, failure?]`, where `layouts[layout]` has the names of the field
 * lines whose values follow; milliseconds are rounded to microseconds.
 */
export function burstToJson(burst: Burst): object {
  const layouts = new Map<string, number>();
  const entries = burst.entries.map(({ index, sentMs, durationMs, status, fields, failure }) => {
    const names = JSON.stringify(fields.map(([name]) => name));
    const layout = layouts.get(names) ?? layouts.size;
    layouts.set(names, layout);
    const row = [
      index,
      rounded(sentMs),
      rounded(durationMs),
      status,
      layout,
      fields.map(([, value]) => value),
    ];
    return failure === null ? row : [...row, failure];
  });
  return { ...burst, layouts: Array.from(layouts.keys(), (names): unknown => JSON.parse(names)), entries };
}

/** @throws HarnessError where the record is no burst. */
export function burstFromJson(record: RecordReader): Burst {
  const layouts = record.get('layouts', readEach(readEach(readString)));
  return {
    kind: 'burst',
    ...readHeading(record),
    mode: record.get('mode', readOneOf('serial', 'parallel')),
    before: record.get('before', readNumber),
    entries: record.get('entries', readEach(entryReader(layouts))),
    refusal: record.get('refusal', readNullable(readEvidenceId)),
    timing: record.get('timing', readTiming),
  };
}

function entryReader(layouts: readonly (readonly string[])[]): Read<BurstEntry> {
  return (value, where) => {
    const row = readArray(value, where);
    const column = <Value>(at: number, read: Read<Value>) => read(row[at], `${where}[${at}]`);
    const names = layouts[column(4, readNumber)];
    const values = column(5, readEach(readString));
    if (names?.length !== values.length) throw new HarnessError(`${where} does not fit its layout`);
    return {
      index: column(0, readNumber),
      sentMs: column(1, readNumber),
      durationMs: column(2, readNumber),
      status: column(3, readNullable(readNumber)),
      fields: names.map((name, at) => [name, values[at] ?? ''] as const),
      failure: row.length > 6 ? column(6, readString) : null,
    };
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
