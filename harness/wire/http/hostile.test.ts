import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import type { ExchangeFailureKind } from '../exchange.ts';
import { inEachWay } from '../fixtures/each-way.ts';
import { ending, type Handler, listen, writing } from '../fixtures/loopback.ts';
import { about, GET, impatient, setting } from '../fixtures/setting.ts';
import { openHttp } from './http-client.ts';
import { sendRaw } from './raw.ts';

/** Answers that are nearly HTTP, in pieces; the connection ends after them. */
const answer = fc
  .tuple(
    fc.constantFrom(
      'HTTP/1.1 200 OK',
      'HTTP/1.1 204 ',
      'HTTP/1.0 404',
      'HTTP/1.1 100 Continue',
      'HTTP/1.1 101 X',
      'HTTP/1.1 999 X',
      'HTTP/9 x',
      '',
    ),
    fc.array(
      fc.constantFrom(
        'Content-Length: 2',
        'Content-Length: 5',
        'Content-Length: x',
        'Transfer-Encoding: chunked',
        'Connection: close',
        'Connection: Upgrade',
        'Upgrade: x',
        'X : y',
        ' fold',
        'X: \0',
        'X: ok',
      ),
      { maxLength: 4 },
    ),
    fc.constantFrom('\r\n', '\r\n', '\n'),
    fc.constantFrom(
      '{}',
      '2\r\n{}\r\n0\r\n\r\n',
      '2\r\n{}\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}',
      '',
    ),
    fc.uint8Array({ maxLength: 5 }),
  )
  .map(([status, fields, end, body, rest]) =>
    Buffer.concat([Buffer.from([status, ...fields, '', body].join(end), 'latin1'), rest]),
  );

describe('whatever a provider answers', () => {
  it('both clients come to an end with it, and where the ordinary one is content they agree', async () => {
    let next = Buffer.alloc(0);
    let cut = 0;
    const server = await listen((socket) =>
      socket.once('data', () => {
        socket.write(next.subarray(0, cut));
        setImmediate(() => socket.end(next.subarray(cut)));
      }),
    );
    const options = setting(server.url);
    const http = openHttp(options);
    await fc.assert(
      fc.asyncProperty(answer, fc.nat(60), async (octets, at) => {
        next = octets;
        cut = at;
        const ordinary = await http.send(GET, about());
        const raw = await sendRaw(options, GET, {}, about());
        expect(ordinary.failure?.kind).not.toBe('response-timeout');
        expect(raw.failure?.kind).not.toBe('response-timeout');
        if (ordinary.failure) return;
        expect(raw.failure).toBeNull();
        const essence = ({ response }: typeof raw) =>
          response && { status: response.status, fields: response.fields, body: [...response.body.bytes] };
        expect(essence(ordinary)).toEqual(essence(raw));
      }),
      { numRuns: 300 },
    );
    await http.close();
  });
});

describe('what a provider does wrong becomes a failure, never an exception, in whatever way it is asked', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\n';
  const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
  const INTERIM = 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100);

  it.each<[string, ExchangeFailureKind, number | null, Handler]>([
    ['resets without an answer', 'reset', null, (socket) => socket.resetAndDestroy()],
    ['closes without an answer', 'closed', null, (socket) => socket.end()],
    ['closes within the head', 'closed', null, ending(`${HEAD}X-A`)],
    ['closes within the body', 'closed', 200, ending(`${HEAD}Content-Length: 9\r\n\r\n{}`)],
    ['closes before the final chunk', 'closed', 200, ending(`${CHUNKED}2\r\n{}\r\n`)],
    [
      'resets within the body',
      'reset',
      200,
      (socket) =>
        socket.write(`${HEAD}Content-Length: 9\r\n\r\n{}`, () =>
          setImmediate(() => socket.resetAndDestroy()),
        ),
    ],
    ['is silent', 'response-timeout', null, () => undefined],
    ['stops within the head', 'response-timeout', null, writing(`${HEAD}X-A`)],
    ['stops within the body', 'response-timeout', 200, writing(`${HEAD}Content-Length: 9\r\n\r\n{}`)],
    [
      'drips, which does not pass for progress',
      'response-timeout',
      200,
      (socket) => {
        socket.write(`${HEAD}\r\n`);
        const drip = setInterval(() => socket.write('x'), 10);
        socket.on('close', () => clearInterval(drip));
      },
    ],
    ['is no HTTP server', 'malformed', null, writing('SSH-2.0-OpenSSH_9.2\r\n')],
    ['answers octets', 'malformed', null, writing(Buffer.from([0, 1, 2, 0xff, 10, 10]))],
    ['sends a bad chunk size', 'malformed', 200, writing(`${CHUNKED}zz\r\n`)],
    [
      'contradicts itself on the length',
      'malformed',
      200,
      writing(`${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`),
    ],
    ['sends a field without end', 'fields-too-large', null, writing(`${HEAD}X: ${'a'.repeat(100_000)}`)],
    ['sends a megabyte of fields', 'fields-too-large', null, writing(HEAD + 'X-A: a\r\n'.repeat(130_000))],
    [
      'sends interim responses without end',
      'fields-too-large',
      null,
      (socket) => {
        const more = () => {
          if (!socket.destroyed) socket.write(INTERIM, () => setImmediate(more));
        };
        more();
      },
    ],
    ['sends a body without end', 'body-too-large', 200, writing(`${HEAD}\r\n${'a'.repeat(100_000)}`)],
  ])('%s: %s', async (_what, kind, status, answer) => {
    const server = await listen((socket, index) => socket.once('data', () => answer(socket, index)));
    const limited = { limits: { bodyBytes: 1000 }, ...(kind === 'response-timeout' && impatient()) };
    for (const { failure, response, timing } of await inEachWay(setting(server.url, limited))) {
      expect([failure?.kind, response?.status ?? null]).toEqual([kind, status]);
      const deadlineMs = kind !== 'response-timeout' ? 0 : status === null ? 400 : 500;
      expect(timing.durationMs).toBeGreaterThanOrEqual(deadlineMs);
    }
  });

  it('speaks first: malformed', async () => {
    const { url } = await listen((socket) => socket.write('220 mail.example ESMTP\r\n'));
    const malformed = { response: null, failure: { kind: 'malformed' } };
    expect(await inEachWay(setting(url))).toMatchObject(Array(3).fill(malformed));
  });

  it('does not listen: refused', async () => {
    const { url, stop } = await listen(() => undefined);
    await stop();
    const refused = { response: null, failure: { kind: 'refused' }, timing: { connectMs: null } };
    expect(await inEachWay(setting(url))).toMatchObject(Array(3).fill(refused));
  });

  it('is on another machine, and would be sent a credential over plain http: not-sent', async () => {
    const sent = await inEachWay(setting('http://service.example'), { credential: 'right' });
    expect(sent).toMatchObject(Array(3).fill({ response: null, failure: { kind: 'not-sent' } }));
  });
});
