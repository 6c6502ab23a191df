import type { Burst } from './burst.ts';
import type { Conversation, RecordedFrame } from './conversation.ts';
import type {
  EvidenceId,
  Exchange,
  RecordedBody,
  RecordedRequest,
  RecordedResponse,
  Timing,
} from './exchange.ts';

/** Small pieces of evidence for tests, each member of which can be replaced. */

function isId(text: string): text is EvidenceId {
  return /^e\d+$/.test(text);
}

export function exampleId(text: string): EvidenceId {
  if (!isId(text)) throw new Error(`not an evidence id: ${text}`);
  return text;
}

export function octetsOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text));
}

export function exampleBody(content: string | Uint8Array): RecordedBody {
  const bytes = typeof content === 'string' ? octetsOf(content) : content;
  return { bytes, received: bytes.length, truncated: false };
}

const TIMING: Timing = {
  startedAt: '2026-11-21T12:00:00.000Z',
  startedMs: 1000,
  connectMs: 2,
  responseMs: 10,
  durationMs: 12,
};

export function exampleRequest(request: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    method: 'GET',
    url: 'http://127.0.0.1:8080/v1/resources',
    target: '/v1/resources',
    fields: [
      ['Host', '127.0.0.1:8080'],
      ['User-Agent', 'conform/1'],
      ['Accept', 'application/json'],
      ['Authorization', 'Bearer [redacted:SEARCH_API_KEY]'],
    ],
    body: null,
    ...request,
  };
}

export function exampleResponse(response: Partial<RecordedResponse> = {}): RecordedResponse {
  return {
    status: 200,
    reason: 'OK',
    httpVersion: '1.1',
    fields: [
      ['Date', 'Sat, 21 Nov 2026 12:00:00 GMT'],
      ['Content-Type', 'application/json'],
    ],
    trailers: [],
    body: exampleBody('{"data":[]}'),
    informational: [],
    framingFaults: null,
    ...response,
  };
}

export function exampleExchange(exchange: Partial<Exchange> = {}): Exchange {
  return {
    kind: 'exchange',
    id: exampleId('e1'),
    purpose: 'the documented sample',
    credential: 'right',
    request: exampleRequest(),
    response: exampleResponse(),
    failure: null,
    timing: TIMING,
    ...exchange,
  };
}

export function exampleFrame(
  opcode: number,
  payload: string | Uint8Array,
  frame: Partial<RecordedFrame> = {},
): RecordedFrame {
  const octets = typeof payload === 'string' ? octetsOf(payload) : payload;
  const lengthOctets = octets.length < 126 ? 0 : octets.length < 65_536 ? 2 : 8;
  return {
    fin: true,
    rsv: 0,
    opcode,
    masked: false,
    length: octets.length,
    lengthOctets,
    payload: octets,
    truncated: false,
    ...frame,
  };
}

export function exampleConversation(conversation: Partial<Conversation> = {}): Conversation {
  return {
    kind: 'conversation',
    id: exampleId('e2'),
    purpose: 'opening handshake',
    credential: 'right',
    handshake: {
      request: exampleRequest({
        url: 'ws://127.0.0.1:8080/ws',
        target: '/ws',
        fields: [
          ['Host', '127.0.0.1:8080'],
          ['Upgrade', 'websocket'],
          ['Connection', 'Upgrade'],
          ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
          ['Sec-WebSocket-Version', '13'],
          ['Authorization', 'Bearer [redacted:APP_SECRET]'],
        ],
      }),
      response: exampleResponse({
        status: 101,
        reason: 'Switching Protocols',
        fields: [
          ['Upgrade', 'websocket'],
          ['Connection', 'Upgrade'],
          ['Sec-WebSocket-Accept', 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='],
        ],
        body: exampleBody(''),
      }),
      expectedAccept: 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
    },
    events: [],
    failure: null,
    timing: TIMING,
    ...conversation,
  };
}

export function exampleBurst(burst: Partial<Burst> = {}): Burst {
  const entries = Array.from({ length: 5 }, (_, at) => ({
    index: at + 1,
    sentMs: 1000 + at * 10,
    durationMs: 4,
    status: at < 3 ? 200 : 429,
    fields: [['X-RateLimit-Remaining', String(Math.max(0, 2 - at))] as const],
    failure: null,
  }));
  return {
    kind: 'burst',
    id: exampleId('e3'),
    purpose: 'until the first refusal',
    credential: 'right',
    mode: 'serial',
    before: 2,
    entries,
    refusal: exampleId('e4'),
    timing: TIMING,
    ...burst,
  };
}
