import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Job } from 'kubernetes-models/batch/v1';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { shardFrom } from './shard.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const [manifest = ''] =
  /## Kubernetes\n\n```yaml\n([\s\S]*?)```/
    .exec(readFileSync(join(ROOT, 'docs/shards.md'), 'utf8'))
    ?.slice(1) ?? [];

/**
 * What the schema of Kubernetes refuses in a Job; '' when nothing. Its validator knows types and what is missing, its
 * type declarations know which keys there are: both are made of the OpenAPI document of Kubernetes.
 */
function faultsIn(text: string): string {
  const value: unknown = parse(text);
  try {
    new Job(value as ConstructorParameters<typeof Job>[0]).validate();
  } catch (error) {
    return String(error);
  }
  const folder = temporaryFolder({
    'package.json': '{ "type": "module" }',
    'job.ts': `import type { IJob } from 'kubernetes-models/batch/v1';\nexport const job: IJob = ${JSON.stringify(value)};\n`,
  });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];
  const { stdout } = spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, 'job.ts'],
    { cwd: folder, encoding: 'utf8' },
  );
  return stdout;
}

describe('the manifest of an Indexed Job in docs/shards.md', () => {
  it('is one that Kubernetes takes', () => {
    expect(faultsIn(manifest)).toBe('');
  });

  it.for<[what: string, from: string, to: string, fault: RegExp]>([
    ['a number for a text', 'value: "3"', 'value: 3', /env\/0\/value must be string/],
    ['a text for a number', 'completions: 3', 'completions: three', /completions must be integer/],
    ['something missing', '- name: conform\n', '-\n', /name/],
    ['an unknown key', 'completionMode:', 'completionmode:', /completionmode.* does not exist/],
    ['an unknown key deep within', 'claimName:', 'claim:', /claim/],
  ])('would not be with %s', ([, from, to, fault]) => {
    expect(manifest).toContain(from);
    expect(faultsIn(manifest.replace(from, to))).toMatch(fault);
  });

  it('says to each pod which part it is', () => {
    const { spec } = parse(manifest);
    const [container] = spec.template.spec.containers;
    const set = Object.fromEntries(
      container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );
    expect(container.args.slice(0, 3)).toEqual(['run', '--shard', 'auto']);
    // The variable that an Indexed Job sets in each of its pods.
    for (let index = 0; index < spec.completions; index++) {
      expect(shardFrom('auto', { ...set, JOB_COMPLETION_INDEX: String(index) })).toEqual({
        index: index + 1,
        total: spec.completions,
      });
    }
  });
});
