import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Files, temporaryFolder } from '../../base/fixtures/folder.ts';
import { usualConfig } from './read-text.ts';

const before = process.cwd();
afterEach(() => process.chdir(before));

/** The usual config, seen from a folder of a repository with these files. */
function seenFrom(folder: string, files: Files): string {
  process.chdir(
    join(temporaryFolder({ '.git/HEAD': '', 'packages/orders/package.json': '', ...files }), folder),
  );
  return usualConfig();
}

describe('the usual config', () => {
  it.for([
    ['is conform.yaml', '', { 'conform.yaml': '', 'conformance/services/a.yaml': '' }, 'conform.yaml'],
    ['is a file above', 'packages/orders', { 'conform.yaml': '' }, '../../conform.yaml'],
    ['is conformance', '', { 'conformance/services/a.yaml': '' }, 'conformance'],
    ['is config where only that has services', '', { 'config/services/a.yaml': '' }, 'config'],
    ['is no config without services', '', { 'config/app.json': '' }, 'conformance'],
    ['may lie above', 'packages/orders', { 'conformance/services/a.yaml': '' }, '../../conformance'],
    [
      'is the nearest',
      'packages/orders',
      { 'conformance/services/a.yaml': '', 'packages/orders/config/services/a.yaml': '' },
      'config',
    ],
    [
      'does not lie above the repository',
      'inner',
      { 'conformance/services/a.yaml': '', 'inner/.git/HEAD': '' },
      'conformance',
    ],
  ] as const)('%s', ([, folder, files, expected]) => {
    expect(seenFrom(folder, files)).toBe(expected);
  });
});
