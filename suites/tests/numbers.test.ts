import { describe, expect, it } from 'vitest';
import fc from '../../harness/base/fixtures/properties.ts';
import { isJsonObject, parseJson } from '../../harness/base/json-text.ts';
import type { JournalEvent } from '../../harness/report/results/fold/events.ts';
import type { Exchange, RecordedResponse } from '../../harness/wire/exchange.ts';
import { ARCHIVE, type Kept, verdictsToday } from './fixtures/archive.ts';

type Outcome = Extract<JournalEvent, { type: 'outcome' }>;

/** A change of one answer in a record. */
interface Change {
  /** Which of them, as a share of all. */
  readonly at: number;
  readonly change: (response: RecordedResponse) => RecordedResponse;
}

const withField = (name: string, value: string) => (response: RecordedResponse) => ({
  ...response,
  fields: [
    ...response.fields.filter(([each]) => each.toLowerCase() !== name.toLowerCase()),
    [name, value] as const,
  ],
});

/** With this number of items in its lists, if its content has some. */
const withItems = (count: number) => (response: RecordedResponse) => {
  const value = parseJson(Buffer.from(response.body.bytes).toString('utf8'));
  if (!isJsonObject(value)) return response;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    Array.isArray(member) ? Array.from({ length: count }, () => member[0] ?? null) : member,
  ]);
  const bytes = Buffer.from(JSON.stringify(Object.fromEntries(members)));
  return {
    ...withField('Content-Length', String(bytes.length))(response),
    body: { bytes, received: bytes.length, truncated: false },
  };
};

const MOMENTS = ['Retry-After', 'RateLimit-Reset', 'X-RateLimit-Reset', 'Age', 'X-RateLimit-Remaining'];

const changes = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    change: fc.oneof(
      fc
        .constantFrom(200, 204, 302, 404, 429, 500, 503)
        .map((status) => (response: RecordedResponse) => ({ ...response, status })),
      fc
        .tuple(fc.constantFrom(...MOMENTS), fc.integer({ min: 0, max: 100_000 }))
        .map(([name, value]) => withField(name, String(value))),
      fc.integer({ min: 0, max: 30 }).map(withItems),
    ),
  }),
  { minLength: 1, maxLength: 25 },
);

const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/\d+(?:\.\d+)?/g)].map(([each]) => Number(each));

/** Without grounds, quotations of an answer, and names that have numbers in them. */
const measured = (message: string): string =>
  message.replaceAll(/\[[^\]]*\]|"[^"]*"|HTTP\/\d\.\d|[\w-]*[A-Za-z]\d+/g, '');

/** The part of a message that says what was seen: what was expected is of the rule. */
const seenIn = ({ finding, message }: Outcome): string =>
  finding ? finding.got.map(({ text }) => text).join(' ') : message;

const recordedIds = new Map<string, readonly string[]>();

/** Of all exchanges of a record, which is the same for each draw. */
async function exchangeIds(kept: Kept): Promise<readonly string[]> {
  const known = recordedIds.get(kept.name);
  if (known !== undefined) return known;
  const ids: string[] = [];
  await verdictsToday(kept, {
    changed(exchange) {
      ids.push(exchange.id);
      return exchange;
    },
  });
  recordedIds.set(kept.name, ids);
  return ids;
}

/** A record with these changes: its outcomes, and the numbers that they may tell. */
async function judgedWith(kept: Kept, drawn: readonly Change[]) {
  const outcomes: Outcome[] = [];
  const texts = [JSON.stringify(await kept.config())];
  const moments: number[] = [];
  const seen: Exchange[] = [];
  const ids = await exchangeIds(kept);
  const change = new Map(drawn.map((each) => [ids[Math.floor(each.at * ids.length)], each.change]));
  await verdictsToday(kept, {
    changed(exchange) {
      const { response } = exchange;
      const given = response && (change.get(exchange.id)?.(response) ?? response);
      seen.push({ ...exchange, response: given });
      return { ...exchange, response: given };
    },
    hear(event) {
      if (event.type === 'outcome') outcomes.push(event);
      if (event.type === 'evidence') texts.push(JSON.stringify(event.value));
    },
  });
  for (const { timing, response } of seen) {
    moments.push(timing.startedMs, timing.startedMs + timing.durationMs);
    texts.push(String(response?.body.bytes.length));
  }
  for (const text of texts) {
    for (const [, row] of text.matchAll(/\[\d+,([\d.]+,[\d.]+),/g)) {
      const [sentMs = 0, tookMs = 0] = (row ?? '').split(',').map(Number);
      moments.push(sentMs, sentMs + tookMs);
    }
  }
  return { outcomes, texts, moments, count: texts.length + moments.length };
}

/** Seconds of waits that a message says were real. */
const waitsIn = (text: string): readonly number[] =>
  [...text.matchAll(/served again ([\d.]+) s|(?:the|a real) (?:wait of )?([\d.]+) s (?:of|were)/g)].map(
    ([, ...each]) => Number(each.find((number) => number !== undefined)),
  );

/** Rounding of times, in ms. */
const ROUNDED_MS = 60;

/** Numbers of these outcomes that nothing in the record, and nothing in the config, accounts for. */
function unfounded({
  outcomes,
  texts,
  moments,
  count,
}: Awaited<ReturnType<typeof judgedWith>>): readonly string[] {
  const known = new Set(texts.flatMap(numbersIn));
  const sorted = [...new Set(moments)].toSorted((a, b) => a - b);
  const isSpan = (ms: number) => {
    let next = 0;
    return sorted.some((from) => {
      while ((sorted[next] ?? Infinity) < from + ms - ROUNDED_MS) next += 1;
      return (sorted[next] ?? Number.NaN) <= from + ms + ROUNDED_MS;
    });
  };
  const isFounded = (each: number) =>
    known.has(each) || (Number.isInteger(each) && each <= count) || isSpan(each * 1_000) || isSpan(each);
  return outcomes
    .filter(({ outcome }) => outcome !== 'skipped' && outcome !== 'blocked')
    .flatMap((each) =>
      numbersIn(measured(seenIn(each)))
        .filter((number) => !isFounded(number))
        .concat(waitsIn(seenIn(each)).filter((seconds) => !isSpan(seconds * 1_000)))
        .map((number) => `${each.id} ${each.outcome}: ${number} in ${each.message}`),
    );
}

describe('a number in a message is measured, documented or counted', () => {
  it.for(['express', 'search', 'limit-race'])('%s', async (name) => {
    const kept = ARCHIVE.find((each) => each.name === name) as Kept;
    await fc.assert(
      fc.asyncProperty(changes, async (drawn) => {
        expect(unfounded(await judgedWith(kept, drawn))).toEqual([]);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });
});
