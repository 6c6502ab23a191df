import { describe, expect, it } from 'vitest';
import { at, inTurnAt } from '../../../harness/wire/limit/fixtures/observed.ts';
import type { LimitObservation } from '../../../harness/wire/limit/observed/observation.ts';
import {
  BEGIN_MS,
  type Known,
  moved,
  probe,
  said,
  served,
  spent,
  together,
} from './fixtures/planned-steps.ts';

describe('before the quota is spent', () => {
  it('requests in turn are sent at once if no other request is in the window', () => {
    expect(said([], 0)).toBe('13 in turn');
  });

  it('they wait a tenth of the window after a request of another suite, which tells kinds of windows apart', () => {
    const earlier = [moved(at(0, 'admitted', { part: 'before' }))];
    expect(said(earlier, 5_999)).toMatch(/^wait until 6000: /);
    expect(said(earlier, 6_000)).toBe('13 in turn');
  });

  it('a request without an answer ends the measurement, however many were answered', () => {
    expect(said([...served(3), moved(inTurnAt(40, { fate: 'lost' }))], 60)).toBe(
      'stop: a request got no answer',
    );
  });

  it('a limit that requests in turn do not meet is asked for with a quarter of it more, and four', () => {
    expect(said(served(13), 200)).toBe('17 together');
  });

  it('nothing is sent together where a second limit refuses that', () => {
    expect(said(served(13), 200, { isHasteRefused: true })).toBe(
      'stop: a second limit refuses requests that are sent together',
    );
  });

  it('what was sent before the quota was to be spent anew tells no step', () => {
    const observations = [...spent(), ...together(200_000, 17, 0)];
    expect(said(observations, 200_100, { anewMs: BEGIN_MS + 200_000 })).toBe('stop: nothing is refused');
  });
});

describe('requests in turn that take more than half a window', () => {
  // The last one is answered at 36,010 ms.
  const slow = served(13, 3_000);

  it('are sent together anew after two windows of silence, since one may have ended among them', () => {
    // Forgotten one window and 70 ms after the last answer, at 100,010 ms; then one window of silence.
    expect(said([...slow, ...together(100_000, 17, 0)], 100_020)).toBe('17 anew from 220080');
  });

  it.each<[string, readonly LimitObservation[], Known]>([
    ['a second limit refuses that', [...slow, ...together(100_000, 17, 0)], { isHasteRefused: true }],
    ['it was done', [...slow, ...together(100_000, 17, 0)], { anewMs: BEGIN_MS }],
    ['they were quick', [...served(13), ...together(100_000, 17, 0)], {}],
    ['they took just half a window', [...served(13, 2_499, 12), ...together(100_000, 17, 0)], {}],
    // 21 requests within 40 s.
    ['more than two windows admit were served in one', [...slow, ...together(40_000, 17, 0)], {}],
    // The last ten are held back for a slot each.
    [
      'they are held back to the documented rate',
      [
        ...served(3),
        ...Array.from({ length: 10 }, (_, index) =>
          moved(inTurnAt(30 + index * 6_000, { finishedMs: 6_030 + index * 6_000 })),
        ),
        ...together(200_000, 17, 0),
      ],
      {},
    ],
  ])('are not where %s', (_, observations, known) => {
    expect(said(observations, 200_100, known)).toBe('stop: nothing is refused');
  });
});

describe('after the first refusal', () => {
  it('of requests sent together, three alone tell a limit of concurrency from a spent quota', () => {
    const met = [...served(13), ...together(200, 10, 7)];
    const alone = 'probe: is one request alone served after the parallel ones?';
    expect(said(met, 300)).toBe(alone);
    expect(said([...met, probe(300, 'admitted'), probe(310, 'admitted')], 320)).toBe(alone);
  });

  it('one refusal alone shows that the quota is spent, and the other keys are asked', () => {
    const met = [...served(13), ...together(200, 10, 7)];
    const probes = [probe(300, 'refused'), probe(310, 'admitted'), probe(320, 'admitted')];
    expect(said([...met, ...probes], 330, { spentAsked: false })).toBe('while-spent');
  });

  it('of requests in turn, the other keys are asked at once', () => {
    expect(said(spent(), 120, { spentAsked: false })).toBe('while-spent');
  });

  it('requests sent together before the quota was back tell nothing of the time after', () => {
    const probes = [300, 310, 320].map((sentMs) => probe(sentMs, 'refused'));
    const met = [...served(13), ...together(200, 10, 7), ...probes];
    expect(said([...met, probe(62_000, 'admitted')], 62_010)).toBe('17 together');
  });
});

describe('the burst behind a quota that is back', () => {
  it.each([
    [60, '64 together, 36 first'],
    [61, '71 together, 0 first'],
  ])('of %i requests goes beyond the limit by four, or ten of many', (requests, burst) => {
    const observations = [
      ...served(requests),
      moved(inTurnAt(10 * requests, { fate: 'refused' })),
      probe(61_000, 'admitted'),
    ];
    expect(said(observations, 61_010, { documented: { requests, windowMs: 60_000 } })).toBe(burst);
  });

  // Three slots behind the refusal are 18,110 ms.
  it.each([
    [18_109, 'probe: does the quota come back one by one?'],
    [18_110, '14 together, 6 first'],
  ])('waits where the quota is back %i ms after, as one that flows back is', (backMs, next) => {
    expect(said([...spent(), probe(backMs, 'admitted')], backMs + 10)).toBe(next);
  });

  it.each([
    [4, '8 together, 2 first'],
    [5, 'probe: does the quota come back one by one?'],
  ])('of %i requests is sent at once if a slot is a quarter of the window', (requests, next) => {
    const observations = [
      ...served(requests),
      moved(inTurnAt(100, { fate: 'refused' })),
      probe(20_000, 'admitted'),
    ];
    expect(said(observations, 20_010, { documented: { requests, windowMs: 60_000 } })).toBe(next);
  });

  it('is sent as soon as more are served alone than can have flowed back', () => {
    // 9.09 s after the refusal at most 2.5 are back.
    const two = [...spent(), probe(9_110, 'admitted'), probe(9_120, 'admitted')];
    expect(said(two, 9_200)).toBe('probe: does the quota come back one by one?');
    expect(said([...two, probe(9_130, 'admitted')], 9_200)).toBe('14 together, 6 first');
  });

  it('waits where just as many are served as can have flowed back', () => {
    const two = [...spent(), probe(6_000, 'admitted'), probe(6_050, 'admitted')];
    expect(said(two, 6_110)).toBe('probe: does the quota come back one by one?');
  });

  it('is sent after ten alone, since a quota that flows back as fast as they are sent refuses none', () => {
    const probes = Array.from({ length: 10 }, (_, index) => probe(9_110 + index * 5_500, 'admitted'));
    expect(said([...spent(), ...probes.slice(0, 9)], 58_000)).toBe(
      'probe: does the quota come back one by one?',
    );
    expect(said([...spent(), ...probes], 58_700)).toBe('14 together, 6 first');
  });

  it('heeds no refusal from before the quota was back', () => {
    const observations = [...spent(), probe(3_000, 'refused'), probe(9_110, 'admitted')];
    expect(said(observations, 9_120)).toBe('probe: does the quota come back one by one?');
  });

  it('waits for a quota that flows back: five alone, a slot and a half apart, then a whole window', () => {
    const two = [...spent(), probe(9_110, 'admitted'), probe(9_120, 'refused')];
    expect(said(two, 9_130)).toMatch(/^wait until 18125: /);
    expect(said(two, 18_125)).toBe('probe: does the quota come back one by one?');
    const five = [...two, ...[18_125, 27_130, 36_135].map((sentMs) => probe(sentMs, 'admitted'))];
    expect(said(five, 36_140)).toBe('wait until 96140: the quota flows back until it is whole');
    expect(said(five, 96_140)).toBe('14 together, 6 first');
  });
});

describe('after the burst', () => {
  const back = [...spent(), probe(61_000, 'admitted')];

  it('more than half of the quota shows that windows do not slide', () => {
    expect(said([...back, ...together(61_010, 6, 8)], 61_030)).toBe('stop: the quota is back');
  });

  it('up to half of it asks again when a log has forgotten all requests, and a weighed counter has not', () => {
    // The last one served in turn was answered at 100 ms; one window and 70 ms later.
    const half = [...back, ...together(61_010, 5, 9)];
    const early = [...spent(), probe(58_000, 'admitted'), ...together(58_010, 5, 9)];
    expect(said(early, 58_030)).toMatch(/^wait until 60170: a log has forgotten/);
    expect(said(half, 61_030)).toBe('4 together');
  });

  it('the second burst is the last one', () => {
    const observations = [...back, ...together(61_010, 1, 13), ...together(62_000, 1, 3)];
    expect(said(observations, 62_020)).toBe('stop: the quota is back');
  });
});
