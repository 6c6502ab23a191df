import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { ResponseMessage } from '../../harness/wire/exchange/response-message.ts';
import type { Exchange, RecordedResponse } from '../../harness/wire/exchange.ts';
import { ARCHIVE, type Kept, verdictsToday } from './fixtures/archive.ts';

type Change = (response: RecordedResponse) => RecordedResponse;

const named = (name: string) => ARCHIVE.find((kept) => kept.name === name) as Kept;

const withField =
  (name: string, value: string): Change =>
  (response) => ({
    ...response,
    fields: [...response.fields.filter(([each]) => each.toLowerCase() !== name.toLowerCase()), [name, value]],
  });
const withBody = (bytes: Uint8Array, response: RecordedResponse): RecordedResponse => ({
  ...response,
  body: { bytes, received: bytes.length, truncated: false },
});

/** More than is undone of a coding. */
const BOMB = gzipSync(Buffer.alloc(9 * 1024 * 1024));

/** Content that a service makes unreadable. */
const UNREADABLE: Readonly<Record<string, Change>> = {
  'longer than is read': (response) => ({ ...response, body: { ...response.body, truncated: true } }),
  'in an unknown coding': withField('Content-Encoding', 'x-own'),
  'in another coding than it says': withField('Content-Encoding', 'br'),
  'too large once unpacked': (response) => withBody(BOMB, withField('Content-Encoding', 'gzip')(response)),
};

const changedOnes = new WeakSet<RecordedResponse>();

const cut = (exchange: Exchange, change: Change): Exchange => {
  if (exchange.response === null || exchange.response.body.received === 0) return exchange;
  const response = change(exchange.response);
  changedOnes.add(response);
  const failure = response.body.truncated
    ? ({ kind: 'body-too-large', message: 'its body goes on' } as Exchange['failure'])
    : exchange.failure;
  return { ...exchange, response, failure };
};

/** Checks that pass without the content, although the evidence has some: by what they judge. */
const WITHOUT_CONTENT: Readonly<Record<string, string>> = {
  'status.head-equals-get': 'fields, and the length of content that is known',
  'status.stable': 'status and media type; those who compare content have the same evidence',
  'operations.status': 'the status; its evidence is that of the schemas',
  'operations.auth-required': 'the status; the calls before it are read',
  'limits.reset-honest': 'quota fields; it is held only against a limiter whose way of counting is known',
  'framing.content-length': 'the octets on the wire, content codings left as they are',
  'framing.chunks': 'the same',
  'framing.one-message': 'the same',
};

/** Which checks were judged as which, and whether they have looked into content. */
async function judgedWith(kept: Kept, changed: (exchange: Exchange) => Exchange) {
  const judged = new Map<string, { outcome: string; looked: boolean }>();
  let looked = false;
  const spied = ['decoded', 'unread'].map((name) => {
    const own = Object.getOwnPropertyDescriptor(ResponseMessage.prototype, name) as PropertyDescriptor;
    Object.defineProperty(ResponseMessage.prototype, name, {
      ...own,
      get(this: ResponseMessage) {
        if (changedOnes.has(this.response)) looked = true;
        return own.get?.call(this);
      },
    });
    return () => Object.defineProperty(ResponseMessage.prototype, name, own);
  });
  restore = () => {
    for (const each of spied) each();
  };
  await verdictsToday(kept, {
    changed,
    hear(event) {
      if (event.type !== 'outcome') return;
      judged.set(event.id, { outcome: event.outcome, looked });
      looked = false;
    },
  });
  restore();
  return judged;
}

let restore = () => {};
afterEach(() => restore());

const asRecorded = new Map<string, ReturnType<typeof judgedWith>>();

/** What is said of a record as it is: each walk compares with that. */
function judgedBefore(kept: Kept): ReturnType<typeof judgedWith> {
  const known = asRecorded.get(kept.name) ?? judgedWith(kept, (exchange) => exchange);
  asRecorded.set(kept.name, known);
  return known;
}

/** One more is enough of what takes long, or has few answers with content. */
const WALKS: readonly (readonly [record: string, way: string])[] = [
  ...Object.keys(UNREADABLE).map((way) => ['express', way] as const),
  ['search', 'longer than is read'],
  ['search', 'in an unknown coding'],
  ['realtime', 'in another coding than it says'],
];

describe('no check is green over content into which nothing could look', () => {
  it.for(WALKS)('%s, %s', async ([name, way]) => {
    const kept = named(name);
    const before = await judgedBefore(kept);
    const change = UNREADABLE[way] as Change;
    const after = await judgedWith(kept, (exchange) => cut(exchange, change));
    const green = [...after].filter(([id, { outcome, looked }]) => {
      if (before.get(id)?.outcome !== 'pass' || id in WITHOUT_CONTENT) return false;
      return outcome === 'skipped' || (outcome === 'pass' && looked);
    });
    expect(green.map(([id, { outcome }]) => `${id} ${outcome}`)).toEqual([]);
    const blocked = [...after.values()].filter(({ outcome }) => outcome === 'blocked');
    expect(blocked.length).toBeGreaterThan(3);
  });
});

describe('no check is skipped for one answer that is out of the ordinary', () => {
  it.for(['search', 'express'])('%s, one status line in HTTP/1.0', async (name) => {
    const kept = named(name);
    const before = await judgedBefore(kept);
    let isFirst = true;
    const after = await judgedWith(kept, (exchange) => {
      const { response } = exchange;
      if (!isFirst || response === null || response.status !== 200) return exchange;
      isFirst = false;
      return { ...exchange, response: { ...response, httpVersion: '1.0' } };
    });
    const escaped = [...after].filter(
      ([id, { outcome }]) => outcome === 'skipped' && before.get(id)?.outcome !== 'skipped',
    );
    expect(escaped.map(([id]) => id)).toEqual([]);
  });
});
