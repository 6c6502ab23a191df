import { closeSync, fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { HarnessError } from '../../base/exit.ts';
import { parseJson } from '../../base/json-text.ts';
import { reasonOf } from '../../base/thrown.ts';

/** Octets of one entry, at most: evidence is bounded far below it. */
const LONGEST_ENTRY = 16 * 1024 * 1024;
const NEW_LINE = 0x0a;

/** A file to which what happens is written as it happens: one JSON text per line. */
export interface Journal {
  /**
   * Writes the entry before it returns: one line, by one write at the end of the file, so that several processes may
   * share it. Throws HarnessError when it cannot be written whole.
   */
  append(entry: object): void;
  /** Safe to call twice. */
  close(): void;
}

/** Opens a journal, or begins one. Throws HarnessError when that cannot be done. */
export function openJournal(path: string): Journal {
  let file: number | null = attempt(`open the journal ${path}`, () => {
    const opened = openSync(path, 'a+');
    // Whoever wrote last may have been killed within a line; the next entry must not become part of it.
    if (!endsWithNewLine(opened)) writeSync(opened, '\n');
    return opened;
  });
  return {
    append(entry) {
      if (file === null) throw new HarnessError(`the journal ${path} is closed`);
      const open = file;
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      if (line.length > LONGEST_ENTRY) {
        throw new HarnessError(`an entry of ${line.length} octets does not fit the journal`);
      }
      const written = attempt(`write to the journal ${path}`, () => writeSync(open, line));
      if (written !== line.length)
        throw new HarnessError(`only a part of an entry could be written to ${path}`);
    },
    close() {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

function endsWithNewLine(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === NEW_LINE;
}

/** What a journal holds. */
export interface JournalContent {
  /** Parsed, in the order written. */
  readonly entries: readonly unknown[];
  /** The last line was not finished: its writer was killed. It is left out. */
  readonly torn: boolean;
  /**
   * Numbers, from 1, of other lines that are no JSON, and are left out: nothing should cause them but a writer killed
   * within a line while others went on.
   */
  readonly badLines: readonly number[];
}

/** Reads a journal, also one that is still being written. Throws HarnessError when there is none. */
export function readJournal(path: string): JournalContent {
  const octets = attempt(`read the journal ${path}`, () => readFileSync(path));
  const entries: unknown[] = [];
  const badLines: number[] = [];
  let start = 0;
  let torn = false;
  for (let line = 1; start < octets.length; line++) {
    const end = octets.indexOf(NEW_LINE, start);
    const isLast = end === -1;
    const text = octets.toString('utf8', start, isLast ? octets.length : end);
    start = isLast ? octets.length : end + 1;
    const entry = parseJson(text);
    if (entry !== undefined) entries.push(entry);
    else if (isLast) torn = true;
    else if (text !== '') badLines.push(line);
  }
  return { entries, torn, badLines };
}

function attempt<Result>(what: string, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw new HarnessError(`cannot ${what}: ${reasonOf(error)}`, { cause: error });
  }
}
