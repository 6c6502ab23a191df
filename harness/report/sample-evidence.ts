import type { Burst } from '../evidence/burst.ts';
import type { Conversation, RecordedFrame } from '../evidence/conversation.ts';
import type { Evidence } from '../evidence/evidence.ts';
import type { EvidenceId, Exchange, FieldLine, Timing } from '../evidence/exchange.ts';

/** Evidence for tests: every kind of it, and a provider that means harm in every text. */

/** What a hostile provider may put into every text that it controls. */
export const HOSTILE = [
  '<script>globalThis.pwned = true</script>',
  '"><img src=x onerror="globalThis.pwned=true">',
  "'; alert(1); //",
  ']]>',
  '--><!--',
  '\u0000\u0007\u001b[31mred\u001b[0m\u001b]8;;http://evil.example\u0007link\u001b]8;;\u0007',
  '\ud800 lone \udfff surrogates',
  '\ufffe\uffff',
  '\u202egnp.exe\u2066\u200b',
  '`````` | pipes | and ```fences```',
  '@someone #1 [link](javascript:alert(1)) $x$',
  'line\nbreak\r\nand\ttab\u2028separator',
].join(' ');

/** Unix time in ms at which the sample's first request was sent. */
export const START = Date.parse('2026-11-21T06:38:14.120Z');
export const KEY_NAME = 'EXAMPLE_API_KEY';

function timing(startedMs: number, durationMs = 12): Timing {
  return {
    startedAt: new Date(START + startedMs).toISOString(),
    startedMs,
    connectMs: startedMs === 0 ? 2 : null,
    responseMs: durationMs - 1,
    durationMs,
  };
}

// Ids are branded where they are minted, and a test mints its own.
const evidenceId = (id: string) => id as EvidenceId;

const utf8 = (text: string) => Buffer.from(text);

interface ExchangeSketch {
  readonly id: string;
  readonly purpose: string;
  readonly target: string;
  readonly status: number | null;
  readonly body?: string;
  readonly fields?: readonly FieldLine[];
  readonly startedMs?: number;
}

function exchange({
  id,
  purpose,
  target,
  status,
  body = '',
  fields = [],
  startedMs = 0,
}: ExchangeSketch): Exchange {
  const bytes = utf8(body);
  return {
    kind: 'exchange',
    id: evidenceId(id),
    purpose,
    credential: 'right',
    request: {
      method: 'GET',
      url: `http://127.0.0.1:8080${target}`,
      target,
      fields: [
        ['Host', '127.0.0.1:8080'],
        ['Authorization', `Bearer [redacted:${KEY_NAME}]`],
        ['Content-Type', 'application/json'],
      ],
      body: null,
    },
    response:
      status === null
        ? null
        : {
            status,
            reason: status === 200 ? 'OK' : 'Refused',
            httpVersion: '1.1',
            fields: [['Content-Type', 'application/json'], ...fields],
            trailers: [],
            body: { bytes, received: bytes.length, truncated: false },
            informational: [],
            framingFaults: null,
          },
    failure: status === null ? { kind: 'reset', message: 'the connection was reset' } : null,
    timing: timing(startedMs),
  };
}

function frame(opcode: number, text: string, masked: boolean): RecordedFrame {
  const payload = utf8(text);
  return {
    fin: true,
    rsv: 0,
    opcode,
    masked,
    length: payload.length,
    lengthOctets: 0,
    payload,
    truncated: false,
  };
}

export function conversation(id: string): Conversation {
  const handshake = exchange({ id, purpose: 'opening handshake', target: '/ws', status: 101 });
  return {
    kind: 'conversation',
    id: evidenceId(id),
    purpose: 'a ping with a payload',
    credential: 'right',
    handshake: {
      request: handshake.request,
      response: handshake.response,
      expectedAccept: 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
    },
    events: [
      { atMs: 14, from: 'client', type: 'frame', frame: frame(9, 'are you there', true) },
      { atMs: 16, from: 'server', type: 'frame', frame: frame(10, 'are you there', false) },
      { atMs: 17, from: 'client', type: 'octets', octets: utf8('\u00ff\u00fe'), note: 'reserved opcode 0xB' },
      { atMs: 30, from: 'client', type: 'waited', forMs: 13, note: 'for the close frame' },
      { atMs: 31, from: 'server', type: 'end' },
    ],
    failure: null,
    timing: timing(900, 31),
  };
}

/** A quota that shrinks by one with each request, told as of draft 07. */
function quotaFields(admitted: number, index: number): readonly FieldLine[] {
  const left = Math.max(0, admitted - index - 1);
  const told: FieldLine = ['RateLimit', `limit=${admitted}, remaining=${left}, reset=58`];
  return index < admitted ? [told] : [told, ['Retry-After', '58']];
}

export function burst(id: string, startedMs: number, admitted: number, sent: number): Burst {
  return {
    kind: 'burst',
    id: evidenceId(id),
    purpose: 'requests until the first refusal, then until it is served again',
    credential: 'right',
    mode: 'serial',
    before: 9,
    entries: [
      ...Array.from({ length: sent }, (_, index) => ({
        index: index + 1,
        sentMs: startedMs + index * 11,
        durationMs: 9,
        status: index < admitted ? 200 : 429,
        fields: quotaFields(admitted, index),
        failure: null,
      })),
      { index: sent + 1, sentMs: startedMs + 60_200, durationMs: 9, status: 200, fields: [], failure: null },
    ],
    refusal: null,
    timing: timing(startedMs, 60_210),
  };
}

/** What every service of the sample was asked. */
export const COMMON_EVIDENCE: readonly Evidence[] = [
  exchange({
    id: 'e1',
    purpose: 'the documented sample request',
    target: '/v1/resources',
    status: 200,
    body: '{"resources":[{"id":"r1","title":"Vector index"},{"id":"r2","title":"Semantic ranking"}]}',
    fields: [['RateLimit-Remaining', '99']],
  }),
  exchange({
    id: 'e2',
    purpose: 'a wrong credential',
    target: '/v1/resources',
    status: 401,
    body: '{"title":"Unauthorized"}',
    startedMs: 40,
  }),
  exchange({
    id: 'e3',
    purpose: 'an unknown path',
    target: '/v1/nowhere',
    status: 404,
    body: '{"title":"Not Found"}',
    startedMs: 80,
  }),
  exchange({
    id: 'e4',
    purpose: 'no credential',
    target: '/v1/resources',
    status: 200,
    body: '{"resources":[]}',
    startedMs: 120,
  }),
];

export const HOSTILE_EXCHANGE = exchange({
  id: 'e5',
  purpose: HOSTILE,
  target: '/v1/resources',
  status: 200,
  body: `${HOSTILE}\n${'A'.repeat(100_000)}`,
  fields: [['X-Hostile', HOSTILE]],
  startedMs: 160,
});
