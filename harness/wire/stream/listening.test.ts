import { describe, expect, it } from 'vitest';
import type { Exchange } from '../exchange.ts';
import { listen } from '../fixtures/loopback.ts';
import { about, GET, impatient, knowingSecret, SECRET, setting } from '../fixtures/setting.ts';
import { sendRaw } from '../http/raw.ts';
import type { TransportOptions } from '../socket/options.ts';
import type { Listening } from './listening.ts';

const head = (type: string, more = '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n${more}\r\n`;
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const EVENTS = head('text/event-stream');

/** The exchange with a server that sends these octets; it ends the connection only with `ends`. */
async function heard(
  octets: string,
  { items = 3, forMs = 2_000 }: Partial<Listening> = {},
  overrides: Partial<TransportOptions> & { readonly ends?: boolean } = {},
): Promise<Exchange> {
  const { ends = false, ...options } = overrides;
  const server = await listen((socket) =>
    socket.once('data', () => (ends ? socket.end(octets) : socket.write(octets))),
  );
  const form = { listen: { items, forMs } };
  return sendRaw(setting(server.url, { ...impatient(), ...options }), GET, form, about());
}

const text = ({ response }: Exchange) => Buffer.from(response?.body.bytes ?? []).toString('utf8');

describe('a stream without an end', () => {
  it('is left once enough items have come', async () => {
    const exchange = await heard(`${EVENTS}${chunk('data: 1\n\n: x\n\ndata: 2\n\ndata: 3\n\ndata: 4')}`);
    expect(exchange).toMatchObject({ failure: null, stream: { left: 'items' } });
    expect(exchange.stream?.arrivals).toHaveLength(4);
    expect(text(exchange)).toBe('data: 1\n\n: x\n\ndata: 2\n\ndata: 3\n\n');
    expect(exchange.response?.body.truncated).toBe(true);
  });

  it('is left once enough time has passed, later than the deadline of a response', async () => {
    const exchange = await heard(`${EVENTS}${chunk('data: 1\n\n')}`);
    expect(exchange).toMatchObject({ failure: null, stream: { left: 'time' } });
    expect(exchange.stream?.arrivals).toHaveLength(1);
    expect(exchange.timing.durationMs).toBeGreaterThanOrEqual(2_000);
  });

  it('is left at its head where that is enough', async () => {
    const exchange = await heard(`${EVENTS}`, { forMs: 0 });
    expect(exchange).toMatchObject({ response: { status: 200 }, failure: null, stream: { left: 'time' } });
  });

  it('is left where it has no items, but octets without an end', async () => {
    const exchange = await heard(`${EVENTS}${chunk('x'.repeat(60_000))}`);
    expect(exchange).toMatchObject({ failure: null, stream: { arrivals: [], left: 'octets' } });
    expect(text(exchange)).toBe('');
  });

  it.each(['text/plain', 'nonsense'])('is left where it says that it is %s', async (type) => {
    const exchange = await heard(`${head(type)}${chunk('data: 1\n\n')}`);
    expect(exchange).toMatchObject({ failure: null, stream: { arrivals: [], left: 'time' } });
  });

  it('is not decoded as it comes', async () => {
    const coded = head('text/event-stream', 'Content-Encoding: gzip\r\n');
    expect(await heard(`${coded}${chunk('data: 1\n\n')}`)).toMatchObject({
      failure: null,
      stream: { arrivals: [], left: 'time' },
    });
  });

  it('leaves no part of a secret behind', async () => {
    const cut = SECRET.slice(0, -3);
    const exchange = await heard(`${EVENTS}${chunk(`data: ${SECRET}\n\ndata: ${cut}`)}`, {}, knowingSecret());
    expect(text(exchange)).toBe('data: [redacted:TEST_KEY]\n\n');
  });
});

describe('a stream that ends', () => {
  it('is whole', async () => {
    const exchange = await heard(`${EVENTS}${chunk('data: 1\n\n')}0\r\n\r\n`);
    expect(exchange).toMatchObject({ failure: null, response: { body: { truncated: false } } });
    expect(exchange.stream).toEqual({ arrivals: [expect.any(Number)] });
  });

  it('without the end of its chunks has broken off', async () => {
    const exchange = await heard(`${EVENTS}${chunk('data: 1\n\n')}`, {}, { ends: true });
    expect(exchange.failure).toMatchObject({ kind: 'closed' });
    expect(exchange.stream?.left).toBeUndefined();
  });
});

describe('another response', () => {
  it('is read as usual', async () => {
    const exchange = await heard('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}');
    expect(exchange).toMatchObject({ failure: null, response: { status: 401 } });
    expect(exchange.stream).toBeUndefined();
    expect(text(exchange)).toBe('{}');
  });

  it('that never ends is given up', async () => {
    const exchange = await heard('HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\n\r\n{}');
    expect(exchange.failure?.kind).toBe('response-timeout');
  });
});
