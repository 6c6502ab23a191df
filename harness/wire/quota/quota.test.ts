import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import type { FieldLine } from '../exchange.ts';
import { UNKNOWN_POLICY } from './dialect.ts';
import { isQuotaField, QUOTA_DIALECTS, readQuota } from './quota.ts';

const receivedAt = new Date('2026-11-21T12:00:00Z');
const EPOCH = receivedAt.getTime() / 1000;
const MINUTE = { receivedAt, windowMs: 60_000 };

/** `Name: value` lines. */
function fieldsOf(...lines: readonly string[]): readonly FieldLine[] {
  return lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1)] as const;
  });
}

const read = (...lines: readonly string[]) => readQuota(fieldsOf(...lines), MINUTE);

/** Dialect, limit, remaining, reset, window. */
function numbers(...lines: readonly string[]) {
  const { dialect, limit, remaining, resetSeconds, windowSeconds } = read(...lines);
  return [dialect, limit, remaining, resetSeconds, windowSeconds];
}

describe('readQuota', () => {
  it.each([[], ['Retry-After: 3']])('finds none in %j', (...lines) => {
    expect(numbers(...lines)).toEqual(['none', null, null, null, null]);
  });

  it.each(
    QUOTA_DIALECTS.flatMap(({ name, examples }) => examples.map((example) => [name, example] as const)),
  )('reads %s: %s', (name, example) => {
    const [fields = '', tells] = example.split(' → ');
    const lines = fields.split(' | ');
    const [dialect, ...told] = numbers(...lines);
    expect([dialect, told.map((number) => number ?? '–').join(', ')]).toEqual([name, tells]);
    const { faults, contradictions } = read(...lines);
    expect([...faults, ...contradictions]).toEqual([]);
    expect(fieldsOf(...lines).filter(([field]) => !isQuotaField(field))).toEqual([]);
  });

  it.each(QUOTA_DIALECTS.filter(({ write }) => write))(
    'reads what is written in $name',
    ({ name, write }) => {
      const state = { limit: 5, windowMs: 60_000, remaining: 2, resetSeconds: 30, resetAt: EPOCH + 30 };
      const told = { dialect: name, limit: 5, remaining: 2, resetSeconds: 30, faults: [] };
      expect(readQuota(write?.(state) ?? [], MINUTE)).toMatchObject(told);
    },
  );

  it.each([
    [(at: number) => `"p${at}";q=10;w=60`, 'RateLimit-Policy: ', '"p1";q=10;w=sixty'],
    [
      (at: number) => `${at + 1};w=60`,
      'RateLimit-Limit: 1 | RateLimit-Reset: 9 | RateLimit-Policy: ',
      '5;w=sixty',
    ],
  ])('reads every policy, however many there are', (policy, before, malformed) => {
    const all = [...Array.from({ length: 5_000 }, (_, at) => policy(at)), malformed];
    expect(read(...`${before}${all}`.split(' | ')).faults).toHaveLength(1);
  });

  it('takes the policy of the plan, else the one with the least left', () => {
    const lines = [
      'RateLimit-Policy: "burst";q=10;w=1, "daily";q=1000;w=86400;qu="requests";pk=:a2V5:',
      'RateLimit: "daily";r=3;t=600;pk=:a2V5:',
      'RateLimit: "burst";r=9;t=1',
    ];
    const ofPlan = readQuota(fieldsOf(...lines), { receivedAt, windowMs: 1000 });
    expect(ofPlan).toMatchObject({ limit: 10, remaining: 9 });
    const { policies, ...main } = readQuota(fieldsOf(...lines), { receivedAt });
    const ofDay = { remaining: 3, resetSeconds: 600, windowSeconds: 86_400 };
    expect(main).toMatchObject({ limit: 1000, ...ofDay, faults: [] });
    expect(policies).toEqual([
      { ...UNKNOWN_POLICY, name: 'daily', quota: 1000, ...ofDay, partition: 'a2V5' },
      { ...UNKNOWN_POLICY, name: 'burst', quota: 10, remaining: 9, resetSeconds: 1, windowSeconds: 1 },
    ]);
  });

  it('holds Unix times against the Date of the response', () => {
    const skewed = `Date: ${new Date(receivedAt.getTime() - 3_600_000).toUTCString()}`;
    const { resetSeconds } = read(skewed, 'X-RateLimit-Limit: 9', `X-RateLimit-Reset: ${EPOCH - 3600 + 7}`);
    expect(resetSeconds).toBe(7);
  });

  it.each([
    ['RateLimit: "default";r=50;t=', 'RateLimit is no structured field'],
    ['RateLimit: "default"; r = 50', 'RateLimit is no structured field'],
    ['RateLimit: "default";t=3', 'RateLimit "default" without r'],
    ['RateLimit: "default";r=-1', 'RateLimit "default" r is -1, not a non-negative integer'],
    ['RateLimit: "default";r=1.5', 'RateLimit "default" r is 1.5'],
    ['RateLimit: "default";r=50.0', 'RateLimit has the decimal 50.0 for an integer'],
    ['RateLimit: "default";r="50"', 'RateLimit "default" r is "50"'],
    ['RateLimit: default;r=50', 'RateLimit: "default" is not a string in quotes'],
    ['RateLimit:', 'RateLimit is empty'],
    ['RateLimit-Policy: "default";w=60', 'RateLimit-Policy "default" without q'],
    ['RateLimit-Policy: "default";q=100;w=0', 'w is 0, not a positive integer'],
    ['RateLimit-Policy: "default";q=100;pk="x"', 'pk is not a byte sequence'],
    ['RateLimit: limit=100, remaining=50', 'RateLimit without reset'],
    ['RateLimit: limit=100, remaining=many, reset=5', 'RateLimit remaining is many'],
    ['RateLimit-Limit: 100', 'RateLimit-Reset is missing'],
    ['RateLimit-Limit: many', 'RateLimit-Limit is many'],
    ['RateLimit-Limit: 100, 100', 'RateLimit-Limit "100" without w'],
    ['X-RateLimit-Limit: unlimited', 'X-RateLimit-Limit is not a number of requests: "unlimited"'],
    ['X-RateLimit-Remaining: -1', 'X-RateLimit-Remaining is not a number of requests'],
    ['X-RateLimit-Remaining: 1.5', 'X-RateLimit-Remaining is not a number of requests'],
    ['X-RateLimit-Reset: NaN', 'X-RateLimit-Reset is neither a number nor a date'],
    ['X-RateLimit-Reset:', 'X-RateLimit-Reset is neither a number nor a date'],
    ['X-RateLimit-Reset: -5', 'X-RateLimit-Reset is neither a number nor a date'],
    ['X-RateLimit-Limit-Requests: all', 'X-RateLimit-Limit-Requests is not a number of requests: "all"'],
    ['X-RateLimit-Remaining-Tokens: 1.5', 'X-RateLimit-Remaining-Tokens is not a number of requests'],
    ['X-RateLimit-Reset-After: soon', 'X-RateLimit-Reset-After is not seconds'],
    [`RateLimit-Reset: ${EPOCH + 5}`, 'RateLimit-Reset is a Unix time'],
  ])('says what is malformed in %j', (line, fault) => {
    const { faults, dialect } = read(line);
    expect(dialect).not.toBe('none');
    expect(faults.join('\n')).toContain(fault);
  });

  it.each([
    [['RateLimit-Policy: "a";q=5;w=60', 'RateLimit: "a";r=6;t=1'], '6 remaining of a limit of 5'],
    [['RateLimit-Policy: "a";q=5;w=60', 'RateLimit: "a";r=5;t=122'], '122 s until more of a window of 60 s'],
    [
      ['RateLimit-Policy: "a";q=5', 'RateLimit: "b";r=5'],
      'tells of "b", which RateLimit-Policy does not have',
    ],
    [['RateLimit-Policy: "a";q=5, "a";q=6'], 'RateLimit-Policy has "a" twice'],
    [
      ['RateLimit: limit=100, remaining=1, reset=1', 'RateLimit-Policy: 50;w=60'],
      'a limit of 100, which no policy has',
    ],
    [
      ['RateLimit: limit=50, remaining=1, reset=129', 'RateLimit-Policy: 50;w=60'],
      '129 s until the reset of a window of 60 s',
    ],
    [['X-RateLimit-Limit: 5', 'X-RateLimit-Remaining: 6'], '6 remaining of a limit of 5'],
    [['X-RateLimit-Limit: 5', 'X-RateLimit-Remaining: 3', 'X-RateLimit-Used: 1'], '1 used and 3 remaining'],
    [[`X-RateLimit-Reset: ${EPOCH - 90}`], 'X-RateLimit-Reset lies 90 s before the Date'],
    [['X-RateLimit-Reset-After: 9', `X-RateLimit-Reset: ${EPOCH + 1}`], 'but 9 s from now'],
    [
      ['RateLimit: limit=100, remaining=1, reset=1', 'X-RateLimit-Limit: 50', 'X-RateLimit-Remaining: 1'],
      'limit 100 in the RateLimit fields, 50 in the X- fields',
    ],
  ])('says what cannot be true of %j', (lines, contradiction) => {
    const { contradictions } = read(...lines);
    expect(contradictions).toHaveLength(1);
    expect(contradictions[0]).toContain(contradiction);
  });

  it('tells of further dialects in the same response', () => {
    const { dialect, others } = read('RateLimit: "a";r=1', 'X-RateLimit-Remaining: 1');
    expect([dialect, ...others.map((other) => other.dialect)]).toEqual(['ratelimit-draft-08', 'x-ratelimit']);
  });

  it('never throws, and says it in single lines', () => {
    const standard = ['RateLimit', 'RateLimit-Policy', 'RateLimit-Limit', 'RateLimit-Reset'];
    const names = standard.flatMap((name) => [name, `X-${name}`]);
    const piece = fc.constantFrom(...';1-., (:@?\u0007é', '"a"', '%"', 'q=', 'r=', 'limit=');
    const line = fc.tuple(
      fc.constantFrom(...names),
      fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
        const { faults, contradictions } = readQuota(lines, MINUTE);
        for (const text of [...faults, ...contradictions]) expect(text).not.toMatch(/\p{Cc}/u);
      }),
      { numRuns: 2000 },
    );
  });
});
