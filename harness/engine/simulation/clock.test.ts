import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listening } from '../../base/loopback.ts';
import { simulatedClock } from './clock.ts';

function clock() {
  const opened = simulatedClock();
  onTestFinished(() => opened.stop());
  return opened;
}

describe('simulated time', () => {
  it('leaps to the end of a wait, on both sides', async () => {
    const session = clock();
    const provider = session;
    const [here, there, real] = [session.now(), provider.now(), performance.now()];
    await session.sleep(3_600_000);
    expect(session.now() - here).toBeCloseTo(3_600_000, 0);
    expect(provider.now() - there).toBeCloseTo(3_600_000, 0);
    expect(performance.now() - real).toBeLessThan(60_000);
  });

  it('begins after now, and has a wall clock that goes with it', async () => {
    const session = clock();
    const provider = session;
    const begun = session.wallNow();
    expect(begun.getTime()).toBeGreaterThan(Date.now());
    expect(begun.getUTCSeconds()).toBe(20);
    await provider.sleep(5_000);
    expect(session.wallNow().getTime() - begun.getTime()).toBe(5_000);
  });

  it('ends waits in the order in which they are over, and those together that end together', async () => {
    const session = clock();
    const ended: string[] = [];
    const wait = async (ms: number) => {
      await session.sleep(ms);
      ended.push(`${ms} at ${Math.round(session.now())}`);
    };
    await Promise.all([wait(2_000), wait(1_000), wait(500).then(() => wait(700))]);
    expect(ended).toEqual(['500 at 500', '1000 at 1000', '700 at 1200', '2000 at 2000']);
  });

  it('lets no deadline come true while an answer is on its way', async () => {
    const session = clock();
    const provider = session;
    const server = createServer(async (_, response) => {
      await provider.sleep(4_000);
      response.end('late');
    });
    onTestFinished(() => void server.close());
    const port = await listening(server);
    const over = new AbortController();
    const deadline = session.sleep(5_000, over.signal).then(() => 'too late');
    const answered = new Promise((resolve, reject) => {
      request({ port, host: '127.0.0.1', agent: false }, (response) => {
        response.on('data', (octets: Buffer) => resolve(octets.toString()));
      })
        .on('error', reject)
        .end();
    });
    expect(await Promise.race([deadline, answered])).toBe('late');
    over.abort(new Error('it came'));
    await expect(deadline).rejects.toThrow('it came');
    expect(session.now()).toBeCloseTo(4_000, 0);
  });

  it('passes as elsewhere while another process has a part', async () => {
    const session = clock();
    const { outside } = session;
    let isDone = false;
    const deadline = session.sleep(60_000).then(() => isDone);
    const work = outside(async () => {
      await session.sleep(20);
      await delay(30);
      isDone = true;
    });
    expect(await deadline).toBe(true);
    await work;
  });

  it('stands still once it is stopped', async () => {
    const session = clock();
    const { stop } = session;
    const waited = session.sleep(1_000).then(() => 'woken');
    stop();
    expect(await Promise.race([waited, delay(100).then(() => 'asleep')])).toBe('asleep');
  });

  it('takes no more turns of the event loop once it is stopped, whatever else arrives', async () => {
    const turns = () => process.getActiveResourcesInfo().filter((name) => name === 'Immediate').length;
    const before = turns();
    const session = clock();
    const { port1: here, port2: there } = new MessageChannel();
    onTestFinished(() => here.close());
    there.on('message', () => there.postMessage(''));
    void session.sleep(1_000);
    session.stop();
    for (let events = 0; events < 100; events += 1) {
      here.postMessage('');
      await once(here, 'message');
    }
    expect(turns()).toBeLessThanOrEqual(before);
  });
});
