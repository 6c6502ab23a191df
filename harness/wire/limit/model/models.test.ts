import { describe, expect, it } from 'vitest';
import { sequence } from '../fixtures/sequence.ts';
import { countBelow, decisionsOf, type Fit, narrowed } from './fit.ts';
import { GRADUAL, MODELS, type ModeledLimit } from './models.ts';

/** Three requests per second; windows of the clock begin with its seconds. */
const LIMIT: ModeledLimit = { requests: 3, windowMs: 1_000, clock: { phaseMs: 0, toleranceMs: 0 } };

type Row = readonly [requests: string, result: string];

/** The model with that name and number among those of that name. */
function modelOf(algorithm: string, index: number): (requests: string, limit?: ModeledLimit) => Fit {
  const model = MODELS.filter((each) => each.algorithm === algorithm)[index];
  if (model === undefined) throw new Error(`there is no model ${algorithm} ${index}`);
  return (requests, limit = LIMIT) => model.fit(sequence(requests), limit);
}

/** The bounds of the limit, or the request that contradicts the model. */
function shown(fit: Fit): string {
  return fit.explains ? `${fit.limit.least} to ${fit.limit.most}` : (fit.reason.split(' after ')[0] ?? '');
}

function rows(algorithm: string, index: number, table: readonly Row[], limit = LIMIT): void {
  it.each(table)('%s: %s', (requests, result) => {
    expect(shown(modelOf(algorithm, index)(requests, limit))).toBe(result);
  });
}

const SPENT = '0 10 20 x30';

describe('a fixed window that the first request opens', () => {
  rows('fixed-window', 0, [
    ['0 10', '2 to Infinity'],
    [SPENT, '3 to 3'],
    // Its end, give or take the tick of a clock.
    [`${SPENT} x1019`, '3 to 3'],
    [`${SPENT} x1020`, 'refused 1.02 s'],
    [`${SPENT} 979`, 'admitted 0.98 s'],
    [`${SPENT} 980`, '3 to 3'],
    // Refusals do not move it, and the next one begins with its first request.
    [`${SPENT} x500 x900 1000 1500 1990 x1995`, '3 to 3'],
    [`${SPENT} 1500 1510 1520 x1530 x2519`, '3 to 3'],
    [`${SPENT} 1500 1510 1520 x1530 x2520`, 'refused 2.52 s'],
    // Fewer in the second window than in the first one.
    [`${SPENT} 1500 1510 x1520`, 'refused 1.52 s'],
    [`${SPENT} 1500 1510 1520 1530`, 'admitted 1.53 s'],
    // A request near the end may be of either window.
    ['0 10 990 x1000', '3 to 3'],
    ['0 500 1000 1010 x1020', '2 to 2'],
    // A request that may not count opens a window, or opens none.
    ['0 ?10 20 x30', '2 to 3'],
    ['?0 10 20 x30', '2 to 3'],
    ['?0 10 20 x30 x1025', '2 to 2'],
    ['?0 ?10 ?20 x30', '1 to 3'],
    [`${SPENT} ?40 x50`, '3 to 3'],
    [`${SPENT} 40`, 'admitted 0.04 s'],
    ['x0', 'refused 0.00 s'],
  ]);

  it('has its windows where the requests opened them', () => {
    const windowsOf = (requests: string) => {
      const fit = modelOf('fixed-window', 0)(requests);
      return fit.explains ? fit.windows.map(({ fromMs, toMs }) => `${fromMs}-${toMs}`) : [];
    };
    expect(windowsOf(`${SPENT} 1300 1310`)).toEqual(['0-1000', '1300-2300']);
    expect(windowsOf('0-40 10 20 x30 970-1010')).toEqual(['0-1000', '980-1980']);
    expect(windowsOf('0')).toEqual(['0-1000']);
    expect(modelOf('fixed-window', 0)('?5')).toMatchObject({ explains: true });
  });
});

describe('a fixed window that every refusal begins anew', () => {
  rows('fixed-window', 1, [
    [SPENT, '3 to 3'],
    [`${SPENT} x1049`, '3 to 3'],
    [`${SPENT} x1050`, 'refused 1.05 s'],
    [`${SPENT} x900 1879`, 'admitted 1.88 s'],
    [`${SPENT} x900 1880`, '3 to 3'],
    ['0 500 990 x1010', '3 to 3'],
    ['0 500 970 1100 x1110', 'refused 1.11 s'],
    // The third one may have opened the second window.
    ['0 500 990 1100 x1110', '2 to 2'],
  ]);
});

describe('a fixed window that every request begins anew', () => {
  rows('fixed-window', 2, [
    ['0 900 1800 x2700', '3 to 3'],
    ['0 900 1800 x2700 x3719', '3 to 3'],
    ['0 900 1800 x2700 x3720', 'refused 3.72 s'],
    ['0 900 1800 x2700 3679', 'admitted 3.68 s'],
    ['0 900 1800 x2700 3680', '3 to 3'],
  ]);
});

describe('a block that the first refusal begins', () => {
  rows('penalty', 0, [
    [SPENT, '3 to 3'],
    ['0 10 900 x910 x1929', '3 to 3'],
    ['0 10 900 x910 x1930', 'refused 1.93 s'],
    ['0 10 900 x910 x1500 1889', 'admitted 1.89 s'],
    ['0 10 900 x910 x1500 1890', '3 to 3'],
  ]);
  // One of two windows.
  rows('penalty', 1, [
    ['0 10 900 x910 x2929', '3 to 3'],
    ['0 10 900 x910 x2930', 'refused 2.93 s'],
    ['0 10 900 x910 x1500 2889', 'admitted 2.89 s'],
    ['0 10 900 x910 x1500 2890 2900 2910 x2920', '3 to 3'],
    // Without a refusal the window ends like others.
    ['0 10 980 990 1000 x1010', '3 to 5'],
  ]);

  it('is followed by a window that begins when it is over, and not before', () => {
    const fit = modelOf('penalty', 1)('0 10 900 x910 2800-2900');
    expect(fit).toMatchObject({
      windows: [
        { fromMs: 910, toMs: 1_910 },
        { fromMs: 2_890, toMs: 3_890 },
      ],
    });
  });
});

describe('a fixed window of the clock', () => {
  rows('fixed-window-aligned', 0, [
    ['400 410 420 x430 x999', '3 to 3'],
    ['400 410 420 x430 x1000', 'refused 0.60 s'],
    ['400 410 420 x430 1000 1010 1020 x1030', '3 to 3'],
    ['400 410 420 x430 999', 'admitted 0.60 s'],
    ['400 ?410 420 x430', '2 to 3'],
    // It may have been decided in either window, and then counts for sure in neither.
    ['400 410 990-1010 x1020', 'refused 0.62 s'],
    ['400 410 990-1010 1015 1020 x1030', '2 to 3'],
    ['2400 x2410 x2999', '1 to 1'],
  ]);
  const unsure = { ...LIMIT, clock: { phaseMs: 250, toleranceMs: 20 } };
  rows(
    'fixed-window-aligned',
    0,
    [
      // Windows begin at 250, give or take 20.
      ['300 310 320 x330 x1269', '3 to 3'],
      ['300 310 320 x330 x1270', 'refused 0.97 s'],
      ['300 310 320 x330 1229', 'admitted 0.93 s'],
      ['300 310 320 x330 1230', '3 to 3'],
    ],
    unsure,
  );

  it('has its windows on the clock, in order', () => {
    expect(modelOf('fixed-window-aligned', 0)('1300 1310 320', unsure)).toMatchObject({
      windows: [
        { fromMs: 250, toMs: 1_250 },
        { fromMs: 1_250, toMs: 2_250 },
      ],
    });
  });
});

describe('a log of the served requests', () => {
  rows('sliding-log', 0, [
    [SPENT, '3 to 3'],
    [`${SPENT} x1020`, '3 to 3'],
    [`${SPENT} x1021`, 'refused 1.02 s'],
    [`${SPENT} 980`, 'admitted 0.98 s'],
    [`${SPENT} 981`, '3 to 3'],
    // One comes back for each that leaves it.
    ['0 400 800 x900 x1020 1021 x1030 x1400', '3 to 3'],
    ['0 400 800 x900 1000 x1421', 'refused 1.42 s'],
    ['0 400 800 x900 1000 1390 x1400', '3 to 3'],
    [`${SPENT} x700 x900 x950`, '3 to 3'],
    ['0 ?10 20 x30', '2 to 3'],
    ['?0 ?10 x30', '1 to 2'],
    ['?0 x30', '1 to 1'],
    ['0 10-60 x30-40', '2 to 2'],
    ['0 40-60 x30-40', 'refused 0.03 s'],
  ]);
});

describe('a log of all requests', () => {
  rows('sliding-log', 1, [
    [SPENT, '3 to 3'],
    // The first refusal leaves it after the served ones.
    [`${SPENT} x500 x800 x1050`, '3 to 3'],
    [`${SPENT} x500 x800 x1051`, 'refused 1.05 s'],
    [`${SPENT} x500 x800 1010`, 'admitted 1.01 s'],
    [`${SPENT} x500 x800 1011`, '3 to 3'],
    [`${SPENT} ?x500 x900 1481`, '3 to 3'],
    [`${SPENT} x500 x900 950`, 'admitted 0.95 s'],
    [`${SPENT} x2000`, 'refused 2.00 s'],
  ]);
});

describe('two counters, of which the older one weighs by its share', () => {
  const spread = '0 100 200 x300';
  rows('sliding-counter', 0, [
    ['0 100', '1 to Infinity'],
    // The first may have been of the window before: it opens the counter.
    [spread, '2 to 3'],
    [`${spread} x1010`, '2 to 3'],
    [`${spread} x1333`, '2 to 3'],
    [`${spread} x1360`, '2 to 2'],
    [`${spread} x1700`, 'refused 1.70 s'],
    [`${spread} 1030`, '2 to 3'],
    [`${spread} 1300`, '2 to 3'],
    [`${spread} 500 510`, 'admitted 0.51 s'],
    [`${spread} 900`, '3 to 3'],
    ['0 ?100 200 x300', '1 to 3'],
    ['?0 100 200 300 x400', '2 to 4'],
    ['?0 x30', '1 to 1'],
    ['0-200 300 400 x500', '2 to 3'],
  ]);
  rows('sliding-counter', 1, [
    [spread, '2 to 3'],
    // Refusals weigh as well.
    [`${spread} x400 x500 x600 x1400`, '2 to 3'],
    [`${spread} x400 x500 x600 1300`, 'admitted 1.30 s'],
    [`${spread} x400 x500 x600 1650`, '2 to 3'],
    [`${spread} x400 x500 x600 x1650`, '2 to 3'],
    [`${spread} ?x400 x500 1500`, '2 to 3'],
  ]);
  // Begun long ago: windows of the clock.
  rows(
    'sliding-counter',
    0,
    [
      ['900 910 920 x930 x1100', '2 to 3'],
      ['900 910 920 x930 1200', '3 to 3'],
      ['900 910 920 x930 1400', '2 to 3'],
    ],
    { ...LIMIT, requests: 3, windowMs: 1_000, clock: { phaseMs: 500, toleranceMs: 30 } },
  );
});

describe('a bucket', () => {
  rows('token-bucket', 0, [
    ['0', '1 to Infinity'],
    ['0 x1', '1 to 2'],
    ['0 10 20 x30', '3 to 3'],
    // One flows back in 333 ms, give or take the tick of a clock.
    ['0 10 20 x30 x300', '3 to 3'],
    ['0 10 20 x30 x400', 'refused 0.40 s'],
    // A size between 3 and 4, and so three at once.
    ['0 10 20 x30 300', '3 to 3'],
    ['0 10 20 x30 200 210', 'admitted 0.21 s'],
    ['0 10 20 x30 320', '3 to 3'],
    ['0 10 20 x30 320 x340', '3 to 3'],
    ['0 10 20 x30 680 690 x700', '3 to 3'],
    // It is full after a second, and never holds more.
    ['0 10 20 x30 5000 5001 5002 x5003', '3 to 3'],
    ['0 10 20 x30 5000 5001 5002 5003', '3 to 3'],
    ['0 10 20 x30 5000 5001 5002 5003 5004', 'admitted 5.00 s'],
    ['0 ?1 2 x3', '2 to 4'],
    ['0 1 ?2 x3 x200', '2 to 3'],
    // A slow answer leaves it open how much has flowed, until it is full again.
    ['0-400 401 402 x403', '2 to 4'],
    ['0 1 2-402 x403', '2 to 3'],
    ['0-400 3000 3001 3002 x3003', '3 to 4'],
    ['0-400 500 510 520 x530', '3 to 4'],
    ['0-2 1-1001 3 4 x5', '2 to 5'],
  ]);
});

describe('the decisions of a limiter', () => {
  const ordered = (requests: string) =>
    decisionsOf(sequence(requests)).map(({ fate, sentMs }) => `${fate === 'refused' ? 'x' : ''}${sentMs}`);

  it.each([
    ['in the order of their answers', '0-50 10-20 30-40', ['10', '30', '0']],
    ['with a refusal after what was under way with it', 'x5-10 0-50 7-60 20-30', ['20', '0', '7', 'x5']],
    ['with a refusal before what was sent later', 'x5-10 10-20', ['x5', '10']],
    ['with an admission first of two that end together', 'x5-10 5-10', ['5', 'x5']],
  ])('are %s', (_, requests, order) => {
    expect(ordered(requests)).toEqual(order);
  });

  it('leave out what has no answer', () => {
    const [lost] = sequence('0');
    expect(lost && decisionsOf([{ ...lost, fate: 'lost' }])).toEqual([]);
  });
});

it('bounds that have nothing in common are none', () => {
  expect(narrowed({ least: 1, most: 5 }, { least: 5 })).toEqual({ least: 5, most: 5 });
  expect(narrowed({ least: 1, most: 5 }, { most: 3 })).toEqual({ least: 1, most: 3 });
  expect(narrowed({ least: 2, most: 5 }, { least: 1, most: 9 })).toEqual({ least: 2, most: 5 });
  expect(narrowed({ least: 1, most: 5 }, { least: 6 })).toBeNull();
});

it.each([
  [0, 0],
  [10, 0],
  [11, 1],
  [20, 1],
  [30, 3],
  [31, 4],
])('of the numbers 10, 20, 20 and 30 are below %i: %i', (bound, count) => {
  expect(countBelow([10, 20, 20, 30], bound)).toBe(count);
});

it('flows back while it is counted: a bucket, and counters that weigh', () => {
  expect([...GRADUAL]).toEqual(['token-bucket', 'sliding-counter']);
});

it('the models are these, of which some mind refused requests', () => {
  expect(
    MODELS.map(({ algorithm, refusalsExtend }) => `${algorithm}${refusalsExtend ? ', extended' : ''}`),
  ).toEqual([
    'fixed-window',
    'fixed-window, extended',
    'fixed-window, extended',
    'penalty',
    'penalty',
    'fixed-window-aligned',
    'sliding-log',
    'sliding-log, extended',
    'sliding-counter',
    'sliding-counter, extended',
    'token-bucket',
  ]);
  expect(MODELS.map(({ isLongBlock = false }) => isLongBlock).indexOf(true)).toBe(4);
});

it('nothing is known of a fixed window that can lie in too many ways', () => {
  // Each may be of the window of the one before it, or begin another one.
  const slow = Array.from({ length: 40 }, (_, index) => `?${index * 400}-${index * 400 + 900}`).join(' ');
  const fit = modelOf('fixed-window', 0)(`${slow} x90000`);
  expect(fit).toEqual({ explains: true, limit: { least: 1, most: Number.POSITIVE_INFINITY }, windows: [] });
});
