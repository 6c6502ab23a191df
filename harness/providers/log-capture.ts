import { StringDecoder } from 'node:string_decoder';
import { InconclusiveError } from '../base/exit.ts';

/** Lines kept from the beginning, for a failed start, and from the end, for a failed run. */
const FIRST_LINES = 200;
const LAST_LINES = 1_000;
/** UTF-16 units kept of a line. */
const LONGEST_LINE = 2_000;

/** The output of a provider, kept within bounds. */
export interface LogCapture {
  /** Takes the output of one stream; each stream needs its own writer, so that lines do not mix. */
  writer(): (chunk: Buffer) => void;
  /** The kept lines, with the number of those left out. */
  text(): string;
  /** The last `count` lines that are wanted. */
  last(count: number, wanted: (line: string) => boolean): readonly string[];
  /** Counts the lines that contain the text, beginning with the kept ones. */
  watch(text: string): () => number;
}

export function createLogCapture(): LogCapture {
  const first: string[] = [];
  const last: string[] = [];
  const open = new Set<LineBuilder>();
  const watches: { readonly text: string; count: number }[] = [];
  let leftOut = 0;

  const keep = (line: string) => {
    for (const watch of watches) if (line.includes(watch.text)) watch.count += 1;
    if (first.length < FIRST_LINES) {
      first.push(line);
      return;
    }
    last.push(line);
    // Many at a time: removing the head of an array costs its length.
    if (last.length < 2 * LAST_LINES) return;
    leftOut += last.length - LAST_LINES;
    last.splice(0, last.length - LAST_LINES);
  };
  const unfinished = () => [...open].map(({ line }) => line).filter((line) => line !== '');
  const kept = () => {
    const tail = last.slice(-LAST_LINES);
    const dropped = leftOut + last.length - tail.length;
    const gap = dropped === 0 ? [] : [`… ${dropped} lines left out …`];
    return [...first, ...gap, ...tail, ...unfinished()];
  };
  return {
    writer() {
      const builder = new LineBuilder(keep);
      open.add(builder);
      return (chunk) => builder.write(chunk);
    },
    text: () => kept().join('\n'),
    last: (count, wanted) => kept().filter(wanted).slice(-count),
    watch(text) {
      const watch = { text, count: [...first, ...last].filter((line) => line.includes(text)).length };
      watches.push(watch);
      return () => watch.count + unfinished().filter((line) => line.includes(text)).length;
    },
  };
}

/** Joins the chunks of one stream to lines; drops the rest of a line that is too long. */
class LineBuilder {
  line = '';
  readonly #decoder = new StringDecoder('utf8');
  readonly #keep: (line: string) => void;

  constructor(keep: (line: string) => void) {
    this.#keep = keep;
  }

  write(chunk: Buffer): void {
    const text = this.#decoder.write(chunk);
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      this.#grow(text, start, end);
      this.#keep(this.line.replace(/\r$/, ''));
      this.line = '';
      start = end + 1;
    }
    this.#grow(text, start, text.length);
  }

  #grow(text: string, start: number, end: number): void {
    if (this.line.length > LONGEST_LINE) return;
    this.line += text.slice(start, Math.min(end, start + LONGEST_LINE + 1));
    if (this.line.length <= LONGEST_LINE) return;
    this.line = `${this.line.slice(0, LONGEST_LINE).replace(/[\ud800-\udbff]$/, '')}…`.padEnd(
      LONGEST_LINE + 1,
    );
  }
}

/** Lines quoted in a message. */
const MOST_LINES = 8;
/** UTF-16 units quoted of each. */
const LONGEST = 240;

/** The event with the last lines of the output before it. */
export function withLastLines(what: string, logs: LogCapture): string {
  const lines = logs.last(MOST_LINES, isTelling).map((line) => cut(line.trim()));
  return lines.length === 0 ? `${what}; it wrote nothing` : `${what}; its last lines: ${lines.join(' | ')}`;
}

/** An InconclusiveError with the last lines added; any other error unchanged. */
export function explained(error: unknown, logs: LogCapture): unknown {
  return error instanceof InconclusiveError
    ? new InconclusiveError(withLastLines(error.message, logs))
    : error;
}

/** Stack frames are no help without the source, and would push out the message above them. */
function isTelling(line: string): boolean {
  return line.trim() !== '' && !/^\s+at /.test(line);
}

function cut(line: string): string {
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
