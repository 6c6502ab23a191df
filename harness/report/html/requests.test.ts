import { describe, expect, it } from 'vitest';
import { conformingService, sampleResults } from '../fixtures/sample-results.ts';
import { timeline } from './requests.ts';

describe('the timeline', () => {
  const [search] = sampleResults().services;
  if (!search) throw new Error('the sample has no service');

  it('tells in words what it shows', () => {
    expect(String(timeline(search))).toContain(
      '115 requests: 106 served, 7 refused (429), 2 other answers. The first refusal came 2.3 s after the first request. The plan grants 100 requests in 60 s.',
    );
  });

  it('draws the window of the plan from the first request that counted', () => {
    const [, left, width] =
      /class="window" x="([\d.]+)" y="8" width="([\d.]+)"/.exec(String(timeline(search))) ?? [];
    expect(Number(left)).toBe(110);
    // 60 s of the 61.4 s that the picture spans.
    expect(Number(width)).toBeCloseTo(870 * (60 / 61.4), 0);
  });

  it('draws what the quota fields told, and what was waited for, with the reason', () => {
    const [wait] = search.waits ?? [];
    if (!wait) throw new Error('the sample has no wait');
    const waits = [
      { ...wait, reason: 'until <the window> ends' },
      { reason: 'before everything', fromMs: wait.fromMs - 86_400_000, untilMs: wait.fromMs - 86_300_000 },
    ];
    const svg = String(timeline({ ...search, waits }));
    expect(svg).toContain('<li>Waited 58.0 s: until &lt;the window&gt; ends</li>');
    expect(svg).not.toContain('before everything');
    expect(svg).toContain('class="quota"');
  });

  it('is left out where no burst was sent', () => {
    expect(timeline(conformingService())).toBeNull();
  });

  it('has no window where there is no plan, and survives evidence that cannot be read', () => {
    const svg = String(
      timeline({
        ...search,
        plan: null,
        evidence: { ...search.evidence, bad: { kind: 'burst', id: 'bad' } },
      }),
    );
    expect(svg).toContain('<svg');
    expect(svg).not.toContain('class="window"');
  });
});
