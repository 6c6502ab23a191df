import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HarnessError } from '../exit.ts';
import type { Burst } from './burst.ts';
import type { Conversation, ConversationEvent } from './conversation.ts';
import { type Evidence, evidenceFromJson, evidenceToJson } from './evidence.ts';
import type { Exchange, FieldLine, RecordedBody } from './exchange.ts';
import {
  exampleBody,
  exampleBurst,
  exampleConversation,
  exampleExchange,
  exampleFrame,
  exampleId,
  exampleRequest,
  exampleResponse,
  octetsOf,
} from './fixtures/example-evidence.ts';

/** Through text, as the journal has it. */
function stored(evidence: Evidence, limits = {}): unknown {
  return JSON.parse(JSON.stringify(evidenceToJson(evidence, limits)));
}

const restored = (evidence: Evidence) => evidenceFromJson(stored(evidence));

const latin1 = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 12,
});
const fields: fc.Arbitrary<readonly FieldLine[]> = fc.array(fc.tuple(latin1, latin1), { maxLength: 4 });
const octets = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }).map(octetsOf),
);
const body: fc.Arbitrary<RecordedBody> = octets.chain((bytes) =>
  fc.record({ bytes: fc.constant(bytes), received: fc.nat(1000), truncated: fc.boolean() }),
);
const ms = fc.double({ min: 0, max: 1e9, noNaN: true }).map((value) => Math.round(value * 1000) / 1000 + 0);
const timing = fc.record({
  startedAt: fc.constant('2026-11-21T12:00:00.000Z'),
  startedMs: ms,
  connectMs: fc.option(ms),
  responseMs: fc.option(ms),
  durationMs: ms,
});
const id = fc.nat().map((number) => exampleId(`e${number}`));
const failure = fc.option(
  fc.record({ kind: fc.constantFrom('reset' as const, 'not-sent' as const), message: fc.string() }),
);
const request = fc.record({
  method: fc.string(),
  url: fc.string(),
  target: fc.string(),
  fields,
  body: fc.option(body),
});
const response = fc.record({
  status: fc.nat(999),
  reason: fc.option(fc.string()),
  httpVersion: fc.option(fc.constant('1.1')),
  fields,
  trailers: fields,
  body,
  informational: fc.array(fc.record({ status: fc.constant(103), fields }), { maxLength: 2 }),
  framingFaults: fc.option(fc.array(fc.string(), { maxLength: 2 })),
});
const heading = {
  id,
  purpose: fc.string(),
  credential: fc.constantFrom('right' as const, 'second' as const, 'wrong' as const, 'none' as const),
};
const exchange: fc.Arbitrary<Exchange> = fc.record(
  {
    kind: fc.constant('exchange' as const),
    ...heading,
    request,
    response: fc.option(response),
    failure,
    timing,
    connection: fc.record({ reused: fc.boolean(), replaced: fc.option(fc.string()) }),
  },
  { requiredKeys: ['kind', 'id', 'purpose', 'credential', 'request', 'response', 'failure', 'timing'] },
);
const side = fc.constantFrom('client' as const, 'server' as const);
const frame = fc.record(
  {
    fin: fc.boolean(),
    rsv: fc.nat(7),
    opcode: fc.nat(15),
    masked: fc.boolean(),
    length: fc.nat(),
    lengthOctets: fc.constantFrom(0 as const, 2 as const, 8 as const),
    payload: octets,
    truncated: fc.boolean(),
    digest: fc.string(),
  },
  { requiredKeys: ['fin', 'rsv', 'opcode', 'masked', 'length', 'lengthOctets', 'payload', 'truncated'] },
);
const event: fc.Arbitrary<ConversationEvent> = fc.oneof(
  fc.record({ atMs: ms, from: side, type: fc.constant('frame' as const), frame }),
  fc.record({ atMs: ms, from: side, type: fc.constant('octets' as const), octets, note: fc.string() }),
  fc.record({ atMs: ms, from: side, type: fc.constantFrom('end' as const, 'reset' as const) }),
  fc.record({
    atMs: ms,
    from: fc.constant('client' as const),
    type: fc.constant('waited' as const),
    forMs: ms,
    note: fc.string(),
  }),
);
const conversation: fc.Arbitrary<Conversation> = fc.record({
  kind: fc.constant('conversation' as const),
  ...heading,
  handshake: fc.record({ request, response: fc.option(response), expectedAccept: fc.option(fc.string()) }),
  events: fc.array(event, { maxLength: 4 }),
  failure,
  timing,
});
const burst: fc.Arbitrary<Burst> = fc.record({
  kind: fc.constant('burst' as const),
  ...heading,
  mode: fc.constantFrom('serial' as const, 'parallel' as const),
  before: fc.nat(),
  entries: fc.array(
    fc.record({
      index: fc.nat(),
      sentMs: ms,
      durationMs: ms,
      status: fc.option(fc.nat(599)),
      fields,
      failure: fc.option(fc.string()),
    }),
    { maxLength: 4 },
  ),
  refusal: fc.option(id),
  timing,
});

describe('evidence as JSON', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(fc.oneof(exchange, conversation, burst), (evidence) => {
        expect(restored(evidence)).toEqual(evidence);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps octets as text where they are UTF-8, and in base64 otherwise', () => {
    const text = stored(exampleExchange({ response: exampleResponse({ body: exampleBody('{"a":"é"}') }) }));
    expect(text).toMatchObject({ response: { body: { text: '{"a":"é"}', received: 10, truncated: false } } });
    const binary = stored(
      exampleExchange({ response: exampleResponse({ body: exampleBody(Uint8Array.of(0xff, 0)) }) }),
    );
    expect(binary).toMatchObject({ response: { body: { base64: '/wA=' } } });
  });

  it('cuts long bodies between characters, counts what is missing, and calls them truncated when read back', () => {
    const long = exampleExchange({
      request: exampleRequest({ body: exampleBody('x'.repeat(65_537)) }),
      response: exampleResponse({ body: exampleBody('é'.repeat(40_000)) }),
    });
    expect(stored(long)).toMatchObject({
      request: { body: { omitted: 1 } },
      response: { body: { omitted: 80_000 - 65_536, received: 80_000, truncated: false } },
    });
    const odd = stored(long, { bodyOctets: 5 });
    expect(odd).toMatchObject({ response: { body: { text: 'éé', omitted: 79_996 } } });
    expect(evidenceFromJson(odd)).toMatchObject({
      response: { body: { received: 80_000, truncated: true } },
    });
  });

  it('cuts long payloads', () => {
    const evidence = exampleConversation({
      events: [
        { atMs: 1, from: 'server', type: 'frame', frame: exampleFrame(2, 'x'.repeat(5000)) },
        {
          atMs: 2,
          from: 'server',
          type: 'octets',
          octets: octetsOf('y'.repeat(5000)),
          note: 'garbage',
          omitted: 3,
        },
      ],
    });
    const value = stored(evidence);
    expect(value).toMatchObject({ events: [{ frame: { omitted: 904, length: 5000 } }, { omitted: 907 }] });
    expect(evidenceFromJson(value)).toMatchObject({
      events: [{ frame: { truncated: true } }, { omitted: 907 }],
    });
  });

  it('keeps bursts small', () => {
    const entries = Array.from({ length: 1000 }, (_, at) => ({
      index: at + 1,
      sentMs: 1000.123456789 + at,
      durationMs: 4.987654321,
      status: 200,
      fields: [['X-RateLimit-Limit', '1000'] as const, ['X-RateLimit-Remaining', String(999 - at)] as const],
      failure: null,
    }));
    expect(JSON.stringify(evidenceToJson(exampleBurst({ entries }))).length).toBeLessThan(
      50 * entries.length,
    );
  });

  const changed = (evidence: Evidence, members: object) => ({ ...Object(stored(evidence)), ...members });
  it.each([
    ['the value is null, expected an object', null],
    ['kind is missing, expected one of exchange, conversation, burst', {}],
    ['kind is string, expected one of', { kind: 'rumour' }],
    ['id is empty', changed(exampleExchange(), { id: '' })],
    ['credential is string', changed(exampleExchange(), { credential: 'stolen' })],
    ['response.status is missing, expected a number', changed(exampleExchange(), { response: {} })],
    ['failure.kind is string', changed(exampleExchange(), { failure: { kind: 'x', message: '' } })],
    [
      'events[0].from is string',
      changed(exampleConversation(), { events: [{ type: 'end', atMs: 0, from: 'us' }] }),
    ],
    [
      'events[0].frame.fin is missing',
      changed(exampleConversation(), { events: [{ type: 'frame', atMs: 0, from: 'client', frame: {} }] }),
    ],
    [
      'events[0] has neither text nor base64',
      changed(exampleConversation(), { events: [{ type: 'octets', atMs: 0, from: 'client', note: '' }] }),
    ],
    ['entries[0] does not fit its layout', changed(exampleBurst(), { entries: [[1, 0, 0, 200, 9, []]] })],
    ['entries[0][3] is string', changed(exampleBurst(), { entries: [[1, 0, 0, '200', 0, ['1']]] })],
    ['entries[0][5] is missing', changed(exampleBurst(), { entries: [[1, 0, 0, 200, 0]] })],
  ])('says where it is wrong: %s', (message, value) => {
    expect(() => evidenceFromJson(value)).toThrow(HarnessError);
    expect(() => evidenceFromJson(value)).toThrow(message);
  });

  it('leaves alone what later versions may add', () => {
    const later = changed(exampleExchange(), { tomorrow: true });
    expect(evidenceFromJson(later)).toEqual(exampleExchange());
  });
});
