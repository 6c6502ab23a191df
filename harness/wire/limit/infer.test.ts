import { describe, expect, it } from 'vitest';
import { sequence } from './fixtures/sequence.ts';
import {
  explainingKinds,
  firstRefusedOf,
  inferLimit,
  isExplainedBy,
  type LimitInference,
  mostWithin,
} from './infer.ts';
import type { LimitObservation } from './observed/observation.ts';

/** Three requests per minute; windows of our clock begin with its minutes. */
const PLAN = { requests: 3, windowMs: 60_000 };

const together = (text: string) =>
  sequence(text).map((each): LimitObservation => ({ ...each, part: 'parallel' }));
const infer = (...observations: readonly LimitObservation[]) => inferLimit(observations, PLAN, 0);

/** The kind, those left of an unknown one, and the first refused request. */
function shown({ algorithm, compatible, firstRefused }: LimitInference): string {
  const kinds = algorithm === 'unknown' ? `one of ${compatible.join(', ') || 'none'}` : algorithm;
  if (firstRefused === null) return kinds;
  const { least, most, whole } = firstRefused;
  const ofWhole =
    whole && (whole.least !== least || whole.most !== most) ? `, whole ${whole.least} to ${whole.most}` : '';
  return `${kinds}: ${least} to ${most}${ofWhole}${whole === null ? ', none whole' : ''}`;
}

/** Spent at 20 s. */
const SPENT = '20000 20010 20020 x20030';

describe('the limiter that explains requests in turn', () => {
  it.each([
    ['20000 20010', 'one of none'],
    ['20000 20010 20020 20030 20040 20050 20060', 'none'],
    ['20000 20010 20020 20030 20040 20050', 'one of none'],
    [
      SPENT,
      'one of fixed-window, penalty, fixed-window-aligned, sliding-log, sliding-counter, token-bucket: 3 to 4, whole 4 to 4',
    ],
    [`${SPENT} x41000 x59000 60100`, 'one of fixed-window-aligned, sliding-counter: 3 to 4, whole 4 to 4'],
    [
      `${SPENT} x60100 x79900 80100`,
      'one of fixed-window, penalty, sliding-log, sliding-counter: 3 to 4, whole 4 to 4',
    ],
    [
      `${SPENT} x60100 x79900 80100 80110 80120 x80130`,
      'one of fixed-window, penalty, sliding-log, sliding-counter: 4 to 4',
    ],
    [`${SPENT} x30000 x39900 40100 x40200`, 'one of sliding-counter, token-bucket: 4 to 4, none whole'],
    [
      `${SPENT} x70000 130100`,
      'one of fixed-window, penalty, sliding-log, sliding-counter: 3 to 4, whole 4 to 4',
    ],
    [`${SPENT} x70000 x128000 189000`, 'one of fixed-window, sliding-counter: 3 to 4, whole 4 to 4'],
    [
      `${SPENT} x21000 x22000 x50000 x81000 82100`,
      'one of sliding-log, sliding-counter: 3 to 4, whole 4 to 4',
    ],
    [
      '20000 40000 60000 x70000 x79900 80100 x80200 x99000 100100',
      'one of sliding-log, sliding-counter, token-bucket: 2 to 4, whole 4 to 4',
    ],
    [
      '20000 30000 x30010',
      'one of fixed-window, penalty, fixed-window-aligned, sliding-log, sliding-counter, token-bucket: 2 to 3, whole 3 to 3',
    ],
  ])('%s: %s', (requests, result) => {
    expect(shown(infer(...sequence(requests)))).toBe(result);
  });
});

describe('the limiter that explains requests in turn and together', () => {
  it.each([
    [
      '20000 20010',
      '30000 x30000 x30000 30200',
      'one of sliding-counter, token-bucket, concurrency: 4 to 4, none whole',
    ],
    [
      '20000 20010 20020 x20030 x79900 80100',
      '80200 80200 x80200 x80200',
      'one of fixed-window, penalty, sliding-counter: 4 to 4',
    ],
    [
      '20000 20010 20020 x20030 x79900 80100',
      '80200 x80200 x80200 x80200',
      'sliding-counter: 3 to 4, none whole',
    ],
    [
      '20000 20010 20020 x20030 x79900 80100',
      '80200 80200 80200 80200',
      'one of fixed-window, penalty, sliding-log, sliding-counter: 3 to 4, whole 4 to 4',
    ],
    ['20000', 'x20100 20100 20200', 'one of sliding-counter, token-bucket, concurrency: 3 to 3, none whole'],
    [
      '20000 20010 20020 x20030',
      '20040 x20040 x20050',
      'one of sliding-counter, token-bucket: 4 to 4, none whole',
    ],
    [
      '20000 20010 20020',
      'x20040 x20040',
      'one of fixed-window, penalty, fixed-window-aligned, sliding-log, sliding-counter, token-bucket: 3 to 4, whole 4 to 4',
    ],
    [
      '20000 20010',
      '20020 20020 x20020',
      'one of fixed-window, penalty, fixed-window-aligned, sliding-counter, token-bucket: 4 to 6, whole 5 to 5',
    ],
    [
      '20000 20010 20020 x20030 x60200 x79900 80100 80110',
      'x80200 80200 x80200',
      'one of fixed-window, penalty, sliding-counter: 4 to 4',
    ],
    [
      '20000 20010 20020 x20030 x60200 x79900 80100',
      'x80200 80200 x80200 80300',
      'sliding-counter: 4 to 4, none whole',
    ],
  ])('%s, and together %s: %s', (inTurn, parallel, result) => {
    expect(shown(infer(...sequence(inTurn), ...together(parallel)))).toBe(result);
  });
});

describe('requests that are held back', () => {
  /** One each 20 s. */
  const paced = (count: number): LimitObservation[] => [
    ...sequence('0-5'),
    ...sequence(
      Array.from({ length: count }, (_, at) => `${at * 20_000 + 10}-${(at + 1) * 20_000 + 10}`).join(' '),
    ),
  ];
  const told =
    'answers came every 20000 ms, at the documented rate (20000 ms each), the quickest of all took 5 ms';

  it('are of a queue or a delay, until some are sent together', () => {
    expect(infer(...paced(6))).toMatchObject({
      algorithm: 'unknown',
      compatible: ['queue', 'delay'],
      because: [told],
    });
    expect(infer(...paced(6), ...together('200000-210000'))).toMatchObject({
      algorithm: 'delay',
      because: [told],
    });
    expect(infer(...paced(6), ...together('200000-210000 x200000'))).toMatchObject({
      algorithm: 'queue',
      compatible: ['queue'],
      because: [told, '1 of those sent together were refused'],
    });
  });

  it('are of another limiter, if one in turn was refused', () => {
    expect(infer(...paced(6), ...sequence('x200000')).because).not.toContain(told);
  });
});

describe('an inference', () => {
  const kept = '20000 20010 20020 x20030 x60100 x79900 80100 80110 80120 x80130';

  it('names the stretch in which the quota came back', () => {
    expect(infer(...sequence(kept)).returned).toEqual({ fromMs: 79_900, toMs: 80_100 });
    expect(infer(...sequence(SPENT)).returned).toBeNull();
    // It was sent before the refusal was answered.
    expect(infer(...sequence('20000 20010 20020 x20030-20100 20050-20200')).returned).toBeNull();
    expect(infer(...sequence('20000 20010 20020 x20030-20100 20100-20200')).returned).toEqual({
      fromMs: 20_100,
      toMs: 20_200,
    });
  });

  it('has the windows and the contradictions of the one kind that is left', () => {
    const aligned = infer(
      ...sequence(`20000 20010 20020 x20030 x59900 60100 60110 60120 x60130 x100000 x119900 120100`),
    );
    expect(shown(aligned)).toBe('fixed-window-aligned: 4 to 4');
    expect(aligned.windows.map(({ fromMs }) => fromMs)).toEqual([0, 60_000, 120_000]);
    expect(aligned.because).toContain('no fixed-window: admitted 40.10 s after the first request');
    expect(aligned.because).toContain(
      'no fixed-window that refusals extend: admitted 40.10 s after the first request',
    );
    expect(aligned.because.some((each) => each.startsWith('no sliding-log that refusals extend: '))).toBe(
      true,
    );
    expect(new Set(aligned.because).size).toBe(aligned.because.length);
    expect(infer(...sequence(SPENT)).because).toContain('fixed-window explains every answer');
  });

  it('says whether refusals extend it', () => {
    expect(infer(...sequence('20000 20010 20020 x20030 x30000 21000000')).refusalsExtend).toBeNull();
    // A log that counts refusals explains it as well.
    expect(infer(...sequence('20000 20010 20020 x20030 x79000 80100')).refusalsExtend).toBeNull();
    expect(infer(...sequence('20000 20010 20020 x20030 x79000 x122000 182100')).refusalsExtend).toBe(true);
    // Served less than a window after a refusal.
    const logged = infer(...sequence('20000 20010 20020 x20030 x30000 x40000 x82000 x85000 90100'));
    expect([shown(logged), logged.refusalsExtend]).toEqual(['sliding-counter: 3 to 4, none whole', false]);
  });

  it('holds a block that promises one end against models without refusals that extend', () => {
    const blocked = (retryAfterMs: (sentMs: number) => number) =>
      sequence('20000 20010 20020 x20030 x60000 x100000 141000').map((each) =>
        each.fate === 'refused' ? { ...each, retryAfterMs: retryAfterMs(each.sentMs) } : each,
      );
    const left = (retryAfterMs: (sentMs: number) => number) => infer(...blocked(retryAfterMs)).compatible;
    expect(left((sentMs) => 140_030 - sentMs)).toContain('penalty');
    // Ends that lie more than a second apart, or not beyond a window.
    expect(left((sentMs) => 140_030 - sentMs + (sentMs > 90_000 ? 1_000 : 0))).toContain('penalty');
    expect(left((sentMs) => 140_030 - sentMs + (sentMs > 90_000 ? 1_001 : 0))).not.toContain('penalty');
    expect(left(() => 120_000)).not.toContain('penalty');
    expect(left(() => 61_000)).not.toContain('penalty');
  });

  it('is that of the kinds that explain all', () => {
    const seen = sequence(kept);
    expect(explainingKinds(seen, PLAN, 0)).toEqual([
      'fixed-window',
      'penalty',
      'sliding-log',
      'sliding-counter',
    ]);
    expect(isExplainedBy('fixed-window', seen, PLAN, 0)).toBe(true);
    expect(isExplainedBy('fixed-window-aligned', seen, PLAN, 0)).toBe(false);
    expect(isExplainedBy('fixed-window', seen, { ...PLAN, requests: 4 }, 0)).toBe(false);
    expect(isExplainedBy('fixed-window', seen, { ...PLAN, requests: 2 }, 0)).toBe(false);
    const bounds = { least: 4, most: 4, whole: { least: 4, most: 4 } };
    expect(firstRefusedOf(seen, PLAN, 0, ['fixed-window'])).toEqual(bounds);
    expect(firstRefusedOf(seen, PLAN, 0, ['token-bucket'])).toEqual(bounds);
    expect(firstRefusedOf(seen, PLAN, 0, ['sliding-counter'])).toEqual({ ...bounds, whole: null });
    expect(
      firstRefusedOf(sequence('20000 20001 20002 20003 x20004 20005 20006 20007 20008 x20009'), PLAN, 0, []),
    ).toBeNull();
    // The service is half a minute ahead.
    expect(explainingKinds(sequence('20000 20010 20020 x20030 30100'), PLAN, 30_000)).toContain(
      'fixed-window-aligned',
    );
    expect(explainingKinds(sequence('20000 20010 20020 x20030 30100'), PLAN, 0)).not.toContain(
      'fixed-window-aligned',
    );
  });
});

it.each([
  ['0 10 20', 3],
  ['0 999 1000', 2],
  ['0 1 500 1000 1001', 3],
  ['0 ?1 2', 2],
  ['0-999 998-1005', 1],
  ['', 0],
])('of %j the most within a second are %i', (requests, most) => {
  expect(mostWithin(requests === '' ? [] : sequence(requests), 1_000)).toBe(most);
});
