import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listening } from '../../base/loopback.ts';
import { conformHere } from '../fixtures/in-process.ts';
import { serving } from '../fixtures/serving.ts';

/** The reference providers as a client developer starts them. */

const KEY = 'no-real-key-for-tests';

const ENV = { SEARCH_API_KEY: KEY };

describe.concurrent('conform serve', () => {
  it.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'serves until %s, and then leaves nothing behind',
    async (signal) => {
      const { server, url } = await serving(['search'], ENV);
      const served = await fetch(`${url}/v1/resources`, { headers: { authorization: `Bearer ${KEY}` } });
      expect(served.status).toBe(200);
      expect((await fetch(`${url}/v1/resources`)).status).toBe(401);
      // A key that the user chose is not shown.
      expect(server.stdout()).not.toContain(KEY);
      expect(server.stdout()).toContain('curl -H "Authorization: Bearer $SEARCH_API_KEY"');
      server.signal(signal);
      expect(await server.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
      expect(server.left()).toEqual([]);
      await expect(fetch(url)).rejects.toThrow();
    },
  );

  it('ends although a client stays connected', async () => {
    const { server, url } = await serving(['realtime']);
    const socket = new WebSocket(`${url.replace('http', 'ws')}/app/example-app-key?protocol=7`);
    await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }));
    server.signal('SIGINT');
    expect(await server.ended).toMatchObject({ code: 0, signal: null });
  });

  it('has the faults, the variant and the plan that it is told', async () => {
    const args = 'search --plan 1/60s --defect refusal-without-challenge'.split(' ');
    const { server, url } = await serving(args, ENV);
    const refused = await fetch(`${url}/v1/resources`);
    expect(refused.status).toBe(401);
    expect(refused.headers.has('www-authenticate')).toBe(false);
    const headers = { authorization: `Bearer ${KEY}` };
    const statuses = [];
    for (let i = 0; i < 2; i++) statuses.push((await fetch(`${url}/v1/resources`, { headers })).status);
    expect(statuses).toEqual([200, 429]);
    server.signal('SIGTERM');
    expect((await server.ended).stdout).toMatch(/refusal-without-challenge: /);
  });
});

describe('conform serve that does not serve', () => {
  it('says what a config has to say for a fault to be seen', async () => {
    const { server } = await serving(['realtime', '--defect', 'pusher-no-pong', '--defect', 'ws-no-pong']);
    server.signal('SIGTERM');
    const { stdout } = await server.ended;
    expect(stdout).toContain(
      '\npusher-no-pong shows only if config/services/realtime.yaml has websocket: { dialect: pusher }\nCtrl-C',
    );
  });

  it('lists the defects and variants of one service or of all', async () => {
    const all = await conformHere(['serve', '--defect']);
    const one = await conformHere(['serve', 'search', '--defect']);
    for (const { code, stdout, stderr } of [all, one]) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Defects\n( {2}\S+ {2,}\S.*\n)+\nConforming variants\n( {2}\S+ {2,}\S.*\n)+$/);
    }
    expect(all.stdout.length).toBeGreaterThan(one.stdout.length);
  });

  it('says that a port is taken', async () => {
    const holder = createServer();
    const port = String(await listening(holder));
    const { code, stderr } = await conformHere(['serve', 'search', '--port', port]);
    holder.close();
    expect(code).toBe(2);
    expect(stderr).toMatch(
      new RegExp(`^conform: cannot listen on 127\\.0\\.0\\.1:${port}: .*\\n {2}remedy: `),
    );
  });
});
