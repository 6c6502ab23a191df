import { describe, expect, it } from 'vitest';
import { practice } from '../../base/authority.ts';
import { type CheckDefinition, check, suite } from '../../engine/check/check.ts';
import { WORDS } from '../../engine/check/fixtures/words.ts';
import type { Entry } from '../../report/diagnosis/diagnose.ts';
import type { ProvenCase } from '../proof.ts';
import { dictionaryGaps, dictionaryOf, dictionaryText } from './dictionary.ts';

const judging = (id: string): CheckDefinition =>
  check(id, { ...WORDS, grounds: [practice('doing so')], judge: () => {} });
const SUITES = [suite('doors', 'Doors', [judging('door.closed'), judging('door.locked')])];
const DEFECT = 'no-date';

/** What came of the defect on one service: `door.closed: got` fails so, `door.locked` alone passes. */
function proven(service: ProvenCase['service'], ...checks: readonly string[]): ProvenCase {
  const found = checks.filter((each) => each.includes(': ')).map((each) => each.split(': '));
  return {
    service,
    kind: 'defect',
    name: DEFECT,
    setting: 'bearer',
    fails: ['door.closed'],
    alsoFails: [],
    changes: [],
    described: true,
    preceded: false,
    traced: false,
    findings: found.map(([id = '', text = '']) => ({
      id,
      outcome: 'fail',
      message: '',
      finding: { subject: service, expected: 'a', got: [{ text, stimuli: [] }], evidence: null },
    })),
    passed: checks.filter((each) => !each.includes(': ')),
    observed: {},
    requests: {},
    traces: [],
  };
}

function entryOf(cases: readonly ProvenCase[]): Entry | undefined {
  return dictionaryOf(cases, SUITES, []).find(({ defect }) => defect === DEFECT);
}

describe('the fault dictionary', () => {
  it('has what a fault causes wherever it is judged, and apart from it what it causes only sometimes', () => {
    const everywhere = entryOf([
      proven('search', 'door.closed: status 200', 'door.locked: none'),
      proven('realtime', 'door.closed: status 201', 'door.locked'),
    ]);
    expect(everywhere).toMatchObject({
      services: ['search', 'messaging', 'realtime'],
      under: ['search, bearer', 'realtime, bearer'],
      certain: { 'door.closed': [['status 2xx']] },
      possible: { 'door.locked': [['none']] },
    });
  });

  it('takes no notice of a service on which nothing is seen of it', () => {
    const seen = entryOf([proven('search', 'door.closed: none'), proven('realtime', 'door.closed')]);
    expect(seen).toMatchObject({ under: ['search, bearer'], certain: { 'door.closed': [['none']] } });
  });

  it('stays as it is while the same comes in other words by chance', () => {
    const kept = entryOf([proven('search', 'door.closed: a pong of one and of two and of three')]);
    const now = dictionaryOf(
      [proven('search', 'door.closed: a pong of one and of two and of four')],
      SUITES,
      kept ? [kept] : [],
    );
    expect(now).toEqual([kept]);
    expect(dictionaryGaps(kept ? [kept] : [], now)).toEqual([]);
  });

  it('learns what comes only now and then, and what is new', () => {
    const kept = entryOf([proven('search', 'door.closed: none', 'door.locked: none')]);
    const now = dictionaryOf([proven('search', 'door.closed: two')], SUITES, kept ? [kept] : []);
    expect(now).toMatchObject([
      { certain: { 'door.closed': [['two']] }, possible: { 'door.locked': [['none']] } },
    ]);
    expect(dictionaryGaps(kept ? [kept] : [], now)).toEqual([
      expect.stringContaining('out of date about no-date'),
    ]);
  });

  it('keeps what was not tried again', () => {
    const kept = entryOf([proven('search', 'door.closed: none')]);
    expect(dictionaryOf([], SUITES, kept ? [kept] : [])).toEqual([kept]);
  });

  it('is written with a line for each fault', () => {
    const entries = dictionaryOf([proven('search', 'door.closed: none')], SUITES, []);
    expect(JSON.parse(dictionaryText(entries))).toEqual(entries);
    expect(dictionaryText(entries).trimEnd().split('\n')).toHaveLength(entries.length + 2);
  });
});
