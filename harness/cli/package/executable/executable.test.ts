import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { runInImage } from '../../../providers/fixtures/image-run.ts';
import { bareImage } from '../../../providers/fixtures/provider-image.ts';
import { startOrders } from '../../fixtures/orders.ts';
import { HARNESS } from '../../process.ts';

/** The executable as `npm run executable` builds it, in a folder without Node or npm. */

const BUILD = fileURLToPath(new URL('build.ts', import.meta.url));
const KEY = 'example-orders-key-not-secret';
const { none } = inject('containers');
const folder = mkdtempSync(join(tmpdir(), 'conform-executable-'));
const program = join(folder, 'conform');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

// It packs and installs the package, which takes a minute where nothing else runs.
beforeAll(async () => void (await promisify(execFile)(process.execPath, [BUILD, program])), 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function conform(cwd: string, ...args: readonly string[]): Promise<Ended> {
  const env = { PATH: '/usr/bin:/bin', XDG_CACHE_HOME: join(folder, 'cache') };
  return new Promise((resolve) => {
    execFile(program, args, { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

const oneLine = (url: string) => [
  'openapi.yaml',
  '--url',
  url,
  '-H',
  `Authorization: Bearer ${KEY}`,
  '--quiet',
];

describe('the executable', () => {
  it('says its version, and gives a true verdict in one line, with workers of its own', async () => {
    expect(await conform(folder, '--version')).toEqual({
      code: 0,
      stdout: `${HARNESS.version}\n`,
      stderr: '',
    });
    const orders = await startOrders(onTestFinished);
    const good = await conform(orders.folder, ...oneLine(orders.url));
    expect(good.stdout).toMatch(/✓ orders conforms to api@/);
    expect(good.code).toBe(0);
    orders.has('wrong-type');
    const bad = await conform(orders.folder, ...oneLine(orders.url), '--check', 'operations.schema');
    expect(bad.code).toBe(1);
  });

  it("loads a user's check in TypeScript, and names the line of a fault in it", async () => {
    const orders = await startOrders(onTestFinished);
    const house = `import { check } from 'conform-api/check';
const rule: string = 'house.trace-id';
export default [check(rule, { title: 'sends X-Trace-Id', why: 'Logs.', change: 'Set it.', expects: 'X-Trace-Id',
  judge: ({ headers }) => ('x-trace-id' in headers ? null : 'no X-Trace-Id'),
  proof: { conforming: () => ({ status: 200, headers: { 'X-Trace-Id': '1' } }), defects: { none: (r) => ({ ...r, headers: {} }) } } })];
`;
    writeFileSync(join(orders.folder, 'house.ts'), house);
    const config = `service: orders
provider: { url: ${orders.url} }
credentials: { scheme: bearer, key: ${KEY} }
openapi: openapi.yaml
checks: [./house.ts]
`;
    writeFileSync(join(orders.folder, 'conform.yaml'), config);
    expect((await conform(orders.folder, 'prove')).stdout).toContain('1 of 1 proven');
    expect((await conform(orders.folder, 'run', '--check', 'house.*')).stdout).toContain('no X-Trace-Id');
    writeFileSync(join(orders.folder, 'house.ts'), `${house}const x = ;\n`);
    const broken = await conform(orders.folder, 'run');
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringMatching(/house\.ts:6: does not load/)]);
  });

  it.skipIf(none !== null)(
    'runs in an image that has the libraries of the system and nothing else',
    async () => {
      const orders = await startOrders(onTestFinished);
      const image = await bareImage(`fixture-executable-${process.pid}`, { '/conform': program });
      const command = ['/conform', ...oneLine(orders.url)];
      const { code, said } = await runInImage(image, { command, folder: orders.folder }, onTestFinished);
      expect([code, said]).toEqual([0, expect.stringMatching(/✓ orders conforms to api@/)]);
    },
  );
});
