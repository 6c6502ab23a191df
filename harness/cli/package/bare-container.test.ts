import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { runInImage } from '../../providers/fixtures/image-run.ts';
import { bareImage } from '../../providers/fixtures/provider-image.ts';
import { startOrders } from '../fixtures/orders.ts';

/** One line in a container of Node, npm and a shell, with the registry as the only source of packages. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const KEY = 'example-orders-key-not-secret';
const CERTIFICATES = '/etc/ssl/certs';
const execute = promisify(execFile);
const { none } = inject('containers');

const said = async (...command: readonly string[]) => {
  const [program = '', ...args] = command;
  return (await execute(program, args, { cwd: ROOT })).stdout.trim();
};

describe.skipIf(none !== null)('a container with Node and npm', () => {
  it('gives a verdict in one line, and writes nothing but reports', async () => {
    const orders = await startOrders(onTestFinished);
    // Packed, since this version is not published yet.
    const tarball = inject('tarball');
    const image = await bareImage(`fixture-npm-${process.pid}`, {
      '/usr/bin/node': realpathSync(process.execPath),
      '/bin/sh': '/bin/sh',
      '/usr/bin/env': '/usr/bin/env',
      '/npm': dirname(dirname(realpathSync(await said('sh', '-c', 'command -v npm')))),
    });
    const ran = await runInImage(
      image,
      {
        command: [
          ...[
            '/usr/bin/node',
            '/npm/bin/npm-cli.js',
            'exec',
            '--yes',
            `--package=/packed/${basename(tarball)}`,
            '--',
          ],
          ...[
            'conform',
            'openapi.yaml',
            '--url',
            orders.url,
            '-H',
            `Authorization: Bearer ${KEY}`,
            '--quiet',
          ],
        ],
        folder: orders.folder,
        folders: {
          '/packed': dirname(tarball),
          ...(existsSync(CERTIFICATES) && { [CERTIFICATES]: CERTIFICATES }),
        },
        env: {
          PATH: '/usr/bin:/bin',
          HOME: '/tmp',
          NODE_EXTRA_CA_CERTS: join(CERTIFICATES, 'ca-certificates.crt'),
          npm_config_registry: await said('npm', 'config', 'get', 'registry'),
          npm_config_ignore_scripts: 'true',
          npm_config_update_notifier: 'false',
        },
      },
      onTestFinished,
    );
    expect([ran.code, ran.said]).toEqual([0, expect.stringMatching(/✓ orders conforms to api@/)]);
    expect(existsSync(join(orders.folder, 'reports/latest/index.html'))).toBe(true);
    expect(existsSync(join(orders.folder, 'node_modules'))).toBe(false);
  });
});
