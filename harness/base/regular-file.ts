import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** A pipe, a device or a folder, or a file that is larger than its reader allows. */
export class UnreadableFile extends Error {
  readonly kind: 'folder' | 'irregular' | 'large';

  constructor(kind: UnreadableFile['kind'], problem: string) {
    super(problem);
    this.name = 'UnreadableFile';
    this.kind = kind;
  }
}

/** Some file systems give a file the size 0, whatever is in it. */
const LIKELY_BYTES = 16 * 1024;

/**
 * The octets of a regular file. A pipe would be waited for without end, and a device may never end.
 *
 * @throws UnreadableFile, and the error of the system.
 */
export function readRegularFile(path: string, maxBytes: number): Buffer {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw new UnreadableFile('folder', 'it is a folder');
    if (!stat.isFile()) throw new UnreadableFile('irregular', 'it is not a regular file');
    const likely = Math.min(maxBytes, Math.max(stat.size, LIKELY_BYTES)) + 1;
    const first = stat.size > maxBytes ? null : octetsOf(file, likely);
    const octets = first?.length === likely ? octetsOf(file, maxBytes + 1) : first;
    if (octets === null || octets.length > maxBytes)
      throw new UnreadableFile('large', `it is larger than ${maxBytes} octets`);
    return octets;
  } finally {
    closeSync(file);
  }
}

/** The first octets of an open file, from its beginning wherever it is written to. */
export function octetsOf(file: number, count: number): Buffer {
  const octets = Buffer.alloc(count);
  let length = 0;
  while (length < octets.length) {
    const read = readSync(file, octets, length, octets.length - length, length);
    if (read === 0) break;
    length += read;
  }
  return octets.subarray(0, length);
}
