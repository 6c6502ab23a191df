import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** A pipe, a device or a folder, or a file that is larger than its reader allows. */
export class UnreadableFile extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'UnreadableFile';
  }
}

/**
 * The octets of a regular file. A pipe would be waited for without end, and a device may never end.
 *
 * @throws UnreadableFile, and the error of the system.
 */
export function readRegularFile(path: string, maxBytes: number): Buffer {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw new UnreadableFile('it is a folder');
    if (!stat.isFile()) throw new UnreadableFile('it is not a regular file');
    if (stat.size > maxBytes) throw new UnreadableFile(`it is larger than ${maxBytes} octets`);
    return octetsOf(file, stat.size);
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
