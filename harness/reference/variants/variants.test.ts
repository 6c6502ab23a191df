import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Settings } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { portOf } from '../../base/loopback.ts';
import { http2 } from '../../base/node-http.ts';
import type { ReferenceName } from '../../config/service.ts';
import { onAnswer } from '../behavior/patches/patch.ts';
import { listVariants } from '../catalogue.ts';
import { type Asked, ask, KEY, start, VirtualClock } from '../fixtures/http-client.ts';
import { converse } from '../fixtures/websocket-client.ts';
import { fieldValue, withField } from '../http/message.ts';
import type { ReferenceOptions, RunningReference } from '../reference.ts';

/** How a variant is seen that the proof does not see: what a client gets without it, and with it. */
interface Sighting {
  /** Search unless given. */
  readonly service?: ReferenceName;
  readonly options?: Partial<ReferenceOptions>;
  readonly see: (provider: RunningReference, clock: VirtualClock) => Promise<unknown>;
  readonly usual: unknown;
  readonly other: unknown;
}

/** The statuses of several requests, one after the other. */
function answers(all: readonly Asked[], usual: readonly number[], other: readonly number[]): Sighting {
  const see = async (provider: RunningReference) => {
    const seen: number[] = [];
    for (const asked of all) seen.push((await ask(provider, asked)).status);
    return seen;
  };
  return { see, usual, other };
}

const at = (target: string) => answers([{ target }], [404], [200]);

/** What is told of a limit of an hour, a minute after so many requests. */
function longerLimit(requests: number, usual: string, other: string): Sighting {
  return {
    options: {
      plan: { requests: 10, windowMs: 60_000, further: [{ requests: 60, windowMs: 3_600_000 }] },
    },
    see: async (provider, clock) => {
      for (let index = 0; index < requests; index += 1) await ask(provider);
      clock.advance(60_000);
      return (await ask(provider)).field('ratelimit');
    },
    usual: `"default";r=9;t=60, "further-1";${usual}`,
    other: `"default";r=9;t=60, "further-1";${other}`,
  };
}

/** A setting that the server names in its first frame of HTTP/2. */
function settingOf(name: keyof Settings, usual: number, other: number): Sighting {
  return {
    options: { http2: true },
    see: async (provider) => {
      const session = http2().connect(provider.url);
      const [settings] = await once(session, 'remoteSettings');
      session.destroy();
      return settings[name];
    },
    usual,
    other,
  };
}

const SIGHTINGS: Readonly<Record<string, Sighting>> = {
  'merges-slashes': at('//v1//resources'),
  'removes-dot-segments': at('/x/../v1/%2e/resources'),
  'cuts-matrix-parameters': at('/v1;a=1/resources;b'),
  'cuts-fragments': at('/v1/resources#a'),
  'takes-format-suffix': at('/v1/resources.json'),
  'takes-encoded-slashes': at('/v1%2fresources'),
  'takes-backslashes': at('/v1%5cresources'),
  'trims-paths': at('/v1/resources.%20'),
  'cuts-paths-at-encoded-marks': at('/v1/resources%3fa'),
  'removes-parents-with-parameters': at('/x/..;a/v1/resources'),
  'compares-decoded-keys': answers(
    [{ authorization: `Bearer ${KEY.slice(0, KEY.length - (KEY.length % 4 === 1 ? 1 : 0))}=` }],
    [401],
    [200],
  ),
  'method-before-auth': answers(
    ['GET', 'DELETE', 'BREW'].map((method) => ({ authorization: null, method })),
    [401, 401, 401],
    [401, 405, 501],
  ),
  'cgi-drops-underscored-fields': {
    options: {
      patches: [
        onAnswer('served', (answer, request) =>
          withField(answer, 'X-Came', fieldValue(request, 'x_conform') ?? 'nothing'),
        ),
      ],
    },
    see: async (provider) => (await ask(provider, { fields: [['X_Conform', 'it']] })).field('x-came'),
    usual: 'it',
    other: 'nothing',
  },
  'counts-handshakes': {
    service: 'realtime',
    options: { plan: { requests: 2, windowMs: 60_000 } },
    see: async (provider) => {
      for (let index = 0; index < 3; index += 1) await ask(provider);
      return (await converse(provider)).head.status;
    },
    usual: 101,
    other: 429,
  },
  'goaway-after-some-requests': {
    options: { http2: true },
    see: async (provider) => {
      const session = http2().connect(provider.url);
      let answered = 0;
      while (answered < 9 && !session.closed) {
        const stream = session.request({ ':path': '/' }).resume();
        stream.once('response', () => {
          answered += 1;
        });
        await once(stream, 'close');
      }
      session.destroy();
      return answered;
    },
    usual: 9,
    other: 5,
  },
  'one-stream-at-a-time': settingOf('maxConcurrentStreams', 4_294_967_295, 1),
  'narrow-windows-in-http2': settingOf('initialWindowSize', 65_535, 64),
  'longer-limit-by-bucket': longerLimit(5, 'r=54;t=3540', 'r=55;t=60'),
  'longer-limit-counts-refusals': longerLimit(12, 'r=49;t=3540', 'r=47;t=3540'),
  'webhook-takes-its-time': {
    service: 'realtime',
    see: async (provider, clock) => {
      const waitsMs: number[] = [];
      clock.sleep = async (ms) => void waitsMs.push(ms);
      let attempts = 0;
      const receiver = createServer((request, response) => {
        request.resume();
        attempts += 1;
        response.writeHead(attempts === 1 ? 503 : 200, { Connection: 'close' }).end();
        if (attempts === 2) receiver.close();
      }).listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      const body = JSON.stringify({ url: `http://127.0.0.1:${portOf(receiver)}/` });
      await ask(provider, { method: 'POST', target: '/webhooks', body });
      await once(receiver, 'close');
      // As it was then: the service may be ended before it has read the last answer.
      return [...waitsMs];
    },
    usual: [400],
    other: [4_000],
  },
};

/** What is seen of a service. Rejects when the service itself failed. */
async function sightingOf(
  { service = 'search', options, see }: Sighting,
  variant: string | null,
): Promise<unknown> {
  const clock = new VirtualClock(Date.UTC(2026, 2, 2, 10));
  const provider = await start(service, { clock, variant, ...options });
  const seen = await see(provider, clock).finally(() => provider.stop());
  const [fault] = provider.faults;
  if (fault !== undefined) throw fault;
  return seen;
}

// The proof notices each of the others that does nothing.
describe('the variants that leave no trace in the proof', () => {
  it('are shown here', () => {
    const unseen = listVariants().filter(({ unseen }) => unseen !== undefined);
    expect(Object.keys(SIGHTINGS).sort()).toEqual(unseen.map(({ name }) => name).sort());
  });

  it.each(Object.entries(SIGHTINGS))('%s does what it says', async (variant, sighting) => {
    expect(await sightingOf(sighting, null)).toEqual(sighting.usual);
    expect(await sightingOf(sighting, variant)).toEqual(sighting.other);
  });
});
