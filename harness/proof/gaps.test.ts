import { describe, expect, it } from 'vitest';
import { type CheckDefinition, check, observation, suite } from '../check/check.ts';
import { practice } from '../contract/ground.ts';
import type { Consequence } from './consequences.ts';
import { gapsAmong, gapsIn } from './gaps.ts';
import type { Judged, ProvenCase } from './proof.ts';

const options = { title: 'does as it should', grounds: [practice('doing so')] };

function proven(id: string, ...provenBy: readonly [string, ...string[]]): CheckDefinition {
  return check(id, { ...options, provenBy }, () => {});
}

function shown(id: string, ...shownBy: readonly string[]): CheckDefinition {
  return observation(id, { ...options, shownBy }, () => {});
}

const suites = [
  suite('doors', 'Doors', [proven('door.closed', 'door-open'), proven('door.locked', 'door-unlocked')]),
  suite('windows', 'Windows', [proven('window.clean', 'window-dirty'), shown('window.colour', 'tinted')]),
];

function judged(id: string, outcome: Judged['outcome'] = 'fail'): Judged {
  return { id, outcome, message: 'expected this, got that' };
}

function proof(
  kind: ProvenCase['kind'],
  name: string,
  tripped: readonly Judged[] = [],
  more: Partial<ProvenCase> = {},
): ProvenCase {
  const service = 'search';
  return {
    service,
    kind,
    name,
    setting: 'bearer',
    tripped,
    blocked: [],
    observed: new Map(),
    requests: {},
    ...more,
  };
}

const seen = (colour: string) => ({
  observed: new Map([['window.colour', { 'window.colour': colour }]]),
});

/** Cases that leave no gap, by their names: those of the argument take the place of theirs. */
function cases(...others: readonly ProvenCase[]): readonly ProvenCase[] {
  const sound = [
    proof('conforming', '', [], seen('none')),
    proof('variant', 'tinted', [], seen('brown')),
    proof('defect', 'door-open', [judged('door.closed')]),
    proof('defect', 'door-unlocked', [judged('door.locked', 'warning')]),
    proof('defect', 'window-dirty', [judged('window.clean')]),
  ];
  return [...sound.filter(({ name }) => others.every((other) => other.name !== name)), ...others];
}

const gaps = (...others: readonly ProvenCase[]) => gapsIn(cases(...others), suites, []);

describe('the gaps of a proof', () => {
  it('are none when each check fails on its defect, and nothing on what conforms', () => {
    expect(gaps()).toEqual([]);
  });

  it('are checks that do not notice a defect which they name', () => {
    expect(gaps(proof('defect', 'window-dirty'))).toEqual([
      'window.clean does not notice the defect window-dirty',
    ]);
  });

  it('are checks without a defect, or with one that nobody has', () => {
    const unproven = { ...proven('window.whole', 'none'), provenBy: [] };
    const more = [...suites, suite('panes', 'Panes', [unproven, proven('pane.flat', 'pane-bent')])];
    expect(gapsIn(cases(), more, [])).toEqual([
      'window.whole names no defect',
      'pane.flat names the defect pane-bent, which is not there',
    ]);
  });

  it('are defects that only a check notices which does not name them', () => {
    const elsewhere = proof('defect', 'door-open', [judged('door.locked')]);
    expect(gaps(elsewhere)).toEqual(['door.closed does not notice the defect door-open']);
    const nobodys = proof('defect', 'door-squeaks', [judged('door.closed')]);
    expect(gaps(nobodys)).toEqual([
      'no check names the defect door-squeaks (trips door.closed)',
      'door-squeaks trips door.closed, whose suite does not name it: expected this, got that',
    ]);
  });

  it('are defects that nobody names or notices', () => {
    expect(gaps(proof('defect', 'door-squeaks'))).toEqual([
      'no check names the defect door-squeaks (trips nothing)',
    ]);
  });

  it('are checks of another suite that a defect trips as well', () => {
    const far = proof('defect', 'door-open', [judged('door.closed'), judged('window.clean')]);
    const said = 'door-open trips window.clean, whose suite does not name it: expected this, got that';
    expect(gaps(far)).toEqual([said]);
    expect(gaps(proof('defect', 'door-open', [judged('door.closed'), judged('door.locked')]))).toEqual([]);
  });

  it('are no known consequences, as long as they follow', () => {
    const known: Consequence[] = [
      { defects: ['door-open'], trips: ['window.clean'], because: 'the wind brings dust' },
    ];
    const far = proof('defect', 'door-open', [judged('door.closed'), judged('window.clean.north')]);
    expect(gapsIn(cases(far), suites, known)).toEqual([]);
    expect(gapsIn(cases(), suites, known)).toEqual([
      'door-open should trip window.clean as a consequence, and does not',
    ]);
    const forgotten = { defects: ['door-ajar'], trips: ['door.closed'], because: 'it is half open' };
    expect(gapsIn(cases(), suites, [forgotten])).toEqual([
      'a consequence is told of door-ajar, which is not there',
    ]);
  });

  it('are whatever a conforming service or a variant raises, and what it kept from being judged', () => {
    expect(gaps(proof('conforming', '', [judged('door.closed', 'warning')], seen('none')))).toEqual([
      'search as it is: door.closed warning: expected this, got that',
    ]);
    const keyed = { setting: 'header', blocked: [judged('door.locked', 'blocked')] } as const;
    expect(gaps(proof('variant', 'round-handle', [judged('door.closed')], keyed))).toEqual([
      'search round-handle (header): door.closed fail: expected this, got that',
      'search round-handle (header): door.locked blocked: expected this, got that',
    ]);
  });

  it('are faults of the harness, which prove nothing', () => {
    expect(gaps(proof('defect', 'door-open', [judged('door.closed', 'error')]))).toEqual([
      'door.closed does not notice the defect door-open',
      'door-open: door.closed met a harness error: expected this, got that',
    ]);
  });

  it('are observations that see the same of what should change them', () => {
    expect(gaps(proof('variant', 'tinted', [], seen('none')))).toEqual([
      'window.colour observes the same with tinted as without it',
    ]);
    expect(
      gapsIn(
        cases().filter(({ name }) => name !== 'tinted'),
        suites,
        [],
      ),
    ).toEqual(['window.colour names tinted, which is not there']);
  });

  it('count a check that stands for several things as seen in any of them', () => {
    expect(gaps(proof('defect', 'door-open', [judged('door.closed.front')]))).toEqual([]);
    expect(gaps(proof('defect', 'door-open', [judged('door.closed-at-night')]))).toEqual([
      'door.closed does not notice the defect door-open',
      'door-open trips door.closed-at-night, whose suite does not name it: expected this, got that',
    ]);
  });

  it('are of some cases alone what those leave open', () => {
    const [plain] = cases();
    const open = proof('defect', 'door-open', [judged('door.closed'), judged('door.locked')]);
    const few = [plain ?? open, open];
    expect(gapsAmong(['door-open'], few, suites, [])).toEqual([]);
    expect(
      gapsAmong(['door-open', 'window-dirty'], [...few, proof('defect', 'window-dirty')], suites),
    ).toEqual(['window.clean does not notice the defect window-dirty']);
    const far = proof('defect', 'door-open', [judged('door.closed'), judged('window.clean')]);
    expect(gapsAmong(['door-open'], [plain ?? far, far], suites, [])).toEqual([
      'door-open trips window.clean, whose suite does not name it: expected this, got that',
    ]);
  });
});
