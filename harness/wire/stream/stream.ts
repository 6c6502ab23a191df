import { EventStreamReader } from './event-stream.ts';
import { JsonLinesReader, JsonSequenceReader } from './json-records.ts';
import type { StreamPart, StreamReader } from './part.ts';

const lines = () => new JsonLinesReader();
const sequence = () => new JsonSequenceReader();

/** Media types of sequences (OpenAPI 3.2 §4.14.4), and how their items are read. */
const READERS: Readonly<Record<string, () => StreamReader>> = {
  'application/jsonl': lines,
  'application/x-jsonl': lines,
  'application/ndjson': lines,
  'application/x-ndjson': lines,
  'application/json-seq': sequence,
  'application/geo+json-seq': sequence,
  'text/event-stream': () => new EventStreamReader(),
};

/** Reads a stream of this media type; null if it is none. */
export function streamReader(essence: string): StreamReader | null {
  return Object.hasOwn(READERS, essence) ? (READERS[essence]?.() ?? null) : null;
}

export function isStreamType(essence: string): boolean {
  return Object.hasOwn(READERS, essence);
}

/** The parts of a stream. `isWhole`: its end came as well. */
export function streamParts(essence: string, octets: Uint8Array, isWhole: boolean): readonly StreamPart[] {
  const reader = streamReader(essence);
  if (reader === null) return [];
  const parts = reader.push(octets);
  return isWhole ? [...parts, ...reader.end()] : parts;
}
