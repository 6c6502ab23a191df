import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldLine } from '../exchange.ts';
import { readQuota } from './quota.ts';

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
  it.each([
    [[], ['none', null, null, null, null]],
    [['Retry-After: 3'], ['none', null, null, null, null]],
    // draft -03
    [
      ['RateLimit-Limit: 100, 100;w=60, 1000;w=3600', 'RateLimit-Remaining: 50', 'RateLimit-Reset: 5'],
      ['ratelimit-draft-03', 100, 50, 5, 60],
    ],
    // drafts -04 to -06
    [
      ['RateLimit-Limit: 100', 'RateLimit-Remaining: 0', 'RateLimit-Reset: 50', 'RateLimit-Policy: 100;w=60'],
      ['ratelimit-draft-06', 100, 0, 50, 60],
    ],
    [
      ['ratelimit-limit:100', 'ratelimit-remaining:99', 'ratelimit-reset:60'],
      ['ratelimit-draft-06', 100, 99, 60, null],
    ],
    // draft -07
    [
      ['RateLimit: limit=100, remaining=50, reset=5', 'RateLimit-Policy: 100;w=60'],
      ['ratelimit-draft-07', 100, 50, 5, 60],
    ],
    // drafts -08 and later
    [
      ['RateLimit-Policy: "default";q=100;w=60', 'RateLimit: "default";r=50;t=30'],
      ['ratelimit-draft-08', 100, 50, 30, 60],
    ],
    [['RateLimit: "20-in-3sec"; r=19; t=3'], ['ratelimit-draft-08', null, 19, 3, null]],
    [['RateLimit-Policy: "default";q=100'], ['ratelimit-draft-08', 100, null, null, null]],
    // X-RateLimit, the reset in each of its units
    [
      ['X-RateLimit-Limit: 100', 'X-RateLimit-Remaining: 42', 'X-RateLimit-Reset: 30'],
      ['x-ratelimit-delta', 100, 42, 30, null],
    ],
    [
      ['X-RateLimit-Limit: 100', 'X-RateLimit-Remaining: 42', 'X-RateLimit-Reset: 29500'],
      ['x-ratelimit-delta-ms', 100, 42, 29.5, null],
    ],
    [
      ['X-Rate-Limit-Limit: 100', 'X-Rate-Limit-Remaining: 42', `X-Rate-Limit-Reset: ${EPOCH + 30}`],
      ['x-ratelimit-epoch', 100, 42, 30, null],
    ],
    [
      ['X-RateLimit-Limit: 100', 'X-RateLimit-Remaining: 42', `X-RateLimit-Reset: ${EPOCH + 30}.5`],
      ['x-ratelimit-epoch', 100, 42, 30.5, null],
    ],
    [
      ['X-RateLimit-Limit: 100', 'X-RateLimit-Remaining: 42', `X-RateLimit-Reset: ${EPOCH * 1000 + 1500}`],
      ['x-ratelimit-epoch-ms', 100, 42, 1.5, null],
    ],
    [
      ['X-RateLimit-Limit: 100', 'X-RateLimit-Reset: Sat Nov 21 2026 12:00:45 GMT+0000 (UTC)'],
      ['x-ratelimit-date', 100, null, 45, null],
    ],
    [
      ['X-RateLimit-Limit: 100', 'X-RateLimit-Remaining: 42'],
      ['x-ratelimit', 100, 42, null, null],
    ],
    [
      [
        'x-ratelimit-limit: 60',
        'x-ratelimit-remaining: 58',
        'x-ratelimit-used: 2',
        'x-ratelimit-resource: core',
        `x-ratelimit-reset: ${EPOCH + 3600}`,
      ],
      ['github', 60, 58, 3600, null],
    ],
    [
      [
        'X-RateLimit-Limit: 10, 10;w=1;name="per-ip", 1000;w=3600',
        'X-RateLimit-Remaining: 9',
        'X-RateLimit-Reset: 1',
      ],
      ['envoy', 10, 9, 1, 1],
    ],
    [
      [
        'X-RateLimit-Limit: 5',
        'X-RateLimit-Remaining: 0',
        `X-RateLimit-Reset: ${EPOCH + 1}.250`,
        'X-RateLimit-Reset-After: 1.250',
        'X-RateLimit-Bucket: abcd1234',
      ],
      ['discord', 5, 0, 1.25, null],
    ],
    [
      ['X-RateLimit-Limit-Minute: 20', 'X-RateLimit-Remaining-Minute: 19', 'X-RateLimit-Limit-Hour: 500'],
      ['kong', 20, 19, null, 60],
    ],
    [
      [
        'X-RateLimit-UserLimit: 300',
        'X-RateLimit-UserRemaining: 299',
        `X-RateLimit-UserReset: ${EPOCH * 1000 + 2000}`,
      ],
      ['hapi', 300, 299, 2, null],
    ],
    [
      [
        'RateLimit-Limit: 60',
        'RateLimit-Observed: 1',
        'RateLimit-Remaining: 59',
        `RateLimit-Reset: ${EPOCH + 20}`,
        'RateLimit-ResetTime: Sat, 21 Nov 2026 12:00:20 GMT',
      ],
      ['gitlab', 60, 59, 20, null],
    ],
  ])('reads %j', (lines, expected) => {
    expect(numbers(...lines)).toEqual(expected);
    const { faults, contradictions } = read(...lines);
    expect([...faults, ...contradictions]).toEqual([]);
  });

  it('takes the policy of the plan, else the one with the least left', () => {
    const lines = [
      'RateLimit-Policy: "burst";q=10;w=1, "daily";q=1000;w=86400;qu="requests";pk=:a2V5:',
      'RateLimit: "daily";r=3;t=600;pk=:a2V5:',
      'RateLimit: "burst";r=9;t=1',
    ];
    expect(readQuota(fieldsOf(...lines), { receivedAt, windowMs: 1000 })).toMatchObject({
      limit: 10,
      remaining: 9,
    });
    const { policies, ...main } = readQuota(fieldsOf(...lines), { receivedAt });
    expect(main).toMatchObject({
      limit: 1000,
      remaining: 3,
      resetSeconds: 600,
      windowSeconds: 86_400,
      faults: [],
    });
    expect(policies).toEqual([
      {
        name: 'daily',
        quota: 1000,
        windowSeconds: 86_400,
        unit: 'requests',
        partition: 'a2V5',
        remaining: 3,
        resetSeconds: 600,
      },
      {
        name: 'burst',
        quota: 10,
        windowSeconds: 1,
        unit: 'requests',
        partition: null,
        remaining: 9,
        resetSeconds: 1,
      },
    ]);
  });

  it('holds Unix times against the Date of the response', () => {
    const skewed = `Date: ${new Date(receivedAt.getTime() - 3_600_000).toUTCString()}`;
    expect(read(skewed, 'X-RateLimit-Limit: 9', `X-RateLimit-Reset: ${EPOCH - 3600 + 7}`).resetSeconds).toBe(
      7,
    );
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
    const names = ['RateLimit', 'RateLimit-Policy', 'RateLimit-Limit', 'RateLimit-Reset'].flatMap((name) => [
      name,
      `X-${name}`,
    ]);
    const piece = fc.constantFrom(
      '"a"',
      ';',
      'q=',
      'r=',
      'limit=',
      '1',
      '-',
      '.',
      ',',
      ' ',
      '(',
      ':',
      '@',
      '?',
      '%"',
      '\u0007',
      'é',
    );
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
