import { describe, expect, it } from 'vitest';
import type { FaultSide } from '../../base/finding.ts';
import { Blocked, NotApplicable, Violation } from '../../base/verdict.ts';
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
