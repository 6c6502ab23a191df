import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { conformHere } from '../fixtures/in-process.ts';

/** What bash offers after these words of a command line; the last is to be completed. */
async function offered(words: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const { stdout: script } = await conformHere(['completion', 'bash']);
  const ask = `${script}\nCOMP_WORDS=(conform ${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length}\n_conform\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync('bash', ['-c', ask], { cwd: temporaryFolder(files), encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

describe('completion', () => {
  it('offers commands', async () => {
    expect(await offered(['re'])).toEqual(['report']);
  });

  it('offers the options of a command, and of a command below another', async () => {
    expect(await offered(['run', '--dry'])).toEqual(['--dry-run']);
    expect(await offered(['pact', 'verify', '--pa'])).toEqual(['--pact']);
  });

  it('offers services of the folder', async () => {
    expect(await offered(['run', 'or'], { 'conformance/services/orders.yaml': '' })).toEqual(['orders']);
    expect(await offered(['run', 'or'], { 'conform.yaml': 'service: "orders"\n' })).toEqual(['orders']);
  });

  it('offers the values of an argument that has few', async () => {
    expect(await offered(['completion', ''])).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
  });

  it('is written for zsh and fish as well', async () => {
    expect((await conformHere(['completion', 'zsh'])).stdout).toMatch(/^#compdef conform\n/);
    expect((await conformHere(['completion', 'fish'])).stdout).toMatch(
      /^complete -c conform -n '__fish_seen_subcommand_from run' -l dry-run -d '/m,
    );
  });

  it('refuses other shells', async () => {
    expect((await conformHere(['completion', 'cmd'])).code).toBe(2);
  });
});
