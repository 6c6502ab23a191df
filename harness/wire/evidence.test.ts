import { describe, expect, it } from 'vitest';
import { HarnessError } from '../base/exit.ts';
import fc from '../base/fixtures/properties.ts';
import type { ConversationEvent } from './conversation.ts';
import { type Evidence, evidenceFromJson, evidenceToJson } from './evidence.ts';
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

const latin1 = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
const fields = fc.array(fc.tuple(latin1, latin1), { maxLength: 4 });
const octets = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.string({ unit: 'binary' }).map(octetsOf));
const ms = fc.double({ min: 0, max: 1e9, noNaN: true }).map((value) => Math.round(value * 1000) / 1000 + 0);
const failure = fc.option(fc.constant({ kind: 'not-sent', message: 'too many' } as const));

const exchange = fc
  .record({ fields, octets, failure, reason: fc.option(fc.string()), replaced: fc.option(fc.string()) })
  .map(({ fields, octets, failure, reason, replaced }) =>
    exampleExchange({
      request: exampleRequest({ fields, body: failure && { ...exampleBody(octets), truncated: true } }),
      response:
        failure &&
        exampleResponse({
          fields,
          reason,
          trailers: fields,
          body: exampleBody(octets),
          informational: [{ status: 103, fields }],
          framingFaults: ['bare LF'],
        }),
      failure,
      ...(replaced !== '' && { connection: { reused: true, replaced } }),
    }),
  );
const frame = octets.map((payload) => exampleFrame(2, payload, payload.length > 9 ? { digest: 'aa' } : {}));
const event = fc
  .record({
    atMs: ms,
    from: fc.constantFrom('client' as const, 'server' as const),
    frame,
    octets,
    note: fc.string(),
  })
  .chain(({ atMs, from, frame, octets, note }) =>
    fc.constantFrom<ConversationEvent>(
      { atMs, from, type: 'frame', frame },
      { atMs, from, type: 'octets', octets, note },
      { atMs, from, type: 'end' },
      { atMs, from, type: 'reset' },
      { atMs, from: 'client', type: 'waited', forMs: atMs, note },
    ),
  );
const conversation = fc
  .record({ events: fc.array(event, { maxLength: 4 }), failure })
  .map((members) => exampleConversation(members));
const entry = fc.record({
  index: fc.nat(),
  sentMs: ms,
  durationMs: ms,
  status: fc.option(fc.nat(599)),
  fields,
  failure: fc.option(fc.string()),
});
const burst = fc
  .record({ entries: fc.array(entry, { maxLength: 4 }), refusal: fc.option(fc.constant(exampleId('e7'))) })
  .map((members) => exampleBurst(members));

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
    const storedWith = (content: string | Uint8Array) =>
      stored(exampleExchange({ response: exampleResponse({ body: exampleBody(content) }) }));
    const text = storedWith('{"a":"é"}');
    expect(text).toMatchObject({ response: { body: { text: '{"a":"é"}', received: 10, truncated: false } } });
    const binary = storedWith(Uint8Array.of(0xff, 0));
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
    const octets = octetsOf('y'.repeat(5000));
    const events: readonly ConversationEvent[] = [
      { atMs: 1, from: 'server', type: 'frame', frame: exampleFrame(2, 'x'.repeat(5000)) },
      { atMs: 2, from: 'server', type: 'octets', octets, note: 'garbage', omitted: 3 },
    ];
    const value = stored(exampleConversation({ events }));
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
    const { length } = JSON.stringify(evidenceToJson(exampleBurst({ entries })));
    expect(length).toBeLessThan(50 * entries.length);
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
