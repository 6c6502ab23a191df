import { InconclusiveError } from '../exit.ts';
import type { LogCapture } from './log-capture.ts';

const MOST_LINES = 8;
/** UTF-16 units of a line that are quoted. */
const LONGEST = 240;

/** What happened, and the last that was written before. */
export function withLastLines(what: string, logs: LogCapture): string {
  const lines = logs.last(MOST_LINES, isTelling).map((line) => cut(line.trim()));
  return lines.length === 0 ? `${what}; it wrote nothing` : `${what}; its last lines: ${lines.join(' | ')}`;
}

/** Why a start failed, with the last lines; anything but an InconclusiveError is left as it is. */
export function explained(error: unknown, logs: LogCapture): unknown {
  return error instanceof InconclusiveError
    ? new InconclusiveError(withLastLines(error.message, logs))
    : error;
}

/** Stack frames say little to whoever has not the source, and would leave no room for the message above them. */
function isTelling(line: string): boolean {
  return line.trim() !== '' && !/^\s+at /.test(line);
}

function cut(line: string): string {
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
