import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { HarnessError } from '../../base/exit.ts';
import { parseJson } from '../../base/json-text.ts';
import { octetsOf, readRegularFile } from '../../base/regular-file.ts';
import { codeOf, reasonOf } from '../../base/thrown.ts';

/** Octets of one entry, at most: evidence is bounded far below it. */
const LONGEST_ENTRY = 16 * 1024 * 1024;
const NEW_LINE = 0x0a;

/**
 * A file to which what happens is written as it happens: one JSON text per line. What can be written no more, or is
 * written to a file that is removed meanwhile, is still read, as long as the journal is open.
 */
export interface Journal {
  /**
   * Writes the entry before it returns: one line, by one write at the end of the file, so that several processes may
   * share it. What the file does not take is kept. Throws HarnessError for an entry that is too long.
   */
  append(entry: object): void;
  /** Takes a line that another process could not write. `why`: in words. */
  keep(line: string, why: string): void;
  /**
   * All that was written by now, by whichever process. Of a long journal parsing takes seconds: with `types` what names
   * none of these types is left out.
   */
  read(types?: readonly string[]): JournalContent;
  /**
   * Writes all of it to its place, where it is not there. Returns what had become of it, in words; null for nothing.
   * Throws HarnessError when that cannot be done.
   */
  restore(): string | null;
  /** Writes all of it to another place, from where it goes on. Throws HarnessError when that cannot be done. */
  moveTo(path: string): void;
  /** Safe to call twice. */
  close(): void;
}

/** Takes a line that could not be written, and why. */
type Keeper = (line: string, why: string) => void;

/**
 * Opens a journal, or begins one, in a folder that is made where there is none. Throws HarnessError when that cannot be
 * done.
 *
 * @param keeper in place of this process, whose memory ends with it.
 */
export function openJournal(path: string, keeper?: Keeper): Journal {
  /** The file, and any that others began at its place after it was gone. */
  let files = [
    attempt(`open the journal ${path}`, () => {
      makeFolders(dirname(path));
      return openEnd(path);
    }),
  ];
  let place = path;
  let isTorn = false;
  const kept: string[] = [];
  let whyKept: string | null = null;

  function keep(line: string, why: string): void {
    kept.push(line);
    whyKept ??= why;
  }

  function findAnother(): void {
    if (files.length > 0 && existsSync(place) && !files.some((file) => isSameFile(file, place)))
      files.push(openSync(place, 'a+'));
  }

  function octets(): Buffer {
    attempt(`read the journal ${place}`, findAnother);
    return inLines([
      ...attempt(`read the journal ${place}`, () =>
        files.map((file) => octetsOf(file, fstatSync(file).size)),
      ),
      Buffer.from(kept.join('')),
    ]);
  }

  function moveTo(to: string): void {
    const all = octets();
    const file = attempt(`write the journal ${to}`, () => {
      makeFolders(dirname(to));
      intoPlace(to, (temporary) => writeFileSync(temporary, all, { flag: 'wx' }));
      return openEnd(to);
    });
    for (const old of files) closeSync(old);
    files = [file];
    place = to;
    isTorn = false;
    kept.length = 0;
    whyKept = null;
  }

  return {
    append(entry) {
      const file = files.at(-1);
      if (file === undefined) throw new HarnessError(`the journal ${place} is closed`);
      const line = `${JSON.stringify(entry)}\n`;
      const whole = Buffer.from(isTorn ? `\n${line}` : line);
      if (whole.length > LONGEST_ENTRY) {
        throw new HarnessError(`an entry of ${whole.length} octets does not fit the journal`);
      }
      try {
        const written = writeSync(file, whole);
        isTorn = written > 0 && written !== whole.length;
        if (written === whole.length) return;
        (keeper ?? keep)(line, 'only a part of an entry could be written');
      } catch (error) {
        (keeper ?? keep)(line, reasonOf(error));
      }
    },
    keep,
    read: (types) => contentIn(octets(), types),
    restore() {
      attempt(`read the journal ${place}`, findAnother);
      const isGone = files.length > 1 || !existsSync(place);
      const why = whyKept;
      if (!isGone && why === null) return null;
      moveTo(place);
      return isGone
        ? 'the folder of the journal was removed meanwhile; it was made again, and nothing is lost'
        : `for a while the journal could not be written (${why}); what was missing was added later`;
    },
    moveTo,
    close() {
      for (const file of files) closeSync(file);
      files = [];
    },
  };
}

/** The last writer may have been killed within a line; the next entry must not become part of it. */
function openEnd(path: string): number {
  const file = openSync(path, 'a+');
  if (!endsWithNewLine(file)) writeSync(file, '\n');
  return file;
}

function endsWithNewLine(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === NEW_LINE;
}

function isSameFile(file: number, path: string): boolean {
  const [one, other] = [fstatSync(file), statSync(path)];
  return one.ino === other.ino && one.dev === other.dev;
}

/** One after the other, none within a line of another. */
function inLines(parts: readonly Buffer[]): Buffer {
  const filled = parts.filter(({ length }) => length > 0);
  const [only, ...others] = filled;
  if (only !== undefined && others.length === 0) return only;
  const isCut = (part: Buffer, at: number) => at < filled.length - 1 && part.at(-1) !== NEW_LINE;
  return Buffer.concat(
    filled.flatMap((part, at) => (isCut(part, at) ? [part, Buffer.of(NEW_LINE)] : [part])),
  );
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

/** A journal that is larger cannot be held in memory. */
const MOST_OCTETS = 1024 ** 3;

/** Reads a journal, also one that is still being written. Throws HarnessError when there is none. */
export function readJournal(path: string): JournalContent {
  return contentIn(attempt(`read the journal ${path}`, () => readRegularFile(path, MOST_OCTETS)));
}

function contentIn(octets: Buffer, types?: readonly string[]): JournalContent {
  const wanted = types?.map((type) => Buffer.from(`"type":${JSON.stringify(type)}`));
  const entries: unknown[] = [];
  const badLines: number[] = [];
  let start = 0;
  let torn = false;
  for (let line = 1; start < octets.length; line++) {
    const end = octets.indexOf(NEW_LINE, start);
    const isLast = end === -1;
    const octetsOfLine = octets.subarray(start, isLast ? octets.length : end);
    start = isLast ? octets.length : end + 1;
    if (wanted !== undefined && !wanted.some((type) => octetsOfLine.includes(type))) continue;
    const text = octetsOfLine.toString();
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

/**
 * Makes a folder and all that lies above it, step by step: Node's own recursive mkdir tries for ever where a folder
 * is there and yet says that nothing can be made in it because it is not (ENOENT, as /proc does). Links above it are
 * followed. Throws the system's error, whose `path` is the step that could not be made.
 */
export function makeFolders(folder: string): void {
  const missing = [resolve(folder)];
  for (let above = dirname(resolve(folder)); !existsSync(above); above = dirname(above))
    missing.unshift(above);
  for (const step of missing) makeFolder(step);
}

/** Another run, at work in the same place, may make it first. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST' || !statSync(folder).isDirectory()) throw cause;
  }
}

/** Makes a file beside its place and then renames it: it is there whole or not at all, and a link there is replaced. */
export function intoPlace(path: string, make: (temporary: string) => void): void {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  try {
    make(temporary);
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw cause;
  }
}
