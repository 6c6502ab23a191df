import { StringDecoder } from 'node:string_decoder';
import { InconclusiveError } from '../base/exit.ts';

/** Lines kept from the beginning, where a start goes wrong, and from the end, where a run does. */
const FIRST_LINES = 200;
const LAST_LINES = 1_000;
/** UTF-16 units that are kept of a line. */
const LONGEST_LINE = 2_000;

/** What a provider writes, kept within bounds however much it is. */
export interface LogCapture {
  /** Takes what one stream yields; each stream needs a writer of its own, so that lines do not run together. */
  writer(): (chunk: Buffer) => void;
  /** The lines kept, those left out counted. */
  text(): string;
  /** The last lines that are wanted, at most so many. */
  last(count: number, wanted: (line: string) => boolean): readonly string[];
  /** Counts the lines that hold the text, from those that are kept on. */
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
    // Many in one go: taking away the first of an array costs its length.
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

/** Puts together the lines of one stream; of one that grows too long the rest is dropped. */
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

/** Lines that a message quotes. */
const MOST_LINES = 8;
/** UTF-16 units that it quotes of each. */
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
