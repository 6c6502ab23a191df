import { describe, expect, it } from 'vitest';
import { practice } from '../base/authority.ts';
import { type CheckDefinition, check, observation, suite } from '../engine/check/check.ts';
import { WORDS } from '../engine/check/fixtures/words.ts';
import { gapsAmong, gapsIn, matrixText } from './gaps.ts';
import { messageGaps, messageLines } from './messages.ts';
import type { CaseFinding, ProvenCase } from './proof.ts';

const options = { ...WORDS, grounds: [practice('doing so')] };
const judging = (id: string): CheckDefinition => check(id, { ...options, judge: () => {} });

const suites = [
  suite('doors', 'Doors', [judging('door.closed'), judging('door.locked')]),
  suite('windows', 'Windows', [
    judging('window.clean'),
    observation('window.colour', { ...options, observe: async () => ({ seen: null, note: '' }) }),
  ]),
];

function judged(id: string, outcome: CaseFinding['outcome'] = 'fail'): CaseFinding {
  return { id, outcome, message: 'expected this, got that [a ground]' };
}

function proof(
  kind: ProvenCase['kind'],
  name: string,
  findings: readonly CaseFinding[] = [],
  more: Partial<ProvenCase> = {},
): ProvenCase {
  return {
    service: 'search',
    kind,
    name,
    setting: 'bearer',
    fails: [],
    alsoFails: [],
    changes: [],
    described: false,
    preceded: false,
    traced: kind === 'variant',
    findings,
    passed: [],
    observed: {},
    requests: { doors: 3 },
    traces: kind === 'variant' ? ['usual', name] : ['usual'],
    ...more,
  };
}

/** A defect of which it is said that it trips one check, with what it does trip. */
function defect(name: string, fails: string, ...tripped: readonly CaseFinding[]): ProvenCase {
  return proof('defect', name, tripped, { fails: [fails] });
}

const seen = (colour: string) => ({
  changes: colour === 'none' ? [] : ['window.colour'],
  observed: { 'window.colour': { 'window.colour': colour } },
});

/** Cases that leave no gap, by their names: those of the argument take the place of theirs. */
function cases(...others: readonly ProvenCase[]): readonly ProvenCase[] {
  const sound = [
    proof('conforming', '', [], seen('none')),
    proof('counterpart', ''),
    proof('variant', 'tinted', [], seen('brown')),
    defect('door-open', 'door.closed', judged('door.closed')),
    defect('door-unlocked', 'door.locked', judged('door.locked', 'warning')),
    defect('window-dirty', 'window.clean', judged('window.clean')),
  ];
  return [...sound.filter(({ name }) => others.every((other) => other.name !== name)), ...others];
}

const gaps = (...others: readonly ProvenCase[]) => gapsIn(cases(...others), suites);

describe('the gaps of a proof', () => {
  it('are none when each check fails on its defect, and nothing on what conforms', () => {
    expect(gaps()).toEqual([]);
  });

  it('are defects that a check does not notice although they say so', () => {
    expect(gaps(defect('window-dirty', 'window.clean'))).toEqual([
      'window-dirty should trip window.clean, and does not',
    ]);
    expect(gaps(defect('window-dirty', 'window.clean', judged('door.closed')))).toContain(
      'window-dirty should trip window.clean, and does not',
    );
  });

  it('are checks that no defect proves, and defects of a check that is not there', () => {
    const more = [...suites, suite('panes', 'Panes', [judging('pane.flat')])];
    expect(gapsIn(cases(), more)).toEqual(['pane.flat is proven by no defect']);
    expect(gaps(defect('pane-bent', 'pane.flat'))).toEqual([
      'pane-bent should trip pane.flat, which is not there',
    ]);
    expect(gaps(defect('window-red', 'window.colour'))).toEqual([
      'window-red should trip window.colour, which is an observation',
    ]);
  });

  it('are defects that prove nothing', () => {
    expect(gaps(proof('defect', 'door-squeaks'))).toEqual(['door-squeaks proves nothing']);
    expect(gaps(proof('defect', 'door-squeaks', [judged('door.closed')]))).toEqual([
      'door-squeaks proves nothing',
      'door-squeaks trips door.closed, which it does not say: expected this, got that [a ground]',
    ]);
  });

  it('are checks that a defect trips without saying so', () => {
    const far = defect('door-open', 'door.closed', judged('door.closed'), judged('window.clean'));
    expect(gaps(far)).toEqual([
      'door-open trips window.clean, which it does not say: expected this, got that [a ground]',
    ]);
  });

  it('are no checks that a defect drags along, as long as they follow', () => {
    const windy = { fails: ['door.closed'], alsoFails: ['window.clean'] };
    const both = [judged('door.closed'), judged('window.clean.north')];
    expect(gaps(proof('defect', 'door-open', both, windy))).toEqual([]);
    expect(gaps(proof('defect', 'door-open', [judged('door.closed')], windy))).toEqual([
      'door-open should trip window.clean, and does not',
    ]);
  });

  it('are whatever a conforming service or a variant raises, and what it kept from being judged', () => {
    expect(gaps(proof('conforming', '', [judged('door.closed', 'warning')], seen('none')))).toEqual([
      'search as it is: door.closed warning: expected this, got that [a ground]',
    ]);
    const raised = [judged('door.closed'), judged('door.locked', 'blocked')];
    expect(gaps(proof('variant', 'round-handle', raised, { setting: 'header' }))).toEqual([
      'search round-handle (header): door.closed fail: expected this, got that [a ground]',
      'search round-handle (header): door.locked blocked: expected this, got that [a ground]',
    ]);
  });

  it('are faults of the harness, which prove nothing', () => {
    expect(gaps(defect('door-open', 'door.closed', judged('door.closed', 'error')))).toEqual([
      'door-open should trip door.closed, and does not',
      'door-open: door.closed met a harness error: expected this, got that [a ground]',
    ]);
  });

  it('are observations that see the same of what should change them', () => {
    const same = { ...seen('none'), changes: ['window.colour'] };
    expect(gaps(proof('variant', 'tinted', [], same))).toEqual([
      'tinted should change what window.colour observes, and does not',
    ]);
    expect(gaps(proof('variant', 'tinted', [], { changes: ['window.shape'] }))).toEqual([
      'tinted should change window.shape, which is not there',
    ]);
  });

  it('count a check that stands for several things as seen in any of them', () => {
    expect(gaps(defect('door-open', 'door.closed', judged('door.closed.front')))).toEqual([]);
    expect(gaps(defect('door-open', 'door.closed', judged('door.closed-at-night')))).toEqual([
      'door-open should trip door.closed, and does not',
      'door-open trips door.closed-at-night, which it does not say: expected this, got that [a ground]',
    ]);
  });

  it('are variants that leave no trace on any service, and nothing that their counterpart raises', () => {
    const idle = (more: Partial<ProvenCase>) => proof('variant', 'round-handle', [], more);
    const traceless = ['round-handle leaves no trace: it does nothing, or nothing meets it'];
    expect(gaps(idle({ traces: ['usual'] }))).toEqual(traceless);
    const elsewhere = { service: 'realtime', traces: ['round'] } as const;
    expect(gaps(idle({ traces: ['usual'] }), idle(elsewhere))).toEqual([]);
    // A trace of the setting is none of the variant.
    const header = { setting: 'header', traces: ['usual', 'in a header'] };
    const counterpart = proof('counterpart', '', [judged('door.closed')], header);
    expect(gapsAmong([idle(header), counterpart], suites)).toEqual(traceless);
  });

  it('are services that are asked too much, and messages that are not one line of the usual form', () => {
    const much = { requests: { doors: 158, windows: 20, limits: 500 } };
    expect(gaps(proof('variant', 'round-handle', [], much))).toEqual([
      'search round-handle: judged from 178 requests, and not from 1 to 177',
    ]);
    expect(gaps(proof('variant', 'round-handle', [], { ...much, setting: 'token' }))).toEqual([]);
    const said = { ...judged('door.closed'), message: 'it is open' };
    expect(gaps(defect('door-open', 'door.closed', said))).toEqual([
      'door-open: door.closed does not say in one line what it expected and got: it is open',
    ]);
  });

  it('are of some cases alone what those leave open', () => {
    const [plain] = cases();
    const open = defect('door-open', 'door.closed', judged('door.closed'));
    expect(gapsAmong([plain ?? open, open], suites)).toEqual([]);
    expect(gapsAmong([plain ?? open, open, defect('window-dirty', 'window.clean')], suites)).toEqual([
      'window-dirty should trip window.clean, and does not',
    ]);
  });
});

describe('the matrix of a proof', () => {
  it('says what each defect trips, what proves each check, and what conforms', () => {
    const text = matrixText(cases(), suites);
    expect(text).toMatch(/^ {2}door-open +door\.closed$/m);
    expect(text).toMatch(/^ {2}door\.closed +door-open$/m);
    expect(text).toMatch(/^ {2}window\.colour +tinted$/m);
    expect(text).toMatch(/^ {2}search as it is +nothing$/m);
  });
});

describe('the messages that have been read', () => {
  const known = [
    suite('auth', 'Authentication', [judging('auth.missing-credential'), judging('auth.wrong-credential')]),
  ];
  const first = defect('accepts-missing-key', 'auth.missing-credential', {
    ...judged('auth.missing-credential'),
    message: 'expected 401, got 200 in 17 ms [127.0.0.1:4010]',
  });
  const line = 'auth.missing-credential (accepts-missing-key) fail: expected 401, got 200 in N ms [HOST]';

  it('are one for each check, of the first defect that proves it, without what changes each time', () => {
    expect(messageLines([], [proof('defect', 'accepts-any-key'), first], known)).toEqual([line]);
  });

  it('stay where the defect was not tried, and go with their check', () => {
    const before = ['auth.wrong-credential (accepts-any-key) fail: as before', 'auth.gone (nobody) fail: so'];
    expect(messageLines(before, [first], known)).toEqual([line, before[0]]);
  });

  it('are told when they are others now', () => {
    expect(messageGaps([line], [line])).toEqual([]);
    expect(messageGaps(['auth.gone (nobody) fail: so'], [line])).toEqual([
      `new: ${line}`,
      'gone: auth.gone (nobody) fail: so',
      'once they are read, `npm run prove -- --update` keeps them',
    ]);
  });
});
