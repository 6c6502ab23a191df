import type { WriteStream } from 'node:tty';

/** What a stream can show. `NO_COLOR` (any value) and a stream that is no terminal mean plain text. */
export function terminalOf(stream: Pick<WriteStream, 'isTTY'>): {
  readonly isTTY: boolean;
  readonly color: boolean;
} {
  const isTTY = stream.isTTY === true && process.env.TERM !== 'dumb';
  const refused = process.env.NO_COLOR !== undefined && process.env.NO_COLOR !== '';
  return { isTTY, color: isTTY && !refused };
}
