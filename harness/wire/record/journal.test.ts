import { spawn } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HarnessError } from '../../base/exit.ts';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { openJournal, readJournal } from './journal.ts';

const newPath = () => join(temporaryFolder(), 'journal.ndjson');

/** Opens a journal for as long as it takes to write these. */
function write(path: string, ...entries: readonly object[]): void {
  const journal = openJournal(path);
  for (const entry of entries) journal.append(entry);
  journal.close();
}

describe('journal', () => {
  it('writes each entry before it returns, one line each', () => {
    const path = newPath();
    const journal = openJournal(path);
    expect(readJournal(path)).toEqual({ entries: [], torn: false, badLines: [] });
    journal.append({ type: 'outcome', message: 'two\nlines \u2028' });
    expect(readJournal(path).entries).toEqual([{ type: 'outcome', message: 'two\nlines \u2028' }]);
    journal.append({ type: 'fault' });
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(3);
    journal.close();
    journal.close();
    expect(() => journal.append({})).toThrow(HarnessError);
  });

  it('goes on where an earlier journal ended', () => {
    const path = newPath();
    write(path, { at: 1 });
    write(path, { at: 2 });
    expect(readJournal(path).entries).toEqual([{ at: 1 }, { at: 2 }]);
  });

  it('leaves a torn last line out, and the next writer does not continue it', () => {
    const path = newPath();
    write(path, { at: 1 });
    appendFileSync(path, '{"at":2,"mess');
    expect(readJournal(path)).toEqual({ entries: [{ at: 1 }], torn: true, badLines: [] });
    write(path, { at: 3 });
    expect(readJournal(path)).toEqual({ entries: [{ at: 1 }, { at: 3 }], torn: false, badLines: [2] });
  });

  it('takes a last line that lacks only its line end', () => {
    const path = newPath();
    appendFileSync(path, '{"at":1}\n\n{"at":2}');
    expect(readJournal(path)).toEqual({ entries: [{ at: 1 }, { at: 2 }], torn: false, badLines: [] });
  });

  it('refuses an entry that is too long, and a file that is not there', () => {
    const path = newPath();
    const journal = openJournal(path);
    expect(() => journal.append({ text: 'x'.repeat(17 * 1024 * 1024) })).toThrow('does not fit');
    journal.close();
    expect(readJournal(path).entries).toEqual([]);
    expect(() => readJournal(newPath())).toThrow(HarnessError);
    expect(() => openJournal(join(newPath(), 'journal'))).not.toThrow();
    expect(() => openJournal('/proc/no-such-folder/journal')).toThrow(HarnessError);
  });

  it('is read for what names one of some types alone', () => {
    const journal = openJournal(newPath());
    for (const type of ['created', 'outcome', 'removed', 'evidence']) journal.append({ type });
    expect(journal.read(['created', 'removed']).entries).toEqual([{ type: 'created' }, { type: 'removed' }]);
  });

  it('is read to its end after its folder is gone, also what others began anew there', () => {
    const path = join(temporaryFolder(), 'run', 'journal.ndjson');
    const journal = openJournal(path);
    const worker = openJournal(path);
    journal.append({ at: 1 });
    worker.append({ at: 2 });
    rmSync(dirname(path), { recursive: true });
    worker.append({ at: 3 });
    expect(journal.read().entries).toEqual([{ at: 1 }, { at: 2 }, { at: 3 }]);
    const late = openJournal(path);
    late.append({ at: 4 });
    journal.append({ at: 5 });
    expect(
      journal
        .read()
        .entries.map((entry) => Object(entry).at)
        .toSorted(),
    ).toEqual([1, 2, 3, 4, 5]);
    expect(journal.restore()).toMatch(/^the folder of the journal was removed/);
    expect(readJournal(path)).toEqual(journal.read());
    expect(readJournal(path).entries).toHaveLength(5);
    expect(journal.restore()).toBeNull();
    journal.append({ at: 6 });
    expect(readJournal(path).entries).toHaveLength(6);
    expect(readdirSync(dirname(path))).toEqual(['journal.ndjson']);
  });

  it('keeps what the disk does not take, and adds it when it does', () => {
    const path = newPath();
    symlinkSync('/dev/full', path);
    const journal = openJournal(path);
    const handed: string[] = [];
    const worker = openJournal(path, (line, why) => handed.push(`${line}${why}`));
    journal.append({ at: 1 });
    worker.append({ at: 2 });
    expect(handed).toEqual([expect.stringMatching(/^\{"at":2\}\nENOSPC/)]);
    journal.keep('{"at":2}\n', 'no space');
    expect(journal.read()).toEqual({ entries: [{ at: 1 }, { at: 2 }], torn: false, badLines: [] });
    expect(journal.restore()).toMatch(/^for a while the journal could not be written \(ENOSPC/);
    expect(readJournal(path).entries).toEqual([{ at: 1 }, { at: 2 }]);
  });

  it('goes on elsewhere, with all that it holds', () => {
    const journal = openJournal(newPath());
    journal.append({ at: 1 });
    const other = join(temporaryFolder(), 'elsewhere', 'journal.ndjson');
    journal.moveTo(other);
    journal.append({ at: 2 });
    expect(readJournal(other).entries).toEqual([{ at: 1 }, { at: 2 }]);
  });

  it('keeps every entry whole when several processes write at once', async () => {
    const path = newPath();
    const [writers, lines] = [4, 200];
    const script = `
      import { openJournal } from ${JSON.stringify(new URL('./journal.ts', import.meta.url).href)};
      const journal = openJournal(process.env.JOURNAL);
      for (let line = 0; line < ${lines}; line++) {
        journal.append({ writer: Number(process.env.WRITER), line, filling: 'x'.repeat((line % 7) * 3000) });
      }
      journal.close();`;
    const codes = await Promise.all(
      Array.from({ length: writers }, (_, writer) => {
        const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
          env: { ...process.env, JOURNAL: path, WRITER: String(writer) },
          stdio: 'inherit',
        });
        return new Promise((resolve) => child.on('exit', resolve));
      }),
    );
    expect(codes).toEqual(Array(writers).fill(0));
    const { entries, badLines } = readJournal(path);
    expect(badLines).toEqual([]);
    for (let writer = 0; writer < writers; writer++) {
      const own = entries.filter((entry) => Object(entry).writer === writer);
      expect(own.map((entry) => Object(entry).line)).toEqual(
        Array.from({ length: lines }, (_, line) => line),
      );
    }
  });
});
