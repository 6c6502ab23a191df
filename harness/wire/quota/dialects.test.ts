import { describe, expect, it } from 'vitest';
import type { FieldLine } from '../exchange.ts';
import { isQuotaField, QUOTA_DIALECTS, readQuota } from './quota.ts';

const receivedAt = new Date('2026-11-21T12:00:00Z');
const EPOCH = receivedAt.getTime() / 1000;

function fieldsOf(text: string): readonly FieldLine[] {
  return text.split(' | ').map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
}

const read = (text: string, windowMs: number | undefined = 60_000) =>
  readQuota(fieldsOf(text), { receivedAt, ...(windowMs > 0 && { windowMs }) });

/** The dialect, and the limit, the rest, the seconds until the reset and those of the window. */
function shown(text: string, windowMs?: number): string {
  const { dialect, limit, remaining, resetSeconds, windowSeconds } = read(text, windowMs);
  return `${dialect}: ${[limit, remaining, resetSeconds, windowSeconds].map((each) => each ?? '–').join(', ')}`;
}

it('every dialect has an example, except the one that no document describes', () => {
  const without = QUOTA_DIALECTS.filter(({ examples }) => examples.length === 0);
  expect(without.map(({ name }) => name)).toEqual(['ratelimit-epoch']);
});

describe('the dialect', () => {
  it.each([
    ['RateLimit-Policy: 100;w=60', 'ratelimit-draft-06: –, –, –, –'],
    ['RateLimit-Policy: "a100";q=5', 'ratelimit-draft-08: 5, –, –, –'],
    ['RateLimit-Policy: "a";q=5 | RateLimit-Remaining: 3', 'ratelimit-draft-06: –, 3, –, –'],
    ['RateLimit-Remaining: 3', 'ratelimit-draft-06: –, 3, –, –'],
    ['RateLimit: limit=9, reset=5', 'ratelimit-draft-07: 9, –, 5, –'],
    // Ten digits are a Unix time, and 16 are none.
    [`RateLimit-Reset: ${EPOCH + 20} | RateLimit-Observed: 1`, 'gitlab: –, –, 20, –'],
    ['RateLimit-Reset: 5 | RateLimit-Observed: 1', 'ratelimit-draft-06: –, –, 5, –'],
    [`RateLimit-Reset: ${EPOCH + 20}`, 'ratelimit-epoch: –, –, 20, –'],
    ['RateLimit-Reset: 179526242', 'ratelimit-draft-06: –, –, 179526242, –'],
    [`RateLimit-Reset: ${EPOCH + 20};x`, `ratelimit-draft-06: –, –, ${EPOCH + 20}, –`],
    [`RateLimit-Reset: -${EPOCH}`, 'ratelimit-draft-06: –, –, –, –'],
    ['RateLimit-Limit: 10, 10;w=60 | RateLimit-Policy: 20;w=60', 'ratelimit-draft-03: 10, –, –, 60'],
    ['X-RateLimit-Limit: 10, 10;w=1', 'envoy: 10, –, –, 1'],
    ['X-RateLimit-Limit: 10;w=1', 'x-ratelimit: –, –, –, –'],
    ['X-RateLimit-Limit: 9 | X-RateLimit-Used: 2', 'x-ratelimit: 9, –, –, –'],
    [`X-RateLimit-Reset: ${EPOCH + 5} | X-RateLimit-Used: 2`, 'github: –, –, 5, –'],
    [`X-RateLimit-Reset: ${EPOCH + 5} | X-RateLimit-Resource: core`, 'github: –, –, 5, –'],
    ['X-RateLimit-Reset: 5 | X-RateLimit-Used: 2', 'x-ratelimit-delta: –, –, 5, –'],
  ])('of %s', (fields, dialect) => {
    expect(shown(fields)).toBe(dialect);
  });

  it.each([
    ['X-RateLimit-Limit', true],
    ['x-ratelimit-limit', true],
    ['X-Rate-Limit-Limit', true],
    ['RateLimit', true],
    ['ratelimit-policy', true],
    ['My-X-RateLimit-Limit', false],
    ['RateLimits', false],
    ['RateLimiter-Limit', false],
    ['X-RateLimit', false],
  ])('is told by the field %s: %s', (name, isIt) => {
    expect(isQuotaField(name)).toBe(isIt);
  });
});

describe('a reset in X- fields', () => {
  it.each([
    // Above 10^9 a Unix time, above 10^12 in milliseconds.
    ['1000000000', 60_000, 'x-ratelimit-delta: –, –, 1000000000, –'],
    ['1000000001', 60_000, 'x-ratelimit-epoch: –, –, 0, –'],
    ['1000000000000', 60_000, 'x-ratelimit-epoch: –, –, 998204737600, –'],
    ['1000000000001', 60_000, 'x-ratelimit-epoch-ms: –, –, 0, –'],
    // Longer than the window in seconds, and not in milliseconds; both give or take a second.
    ['61', 60_000, 'x-ratelimit-delta: –, –, 61, –'],
    ['62', 60_000, 'x-ratelimit-delta-ms: –, –, 0.062, –'],
    ['61000', 60_000, 'x-ratelimit-delta-ms: –, –, 61, –'],
    ['61001', 60_000, 'x-ratelimit-delta: –, –, 61001, –'],
    ['2', 500, 'x-ratelimit-delta: –, –, 2, –'],
    ['3', 500, 'x-ratelimit-delta-ms: –, –, 0.003, –'],
    ['1500', 500, 'x-ratelimit-delta-ms: –, –, 1.5, –'],
    ['30000', 0, 'x-ratelimit-delta: –, –, 30000, –'],
    ['2', 0, 'x-ratelimit-delta: –, –, 2, –'],
    ['30 seconds', 60_000, 'x-ratelimit: –, –, –, –'],
    ['5x', 60_000, 'x-ratelimit: –, –, –, –'],
  ])('%s for a window of %i ms', (reset, windowMs, result) => {
    expect(shown(`X-RateLimit-Reset: ${reset}`, windowMs)).toBe(result);
  });

  it('may lie a second before the Date', () => {
    const contradictions = (reset: number) => read(`X-RateLimit-Reset: ${EPOCH + reset}`).contradictions;
    expect(contradictions(-1)).toEqual([]);
    expect(contradictions(-2)).toEqual(['X-RateLimit-Reset lies 2 s before the Date of the response']);
    expect(shown(`X-RateLimit-Reset: ${EPOCH}`)).toBe('x-ratelimit-epoch: –, –, 0, –');
  });
});

describe('the fields of Discord', () => {
  const reset = (after: string, at: number) =>
    `X-RateLimit-Reset-After: ${after} | X-RateLimit-Reset: ${EPOCH + at}`;

  it('tell the reset twice, up to two seconds apart', () => {
    expect(shown(reset('3', 5))).toBe('discord: –, –, 3, –');
    expect(read(reset('3', 5)).contradictions).toEqual([]);
    expect(read(reset('5', 3)).contradictions).toEqual([]);
    expect(read(reset('3', 5.5)).contradictions).toEqual([
      'the reset 5.5 s after the Date of the response (2026-11-21T12:00:00.000Z), but 3 s from now',
    ]);
  });

  it('tell it once, if the other is missing', () => {
    expect(shown('X-RateLimit-Reset-After: 3')).toBe('discord: –, –, 3, –');
    const bucket = `X-RateLimit-Bucket: a | X-RateLimit-Reset: ${EPOCH + 7}`;
    expect(shown(bucket)).toBe('discord: –, –, 7, –');
    expect(read(bucket).faults).toEqual([]);
  });
});

describe('the fields of Kong', () => {
  it.each([
    ['Second', 1],
    ['Minute', 60],
    ['Hour', 3_600],
    ['Day', 86_400],
    ['Month', 2_592_000],
    ['Year', 31_536_000],
  ])('per %s are for a window of %i s', (unit, seconds) => {
    expect(shown(`X-RateLimit-Limit-${unit}: 9`)).toBe(`kong: 9, –, –, ${seconds}`);
  });

  it('tell of the window of the plan, or else of the first one', () => {
    const both = 'X-RateLimit-Limit-Hour: 500 | X-RateLimit-Limit-Second: 5 | X-RateLimit-Limit-Minute: 20';
    expect(shown(both)).toBe('kong: 20, –, –, 60');
    expect(shown(both, 3_600_000)).toBe('kong: 500, –, –, 3600');
    expect(shown(both, 7_000)).toBe('kong: 5, –, –, 1');
    expect(read(both).policies.map(({ name }) => name)).toEqual(['second', 'minute', 'hour']);
  });
});

describe('the fields of OpenAI', () => {
  it.each([
    ['1h2m3s4ms', 3_723.004],
    ['6m0s', 360],
    ['1.5s', 1.5],
    ['250ms', 0.25],
    ['2h', 7_200],
    ['90', 90],
    ['1s 2', null],
    ['in 1s', null],
    ['', null],
  ])('have the duration %j: %j s', (duration, seconds) => {
    const { resetSeconds, faults } = read(
      `X-RateLimit-Limit-Requests: 9 | X-RateLimit-Reset-Requests: ${duration}`,
    );
    expect(resetSeconds).toBe(seconds);
    expect(faults).toEqual(
      seconds === null ? [`X-RateLimit-Reset-Requests is not a duration: "${duration}"`] : [],
    );
  });

  it('may leave the duration out', () => {
    const { faults, policies } = read('X-RateLimit-Limit-Tokens: 9 | X-RateLimit-Limit-Requests: 5');
    expect(faults).toEqual([]);
    expect(policies.map(({ unit, quota }) => `${quota} ${unit}`)).toEqual(['5 requests', '9 tokens']);
  });

  it('tell nothing of requests, if they tell of tokens alone', () => {
    expect(shown('X-RateLimit-Limit-Tokens: 9 | X-RateLimit-Remaining-Output-Tokens: 3')).toBe(
      'openai: –, –, –, –',
    );
  });

  it('write a duration of minutes and seconds', () => {
    const openai = QUOTA_DIALECTS.find(({ name }) => name === 'openai');
    const state = { limit: 5, windowMs: 600_000, remaining: 2, resetSeconds: 125, resetAt: EPOCH + 125 };
    expect(openai?.write?.(state)).toContainEqual(['x-ratelimit-reset-requests', '2m5s']);
  });
});

describe('the fields of Envoy', () => {
  it('have the name, the number and the window of each policy', () => {
    const { policies } = read('X-RateLimit-Limit: 10, 20;w=60;name="hour", 10;w=1, 10;w=5;name=3, x;w=many');
    expect(policies.map(({ name, quota, windowSeconds }) => [name, quota, windowSeconds])).toEqual([
      ['hour', 20, 60],
      [null, 10, 1],
      [null, 10, 5],
      [null, null, null],
    ]);
  });

  it('tell of the first policy that has the limit in force', () => {
    const [second, both] = [
      'X-RateLimit-Limit: 10, 20;w=60, 10;w=1, 10;w=5',
      'X-RateLimit-Limit: 7, 20;w=60',
    ];
    expect(shown(second)).toBe('envoy: 10, –, –, 1');
    expect(read(second).contradictions).toEqual([]);
    expect(read(both).contradictions).toEqual(['a limit of 7, which no policy has']);
  });
});

describe('a limit and its rest', () => {
  it.each([
    ['X-RateLimit-Limit: 5 | X-RateLimit-Remaining: 3 | X-RateLimit-Used: 2', []],
    ['X-RateLimit-Remaining: 3 | X-RateLimit-Used: 1', []],
    ['X-RateLimit-Limit: 5 | X-RateLimit-Used: 1', []],
    ['X-RateLimit-Limit: 5 | X-RateLimit-Remaining: 5', []],
    ['RateLimit: limit=100, remaining=1, reset=1 | X-RateLimit-Remaining: 1', []],
    ['RateLimit-Remaining: 1 | RateLimit-Reset: 1 | RateLimit-Limit: 9 | X-RateLimit-Limit: 9', []],
    ['RateLimit-Remaining: 1 | X-RateLimit-Limit: 9', []],
    ['RateLimit-Limit: 9 | X-RateLimit-Remaining: 5', []],
    ['RateLimit-Policy: 9;w=60 | RateLimit-Reset: 1', []],
    ['RateLimit-Limit: 9 | RateLimit-Policy: 9;w=60 | RateLimit-Reset: 121', []],
    [
      'RateLimit-Limit: 9 | RateLimit-Policy: 9;w=60 | RateLimit-Reset: 122',
      ['122 s until the reset of a window of 60 s'],
    ],
    ['RateLimit-Policy: "a";q=5;w=60 | RateLimit: "a";r=5;t=121', []],
  ])('%s', (fields, contradictions) => {
    expect(read(fields).contradictions).toEqual(contradictions);
  });

  it('may be missing in a draft, with a fault for the others alone', () => {
    expect(read('RateLimit: limit=9, reset=5').faults).toEqual([]);
    expect(read('RateLimit: remaining=9').faults).toEqual([
      'RateLimit without limit',
      'RateLimit without reset',
    ]);
  });

  it('is that of the window of the plan, or else of the first policy with that number', () => {
    const two = 'RateLimit-Limit: 9 | RateLimit-Reset: 1 | RateLimit-Policy: 9;w=1, 9;w=60, 9;w=3600';
    expect(shown(two)).toBe('ratelimit-draft-06: 9, –, 1, 60');
    expect(shown(two, 5_000)).toBe('ratelimit-draft-06: 9, –, 1, 1');
  });
});

describe('named policies', () => {
  it('are told apart by their partition', () => {
    const fields =
      'RateLimit-Policy: "a";q=5;pk=:YQ==:, "a";q=9;pk=:Yg==: | RateLimit: "a";r=4;pk=:Yg==:, "a";r=3;pk=:Yw==:';
    const { policies, contradictions } = read(fields);
    expect(policies.map(({ quota, remaining }) => [quota, remaining])).toEqual([
      [9, 4],
      // Of the first policy of that name, for want of its partition.
      [5, 3],
    ]);
    expect(contradictions).toEqual([]);
  });

  it('are those announced first, if announced twice', () => {
    const { policies, contradictions } = read('RateLimit-Policy: "a";q=5, "a";q=6 | RateLimit: "a";r=4');
    expect(policies.map(({ quota }) => quota)).toEqual([5]);
    expect(contradictions).toEqual(['RateLimit-Policy has "a" twice']);
  });

  it('count other things than requests, if they say so', () => {
    const unit = (text: string) => read(`RateLimit-Policy: "a";q=5${text}`);
    expect(unit(';qu="content-bytes"').policies[0]?.unit).toBe('content-bytes');
    expect(unit('').policies[0]?.unit).toBe('requests');
    expect(unit(';qu=7')).toMatchObject({
      policies: [{ unit: 'requests' }],
      faults: ['RateLimit-Policy "a": qu is not a string'],
    });
  });

  it('have the one with the least left first, if none is of the plan', () => {
    const three =
      'RateLimit: "a";r=9, "b";r=3, "c";r=5 | RateLimit-Policy: "d";q=4, "c";q=8;w=60, "e";q=2;w=60';
    expect(shown(three, 5_000)).toBe('ratelimit-draft-08: –, 3, –, –');
    expect(shown(three)).toBe('ratelimit-draft-08: 8, 5, –, 60');
    expect(shown(three, 0)).toBe('ratelimit-draft-08: –, 3, –, –');
  });

  it('may be left at nothing, and may have no time', () => {
    expect(read('RateLimit-Policy: "a";q=0 | RateLimit: "a";r=0;t=0')).toMatchObject({
      faults: [],
      remaining: 0,
    });
  });

  it('are written with their windows, if those are whole seconds', () => {
    const draft = QUOTA_DIALECTS.find(({ name }) => name === 'ratelimit-draft-08');
    const state = (windowMs: number) => ({
      limit: 5,
      windowMs,
      remaining: 2,
      resetSeconds: 3,
      resetAt: EPOCH,
    });
    expect(draft?.write?.({ ...state(2_000), further: [state(500), state(1_000)] })).toEqual([
      ['RateLimit-Policy', '"default";q=5;w=2, "further-1";q=5, "further-2";q=5;w=1'],
      ['RateLimit', '"default";r=2;t=3, "further-1";r=2;t=3, "further-2";r=2;t=3'],
    ]);
    expect(draft?.write?.(state(2_000))).toEqual([
      ['RateLimit-Policy', '"default";q=5;w=2'],
      ['RateLimit', '"default";r=2;t=3'],
    ]);
  });
});
