import { describe, expect, it } from 'vitest';
import type { EvidenceView } from '../../results/evidence/evidence-view.ts';
import { findingIn } from '../../results/read-results.ts';
import { offendingLines } from './exchange.ts';

function view(...lines: readonly string[]): EvidenceView {
  return {
    id: 'e1',
    purpose: 'as documented',
    title: 'GET as documented',
    answer: '',
    startedAt: null,
    tookMs: 0,
    omitted: 0,
    lines: lines.map((line) => ({ atMs: 0, direction: line.charAt(0) as '<', text: line.slice(2) })),
  };
}

const EXCHANGE = view(
  '> GET /v1/orders',
  '> Accept: text/html',
  '< HTTP/1.1 100',
  '< HTTP/1.1 200 OK',
  '< Content-Type: text/html',
  '< Date: Thu, 01 Jan 2026 12:00:20 GMT',
  '< Date: Thu, 01 Jan 2026 00:00:00 GMT',
  '< ',
  '< <h1>Orders</h1>',
  '* 15 octets of content',
);
const LOST = view('> GET /v1/orders', '* failed (reset): the connection was closed without an answer');
const CONVERSATION = view(
  '> GET /ws',
  '< HTTP/1.1 101 Switching Protocols',
  '> ping, 4 octets, masked: "here"',
  '< pong, 4 octets: "gone"',
  '< close, 2 octets: 1000 (normal closure)',
  '* waited 100 ms for the end',
);
const BURST = view(
  '> 110 requests one after another with the right credential',
  '< requests 1 to 103: 200',
  '<   RateLimit: limit=100, remaining=0, reset=58',
  '< requests 104 to 110: 429',
  '* 110 requests in 600 ms',
);

describe('the line that shows what came', () => {
  it.each([
    ['a status', 'expected status 401, got status 200 for GET as documented', EXCHANGE, ['HTTP/1.1 200 OK']],
    [
      'a status with more behind it',
      'expected status 401, got 200 with a body',
      EXCHANGE,
      ['HTTP/1.1 200 OK'],
    ],
    [
      'a field',
      'expected a JSON body, got Content-Type text/html for GET as documented',
      EXCHANGE,
      ['Content-Type: text/html'],
    ],
    [
      'each line of a field',
      'expected one line, got Date: "one" and "two" for GET as documented',
      EXCHANGE,
      ['Date: Thu, 01 Jan 2026 12:00:20 GMT', 'Date: Thu, 01 Jan 2026 00:00:00 GMT'],
    ],
    [
      'a body',
      'expected a JSON body, got an unexpected character in the text',
      EXCHANGE,
      ['<h1>Orders</h1>'],
    ],
    [
      'what did not come',
      'expected an Allow field, got none (status 200) for GET as documented',
      EXCHANGE,
      ['HTTP/1.1 200 OK'],
    ],
    ['what is named nowhere', 'expected this, got that', EXCHANGE, ['HTTP/1.1 200 OK']],
    [
      'no response',
      'expected a response, got no whole response (closed) for GET as documented',
      LOST,
      ['failed (reset): the connection was closed without an answer'],
    ],
    [
      'a Pong',
      'expected a Pong with the payload of the Ping, got one with 4 other octets for a WebSocket',
      CONVERSATION,
      ['pong, 4 octets: "gone"'],
    ],
    [
      'a close code',
      'expected the close code 1002, or none, got 1000 (normal closure) for a WebSocket',
      CONVERSATION,
      ['close, 2 octets: 1000 (normal closure)'],
    ],
    [
      'a handshake',
      'expected an HTTP error, got status 101 for a WebSocket',
      CONVERSATION,
      ['HTTP/1.1 101 Switching Protocols'],
    ],
    [
      'what a conversation lacks',
      'expected the connection to end, got nothing for a WebSocket',
      CONVERSATION,
      ['waited 100 ms for the end'],
    ],
    [
      'a request of many',
      'expected the 101st request to be refused, got 104th',
      BURST,
      ['requests 104 to 110: 429'],
    ],
    [
      'a field within a burst',
      'expected remaining to fall, got RateLimit: limit=100',
      BURST,
      ['  RateLimit: limit=100, remaining=0, reset=58'],
    ],
  ] as const)('%s', (_, message, evidence, expected) => {
    const at = offendingLines(findingIn(message, 'search', null), evidence);
    expect([...at].map((index) => evidence.lines[index]?.text)).toEqual(expected);
  });

  it('is none where nothing was said', () => {
    expect(offendingLines(null, view('> GET /'))).toEqual(new Set());
  });
});
