import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from '../../harness/base/fixtures/properties.ts';
import { mayUse } from '../../harness/engine/fixtures/system-tools.ts';
import { CHROMIUM, CHROMIUM_ARGUMENTS } from '../../harness/report/fixtures/chromium.ts';
import type { ServerSentEvent } from '../../harness/wire/stream/part.ts';
import { streamParts } from '../../harness/wire/stream/stream.ts';

const STREAMS = 240;
const TYPE = 'text/event-stream';

/** Octets of what a stream is made of, and of what it should not hold. */
const tokens = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n', '\n\r') },
  {
    weight: 6,
    arbitrary: fc.constantFrom('data: ', 'data:', 'data', 'event: ', 'event:', 'id: ', 'id:', 'id', 'event'),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom('data: a\n\n', 'id: 7\ndata: b\r\n\r\n', 'event: tick\rdata: c\r\r'),
  },
  { weight: 4, arbitrary: fc.constantFrom('tick', 'a', 'é', '€', '😀', '7', '{"n":1}', 'message') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(':', ' ', ': ping', '  ', '\t', 'other: x', 'Data: x', ' data: x'),
  },
  { weight: 1, arbitrary: fc.constantFrom('\u{feff}', '\0', '\u{2028}', '\u{85}', '\v', '\f') },
);
const malformed = fc.constantFrom(
  [0xff],
  [0xc3],
  [0xe2, 0x82],
  [0xf0, 0x9f, 0x98],
  [0xed, 0xa0, 0x80],
  [0xc0, 0xaf],
);
const piece = fc.oneof(
  { weight: 12, arbitrary: tokens.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: malformed.map((octets) => Buffer.from(octets)) },
);

interface Stream {
  readonly octets: Buffer;
  /** The octets of each write. */
  readonly sizes: readonly number[];
}

const streams: fc.Arbitrary<Stream> = fc
  .tuple(
    fc.constantFrom('', '', '\u{feff}', '\u{feff}\u{feff}'),
    fc.array(piece, { maxLength: 60, size: 'max' }),
    fc.constantFrom('', '\n\n', '\r\n\r\n', '\r\r', '\r'),
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }),
  )
  .map(([start, pieces, end, sizes]) => ({
    octets: Buffer.concat([Buffer.from(start), ...pieces, Buffer.from(end)]),
    sizes,
  }))
  // Chromium does not see a line end right behind the byte order mark, where the standard has an empty line.
  .filter(({ octets }) => !/^\u{feff}[\r\n]/u.test(octets.toString('utf8')));

const eventsOf = ({ octets }: Stream): readonly ServerSentEvent[] =>
  streamParts(TYPE, octets, true).flatMap(({ event }) => event ?? []);

function serving(all: readonly Stream[]): Server {
  return createServer(async ({ url = '' }, response) => {
    const stream = all[Number(url.slice('/stream/'.length))];
    if (!url.startsWith('/stream/') || stream === undefined) {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>streams</title>');
      return;
    }
    response.writeHead(200, { 'Content-Type': TYPE, 'Cache-Control': 'no-store' });
    for (let [at, turn] = [0, 0]; at < stream.octets.length; turn += 1) {
      const size = stream.sizes[turn % stream.sizes.length] ?? 1;
      response.write(stream.octets.subarray(at, at + size));
      at += size;
      await setImmediate();
    }
    response.end();
  });
}

const present = mayUse(CHROMIUM);

describe.skipIf(!present)(
  `EventSource of a browser${present ? '' : ` (${CHROMIUM} is missing: install chromium)`}`,
  () => {
    const all = fc.sample(streams, STREAMS);
    const expected = all.map(eventsOf);
    const server = serving(all);
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGUMENTS });
      page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    });
    afterAll(async () => {
      await browser?.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });

    it(`reads the same events from ${STREAMS} streams`, async () => {
      const types = [...new Set(['message', 'tick', ...expected.flat().map(({ type }) => type)])];
      const seen = await page.evaluate(readStreams, { count: STREAMS, types });
      const shown = (events: readonly ServerSentEvent[], at: number) => ({
        stream: all[at]?.octets.toString('latin1'),
        events,
      });
      expect(seen.map(shown)).toEqual(expected.map(shown));
      expect(expected.flat().length).toBeGreaterThan(2 * STREAMS);
    });
  },
);

/** In the page: each stream to its end, at which a browser would connect again. */
async function readStreams({
  count,
  types,
}: {
  readonly count: number;
  readonly types: readonly string[];
}): Promise<readonly (readonly ServerSentEvent[])[]> {
  const one = (index: number) =>
    new Promise<readonly ServerSentEvent[]>((resolve) => {
      const events: ServerSentEvent[] = [];
      const source = new EventSource(`/stream/${index}`);
      for (const type of types) {
        source.addEventListener(type, (event) => {
          const { data, lastEventId } = event as MessageEvent;
          events.push({ type, data: String(data), lastEventId });
        });
      }
      source.onerror = () => {
        source.close();
        resolve(events);
      };
    });
  const all: (readonly ServerSentEvent[])[] = [];
  for (let index = 0; index < count; index += 1) all.push(await one(index));
  return all;
}
