import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { showOpening } from './opening.ts';
import { createProgress, type ProgressOptions } from './progress.ts';

function setUp(options: Partial<ProgressOptions> = {}, columns = 80) {
  const stream = Object.assign(new PassThrough(), { columns });
  let nowMs = 1_000_000;
  let tick = () => {};
  let ticking = true;
  const progress = createProgress({
    stream,
    isTTY: false,
    color: false,
    quiet: false,
    now: () => nowMs,
    every: (_, callback) => {
      tick = callback;
      return () => {
        ticking = false;
      };
    },
    ...options,
  });
  return {
    progress,
    written: () => (stream.read() as Buffer | null)?.toString() ?? '',
    advance: (ms: number) => {
      nowMs += ms;
    },
    tick: () => tick(),
    ticking: () => ticking,
    now: () => nowMs,
  };
}

describe('progress off a terminal', () => {
  it('writes a line where something begins, waits, breaks or ends, and none per check', () => {
    const { progress, written, now } = setUp();
    progress.serviceStarted('search', 2);
    progress.estimated('search', 'at most 3 requests in 1.0 s');
    progress.outcome('search', 'json', 'pass');
    progress.waiting('search', 'rate-limit window', now() + 58_200);
    progress.outcome('search', 'json', 'fail');
    progress.serviceFinished('search');
    progress.outage('search', 'connection\nrefused \u001b[31m');
    progress.stop();
    expect(written()).toBe(
      [
        'search: started 2 checks, at most 3 requests in 1.0 s',
        'search: waiting 59 s: rate-limit window',
        'search: finished 2 of 2, 1 failed',
        'search: trouble connection refused',
        '',
      ].join('\n'),
    );
  });

  it('writes a line after ten quiet seconds, and none before', () => {
    const { progress, written, advance, tick } = setUp();
    progress.preparing('Starting search (container)');
    advance(9_000);
    tick();
    expect(written()).toBe('');
    advance(1_000);
    tick();
    expect(written()).toBe('conform: Starting search (container)\n');
    progress.serviceStarted('search', 155);
    progress.serviceStarted('orders', 155);
    progress.outcome('search', 'json', 'pass');
    progress.asking('orders', 'GET /v1/orders');
    tick();
    expect(written()).toBe('');
    advance(10_000);
    tick();
    expect(written()).toBe('orders: judged 0 of 155, GET /v1/orders; 1 service besides\n');
    tick();
    progress.serviceFinished('orders');
    progress.serviceFinished('search');
    written();
    advance(10_000);
    tick();
    expect(written()).toBe('');
  });

  it('says nothing of short waits, nor of every wait under a budget', () => {
    const { progress, written, now, advance } = setUp();
    progress.serviceStarted('search', 2);
    written();
    progress.waiting('search', 'budget', now() + 500);
    progress.waiting('search', 'budget', now() + 5_000);
    advance(4_000);
    progress.waiting('search', 'budget', now() + 5_000);
    expect(written()).toBe('search: waiting 5 s: budget\n');
  });
});

describe('progress on a terminal', () => {
  it('draws a line per service, with a countdown that goes on while nothing happens', () => {
    const { progress, written, now, advance, tick } = setUp({ isTTY: true });
    progress.serviceStarted('search', 4);
    progress.serviceStarted('realtime', 10);
    progress.outcome('search', 'json', 'pass');
    progress.outcome('search', 'json', 'fail');
    progress.waiting('realtime', 'rate-limit window', now() + 41_000);
    written();
    tick();
    const first = stripVTControlCharacters(written());
    expect(first).toContain('search    ━━━━━━━━········  2/4  1 failed  json\n');
    expect(first).toContain('realtime  ················   0/10  41 s  rate-limit window\n');
    advance(11_000);
    tick();
    expect(stripVTControlCharacters(written())).toContain('30 s  rate-limit window');
  });

  it('says what happens before a service is started, in place of the first words', () => {
    const opening = new PassThrough();
    showOpening(opening, 'Reading search …');
    const { progress, written } = setUp({ isTTY: true });
    expect(written()).toBe('\r\u001b[KReading the config\n');
    progress.preparing('Starting search (container)');
    expect(stripVTControlCharacters(written())).toContain('Starting search (container)\n');
  });

  it('names the request that is under way, and no full bar before all is judged', () => {
    const { progress, written, tick } = setUp({ isTTY: true });
    progress.serviceStarted('search', 155);
    progress.asking('search', 'GET /v1/resources');
    written();
    tick();
    expect(stripVTControlCharacters(written())).toContain(
      'search  ················    0/155  GET /v1/resources\n',
    );
    for (let judged = 0; judged < 154; judged++) progress.outcome('search', 'json', 'pass');
    tick();
    expect(stripVTControlCharacters(written())).toContain('━━━━━━━━━━━━━━━·  154/155  json\n');
  });

  it('takes up what it drew before drawing again, and clears it at the end', () => {
    const { progress, written, tick, ticking } = setUp({ isTTY: true });
    progress.serviceStarted('search', 4);
    written();
    tick();
    const takenUp = '\u001b[1G\u001b[1A\u001b[0J';
    expect(written().startsWith(takenUp)).toBe(true);
    progress.stop();
    expect(written()).toBe(takenUp);
    expect(ticking()).toBe(false);
    progress.stop();
    progress.outcome('search', 'json', 'pass');
    expect(written()).toBe('');
  });

  it('never breaks a line, however narrow the terminal and however long the reason', () => {
    const { progress, written, now, tick } = setUp({ isTTY: true });
    progress.serviceStarted('search', 4);
    progress.waiting('search', `\u001b[2J${'long '.repeat(100)}`, now() + 41_000);
    written();
    tick();
    const lines = stripVTControlCharacters(written()).trimEnd().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.length).toBeLessThan(80);
  });

  it('takes a terminal that does not know its width for an ordinary one', () => {
    const { progress, written, now, tick } = setUp({ isTTY: true }, 0);
    progress.serviceStarted('search', 4);
    progress.waiting('search', 'rate-limit window', now() + 41_000);
    written();
    tick();
    expect(stripVTControlCharacters(written())).toContain('41 s  rate-limit window');
  });

  it('keeps a said line above the block', () => {
    const { progress, written } = setUp({ isTTY: true });
    progress.serviceStarted('search', 4);
    written();
    progress.say('listening on http://127.0.0.1:8080');
    expect(stripVTControlCharacters(written())).toMatch(/^listening on http:\/\/127\.0\.0\.1:8080\nsearch /);
  });
});

describe('quiet progress', () => {
  it.each([true, false])('writes nothing (terminal: %s)', (isTTY) => {
    const { progress, written } = setUp({ isTTY, quiet: true });
    progress.serviceStarted('search', 4);
    progress.outage('search', 'gone');
    progress.say('hello');
    progress.stop();
    expect(written()).toBe('');
  });
});
