import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serving } from '../../../harness/base/fixtures/server.ts';
import { shipped } from '../../../harness/config/fixtures/config-folder.ts';
import type { ReferenceName } from '../../../harness/config/service.ts';
import { type Suite, suitesFor } from '../../../harness/engine/check/check.ts';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { startReference } from '../../../harness/reference/reference.ts';
import { suites } from '../../catalogue.ts';
import { framing } from '../../framing/framing.suite.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { amiss, type Judged, judged } from '../fixtures/judged.ts';

/** A service that is in order, but for how long its octets are on their way, if they come at all. */

interface Line {
  /** So long is everything under way, in ms. */
  readonly lateMs?: number;
  /** So long is each KiB under way, in ms. */
  readonly kibMs?: number;
  /** Behind what comes together, one octet follows another so many ms later. */
  readonly octetMs?: number;
  /** After so many connections nothing comes any more. */
  readonly connections?: number;
}

interface Found extends Judged {
  readonly minutes: number;
}

async function found(service: ReferenceName, line: Line, chosen: readonly Suite[]): Promise<Found> {
  const { lateMs = 0, kibMs = 0, octetMs = 0, connections = Number.POSITIVE_INFINITY } = line;
  const { pacts: _, ...of } = await shipped(service);
  const config = { ...of, timeouts: { ...of.timeouts, runMs: 3_600_000 } };
  const { credentials, plan } = config;
  const clock = simulatedClock();
  const provider = await startReference({ service, credentials, plan, clock });
  const { port, hostname: host } = new URL(provider.url);
  let opened = 0;
  const relay = (client: Socket) => {
    const isMute = ++opened > connections;
    const upstream = connect({ port: Number(port), host, noDelay: true });
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    client.setNoDelay(true).on('error', end).on('close', end).pipe(upstream);
    let written: Promise<unknown> = Promise.resolve();
    const write = async (before: Promise<unknown>, octets: Buffer) => {
      await Promise.all([before, clock.sleep(lateMs)]);
      if (kibMs > 0) await clock.sleep((octets.length / 1_024) * kibMs);
      const parts = octetMs === 0 ? [octets] : [...octets].map((octet) => Buffer.of(octet));
      for (const part of parts) {
        if (client.writable && !isMute) client.write(part);
        if (octetMs > 0) await clock.sleep(octetMs);
      }
    };
    upstream.on('error', end);
    upstream.on('data', (octets) => {
      written = write(written, octets);
    });
    upstream.on('end', () => {
      written = Promise.all([written, clock.sleep(lateMs)]).then(() => !isMute && client.end());
    });
  };
  const front = await serving(createServer({ allowHalfOpen: true }, relay));
  onTestFinished(async () => {
    await front.stop();
    await provider.stop();
    clock.stop();
  });
  const fromMs = clock.now();
  const all = await judged(config, suitesFor(chosen, config), {
    url: front.url,
    clock,
    random: () => 0.5,
  });
  return { ...all, minutes: (clock.now() - fromMs) / 60_000 };
}

const blocked = ({ outcomes, messages }: Judged) =>
  Object.keys(outcomes).flatMap((id) => (outcomes[id] === 'blocked' ? (messages[id] ?? '') : []));

describe('a service in order', () => {
  const longest = 'websocket.max-message';
  it.each([
    { service: 'search', line: { lateMs: 3_000 }, chosen: [framing], minutes: 10, said: undefined },
    {
      service: 'realtime',
      line: { lateMs: 3_000 },
      chosen: [websocket],
      minutes: 15,
      said: '1048576 bytes accepted, nothing refused',
    },
    {
      service: 'realtime',
      line: { kibMs: 30 },
      chosen: [websocket],
      minutes: 15,
      said: 'messages come back so slowly that none longer than 65536 bytes was tried',
    },
  ] as const)(
    'on a slow line is found in order: $service, $line',
    async ({ service, line, chosen, minutes, said }) => {
      const all = await found(service, line, chosen);
      expect(amiss(all).map((id) => `${id}: ${all.messages[id]}`)).toEqual([]);
      expect(blocked(all)).toEqual([]);
      expect(all.minutes).toBeLessThan(minutes);
      expect(all.messages[longest]).toBe(said);
    },
  );

  it.each([
    ['that is silent', { connections: 0 }],
    ['of which nothing comes to its end', { octetMs: 1_000 }],
  ] as const)('%s ends the run at once', async (_, line) => {
    const all = await found('realtime', line, suites);
    expect(amiss(all)).toEqual([]);
    expect(new Set(blocked(all))).toEqual(
      new Set([expect.stringContaining('the provider does not answer: no status line and fields')]),
    );
    expect(all.minutes).toBeLessThan(1);
  });

  it.each([
    ['search', '[A-Z]+', 40],
    ['realtime', 'a WebSocket', 110],
    ['realtime', 'a WebSocket', 126],
    ['realtime', '[A-Z]+', 162],
  ] as const)(
    'of which nothing comes any more ends the run, which tells since when: %s, %s, after %i connections',
    async (...args) => {
      const [service, what, connections] = args;
      const all = await found(service, { connections }, suites);
      const told = new RegExp(`it stopped answering after ${what} .*\\(e\\d+\\)$`);
      expect(blocked(all).filter((message) => told.test(message)).length).toBeGreaterThan(40);
      // What it may have died of is told, and nothing else; it may be the last of several requests of one check.
      expect(amiss(all).length).toBeLessThan(2);
      for (const id of amiss(all))
        expect(all.messages[id]).toMatch(/nothing has been served since|got no HTTP answer \(no status line/);
      expect(all.minutes).toBeLessThan(5);
    },
  );
});
