import { describe, expect, it } from 'vitest';
import type { FaultSide } from '../../base/finding.ts';
import { Blocked, NotApplicable, Violation } from '../../base/verdict.ts';
import { Reply } from '../../wire/exchange/reply.ts';
import { exampleExchange } from '../../wire/fixtures/example-evidence.ts';
import { type Probe, probe } from '../session/probe.ts';
import { gather, holdEach, type Subject } from './hold.ts';

const piece = (evidence: string): Subject => ({ to: 'this', evidence });
const had = probe('had', async () => piece('e1'));
const foreign = probe('foreign', async (): Promise<Subject> => {
  throw new NotApplicable('no such thing here');
});
const missed = probe('missed', async (): Promise<Subject> => {
  throw new Blocked('it could not be had');
});
const broken = probe('broken', async (): Promise<Subject> => {
  throw new TypeError('a fault of ours');
});

/** As a session, for probes that send nothing. */
const ask = <E>({ send }: Probe<E>): Promise<E> => (send as () => Promise<E>)();
const gathered = (...asked: readonly Probe<Subject>[]) => gather<Subject>(asked, ask);

describe('evidence of several probes', () => {
  it('is that of the probes which apply', async () => {
    expect(await gathered(foreign, had)).toEqual({ all: [piece('e1')], shortfall: null });
  });

  it('is judged as far as it could be had, and then blocks', async () => {
    const shortfall = { end: 'blocked', reason: 'it could not be had' };
    expect(await gathered(missed, had, foreign)).toEqual({ all: [piece('e1')], shortfall });
  });

  it('does not apply where none of them does', async () => {
    await expect(gathered(foreign, foreign)).rejects.toThrow(new NotApplicable('no such thing here'));
  });

  it('blocks where the only one that applies could not be had', async () => {
    await expect(gathered(foreign, missed)).rejects.toThrow(new Blocked('it could not be had'));
  });

  it('hides no fault of the harness', async () => {
    await expect(gathered(had, broken)).rejects.toThrow(TypeError);
  });
});

describe('a deviation of several pieces', () => {
  const sideOf = (...sides: readonly FaultSide[]): FaultSide => {
    const hold = () =>
      holdEach(
        sides,
        'this',
        () => 'that',
        () => piece('e1'),
        () => undefined,
        (side) => side,
      );
    try {
      hold();
    } catch (thrown) {
      if (thrown instanceof Violation) return thrown.fault;
    }
    throw new Error('it holds');
  };

  it('is the fault of a side that all of them are, and else of the service or the document', () => {
    expect(sideOf('config', 'config')).toBe('config');
    expect(sideOf('config', 'service', 'document')).toBe('service');
    expect(sideOf('config', 'document')).toBe('document');
  });
});

describe('the deviations of pieces', () => {
  interface Held {
    readonly got: string | null;
    readonly to?: string;
    readonly at?: string;
    readonly change?: string | null;
  }

  function violated(...pieces: readonly Held[]): Violation | null {
    const subject = ({ to = 'GET', at, change }: Held): Subject => ({
      to,
      evidence: `of ${to}`,
      ...(at !== undefined && { documentedAt: at }),
      ...(change !== undefined && { change }),
    });
    try {
      holdEach(
        pieces,
        'this',
        ({ got }) => got,
        subject,
        () => undefined,
      );
      return null;
    } catch (thrown) {
      if (thrown instanceof Violation) return thrown;
      throw thrown;
    }
  }

  it('are none if each conforms', () => {
    expect(violated({ got: null }, { got: null })).toBeNull();
  });

  it('are named for three pieces, and counted for the others', () => {
    const of = (count: number) =>
      violated(...Array.from({ length: count }, (_, at) => ({ got: 'that', to: `GET ${at}` })));
    expect(of(3)?.message).toBe('expected this, got that for GET 0, for GET 1 and for GET 2');
    expect(of(3)?.deviation).not.toHaveProperty('more');
    expect(of(4)?.deviation.more).toBe(1);
    expect(of(5)?.message).toBe('expected this, got that for GET 0, for GET 1, for GET 2 and for 2 more');
  });

  it('have the first deviating piece as evidence, and each result once', () => {
    const found = violated(
      { got: null, to: 'A' },
      { got: 'b', to: 'B', at: 'p' },
      { got: 'c', to: 'C', at: 'p' },
      { got: 'b', to: 'D' },
      { got: 'e', to: 'E', at: 'q' },
    );
    expect(found).toMatchObject({
      evidence: 'of B',
      got: ['b', 'c', 'e'],
      places: ['p'],
      fault: 'service',
      change: null,
    });
    expect(found?.message).toBe('expected this, got b for B and for D; c for C and for 1 more');
  });

  it('have the first change, and the number of the others', () => {
    const change = (...changes: readonly (string | null)[]) =>
      violated(...changes.map((each) => ({ got: 'that', change: each })))?.change;
    expect(change(null, 'Do it.')).toBe('Do it.');
    expect(change('Do it.', 'Do it.')).toBe('Do it.');
    expect(change('Do it.', 'Do that.')).toBe('Do it. One more constraint needs the same.');
    expect(change('Do it.', 'Do that.', 'Do more.')).toBe('Do it. 2 more constraints need the same.');
  });

  it('are told for each piece as it is judged', () => {
    const told: unknown[] = [];
    holdEach(
      ['a', 'b'],
      'this',
      () => null,
      (evidence) => ({ to: 'GET', evidence }),
      (evidence, got) => told.push([evidence, got]),
    );
    expect(told).toEqual([
      ['a', null],
      ['b', null],
    ]);
  });
});

describe('evidence at hand', () => {
  const short = { all: [piece('e2')], shortfall: { end: 'note' as const, reason: 'some is missing' } };

  it('is taken with that of probes, in order', async () => {
    const asked = [piece('e1'), [piece('e2'), piece('e3')], had];
    const { all, shortfall } = await gather<Subject>(asked, ask);
    expect(all.map(({ evidence }) => evidence)).toEqual(['e1', 'e2', 'e3', 'e1']);
    expect(shortfall).toBeNull();
  });

  it('tells its first shortfall, unless a probe is blocked', async () => {
    const other = { all: [], shortfall: { end: 'blocked' as const, reason: 'more is missing' } };
    expect((await gather<Subject>([short, other], ask)).shortfall?.reason).toBe('some is missing');
    expect((await gather<Subject>([short, missed], ask)).shortfall?.reason).toBe('it could not be had');
    expect((await gather<Subject>([short, foreign], ask)).shortfall?.reason).toBe('some is missing');
  });

  it('of one exchange is taken once', async () => {
    const reply = new Reply(exampleExchange());
    expect((await gather<Subject>([[reply, new Reply(exampleExchange())], reply], ask)).all).toEqual([reply]);
  });
});
