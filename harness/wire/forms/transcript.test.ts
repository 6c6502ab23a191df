import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RecordedFrame } from '../conversation.ts';
import type { Evidence } from '../evidence.ts';
import {
  exampleBody,
  exampleBurst,
  exampleConversation,
  exampleExchange,
  exampleFrame,
  exampleRequest,
  exampleResponse,
} from '../fixtures/example-evidence.ts';
import { transcript } from './transcript.ts';

const textOf = (evidence: Evidence) =>
  transcript(evidence).map(({ atMs, direction, text }) => `${atMs} ${direction} ${text}`.trimEnd());

describe('transcript', () => {
  it('tells an exchange', () => {
    expect(textOf(exampleExchange())).toEqual([
      '2 * connected to 127.0.0.1:8080',
      '2 > GET /v1/resources',
      '2 > Host: 127.0.0.1:8080',
      '2 > User-Agent: conform/1',
      '2 > Accept: application/json',
      '2 > Authorization: Bearer [redacted:SEARCH_API_KEY]',
      '10 < HTTP/1.1 200 OK',
      '10 < Date: Sat, 21 Nov 2026 12:00:00 GMT',
      '10 < Content-Type: application/json',
      '10 <',
      '10 < {"data":[]}',
      '12 * 11 octets of content',
    ]);
  });

  it('tells failures, early responses, trailers and framing faults', () => {
    const response = exampleResponse({
      fields: [],
      body: exampleBody(''),
      informational: [{ status: 103, fields: [['Link', '</a>']] }],
      trailers: [['X-End', '1']],
      framingFaults: ['bare LF'],
    });
    const failure = { kind: 'closed', message: 'the connection was closed within the body' } as const;
    expect(textOf(exampleExchange({ response, failure })).slice(6)).toEqual([
      '10 < HTTP/1.1 103',
      '10 < Link: </a>',
      '10 < HTTP/1.1 200 OK',
      '10 * trailers:',
      '10 < X-End: 1',
      '10 * framing: bare LF',
      '12 * failed (closed): the connection was closed within the body',
    ]);
    const refusal = { kind: 'refused', message: 'nothing listens' } as const;
    expect(textOf(exampleExchange({ response: null, failure: refusal })).at(-1)).toBe(
      '12 * failed (refused): nothing listens',
    );
  });

  it('shows content decoded, in lines, and says when it is an excerpt', () => {
    const gzip = exampleResponse({
      fields: [['Content-Encoding', 'gzip']],
      body: exampleBody(new Uint8Array(zlib.gzipSync('{\n  "a": 1\n}'))),
    });
    expect(textOf(exampleExchange({ response: gzip })).slice(8, -1)).toEqual([
      '10 <',
      '10 * decoded from gzip:',
      '10 < {',
      '10 <   "a": 1',
      '10 < }',
    ]);
    const binary = exampleResponse({ fields: [], body: exampleBody(Uint8Array.of(0xff, 0xfe, 0)) });
    expect(textOf(exampleExchange({ response: binary })).slice(-3)).toEqual([
      '10 < ff fe 00',
      '10 * … an excerpt of 3 octets',
      '12 * 3 octets of content',
    ]);
  });

  it('tells a conversation', () => {
    const close = new Uint8Array([0x03, 0xe8, ...Buffer.from('bye')]);
    const framed = (atMs: number, from: 'client' | 'server', frame: RecordedFrame) =>
      ({ atMs, from, type: 'frame', frame }) as const;
    const conversation = exampleConversation({
      events: [
        framed(15, 'client', exampleFrame(1, 'hello', { masked: true, fin: false })),
        framed(16, 'server', exampleFrame(2, Uint8Array.of(0xff, 1), { rsv: 4 })),
        framed(17, 'server', exampleFrame(3, '')),
        framed(18, 'server', exampleFrame(1, 'x', { length: 70_000, truncated: true })),
        framed(19, 'server', exampleFrame(8, close)),
        framed(20, 'server', exampleFrame(8, '')),
        { atMs: 21, from: 'client', type: 'octets', octets: Uint8Array.of(0x80), note: 'half a frame' },
        { atMs: 22, from: 'client', type: 'waited', forMs: 500, note: 'for the end' },
        { atMs: 522, from: 'server', type: 'end' },
        { atMs: 523, from: 'server', type: 'reset' },
      ],
    });
    expect(textOf(conversation).slice(-10)).toEqual([
      '15 > text, 5 octets, more to follow, masked: "hello"',
      '16 < binary, 2 octets, reserved bits 100: ff 01',
      '17 < reserved opcode 3, 0 octets',
      '18 < text, 70000 octets: "x" … (recorded in part)',
      '19 < close, 5 octets: 1000 (normal closure) "bye"',
      '20 < close, 0 octets',
      '21 > 1 octets 80 (half a frame)',
      '22 * waited 500 ms for the end',
      '522 < end of the TCP connection',
      '523 < TCP connection reset',
    ]);
    expect(textOf(conversation)).toContain('10 < HTTP/1.1 101 Switching Protocols');
  });

  it('tells a burst in runs of equal answers', () => {
    expect(textOf(exampleBurst())).toEqual([
      '0 > 5 requests one after another with the right credential, after 2 in the same window',
      '0 < requests 1 to 3: 200',
      '0 <   X-RateLimit-Remaining: 2',
      '20 <   … request 3:',
      '20 <   X-RateLimit-Remaining: 0',
      '30 < requests 4 to 5: 429',
      '30 <   X-RateLimit-Remaining: 0',
      '40 <   … request 5:',
      '40 <   X-RateLimit-Remaining: 0',
      '12 * the first refusal is e4',
      '12 * 5 requests in 12 ms',
    ]);
  });

  it('is bounded, and each line is one line without control characters, whatever was sent', () => {
    const hostile = '\u001b]0;x\u0007\r\n\u202e';
    const evidence = exampleExchange({
      request: exampleRequest({ method: hostile, target: hostile }),
      response: exampleResponse({
        reason: hostile,
        fields: Array.from({ length: 1000 }, () => [hostile, hostile.repeat(1000)] as const),
        body: exampleBody(`${hostile}\n`.repeat(50_000)),
      }),
    });
    const lines = transcript(evidence);
    expect(lines).toHaveLength(400);
    expect(lines.at(-1)?.text).toMatch(/^… \d+ more lines$/);
    for (const { text } of lines) {
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(text.length).toBeLessThanOrEqual(1001);
    }
  });
});
