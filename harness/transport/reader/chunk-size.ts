import { FRAMING_FAULT, type FramingFault } from './framing-faults.ts';

interface ChunkSize {
  readonly octets: number;
  /** Nothing stands on the line but the size. */
  readonly plain: boolean;
}

/** Reads the line before a chunk (RFC 9112 §7.1), its extensions skipped (§7.1.1); null when there is no size. */
export function parseChunkSize(line: string, fault: (fault: FramingFault) => void): ChunkSize | null {
  const match = /^([0-9a-f]{1,16})([ \t]*)(;.*)?$/i.exec(line);
  const octets = Number.parseInt(match?.[1] ?? '', 16);
  if (!match || !Number.isSafeInteger(octets)) {
    fault(FRAMING_FAULT.badChunkSize);
    return null;
  }
  const [, , space, extension] = match;
  if (space !== '' && extension === undefined) fault(FRAMING_FAULT.spaceAfterChunkSize);
  return { octets, plain: space === '' && extension === undefined };
}
