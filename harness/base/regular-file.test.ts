import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from './fixtures/folder.ts';
import { readRegularFile } from './regular-file.ts';

const folder = temporaryFolder({ 'a.txt': 'some text' });
const path = (name: string) => join(folder, name);

it('reads a regular file, and one that a link leads to', () => {
  symlinkSync('a.txt', path('link'));
  expect(readRegularFile(path('a.txt'), 9).toString()).toBe('some text');
  expect(readRegularFile(path('link'), 9).toString()).toBe('some text');
});

it.each([
  [
    'a pipe that nothing writes to',
    () => execFileSync('mkfifo', [path('pipe')]),
    'pipe',
    /not a regular file/,
  ],
  ['a link to an endless device', () => symlinkSync('/dev/zero', path('zero')), 'zero', /not a regular file/],
  ['a folder', () => undefined, '.', /a folder/],
  ['a file that is too large', () => writeFileSync(path('large'), 'x'.repeat(10)), 'large', /larger than 9/],
])('refuses %s at once', (_, make, name, reason) => {
  make();
  expect(() => readRegularFile(path(name), 9)).toThrow(reason);
});
