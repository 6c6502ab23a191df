import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { listen } from '../fixtures/loopback.ts';
import { about, GET, setting } from '../fixtures/setting.ts';
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
