import { describe, it } from 'vitest';
import { type BadConfig, expectFault, ORDERS_CONTRACT } from '../fixtures/config-folder.ts';

const clause = (text: string) => `${ORDERS_CONTRACT}  - ${text}\n`;
const PLACE = 'place: { section: Any, row: 1 }';

const CONTRACTS: readonly BadConfig[] = [
  {
    what: 'a clause of an unknown key',
    contract: clause(`{ key: §limits.rates, standing: not-shown, ${PLACE} }`),
    key: 'clauses.2.key',
    problem: '"limits.rates" is not known here',
    remedy: 'did you mean limits.rate',
  },
  {
    what: 'a key with two clauses',
    contract: clause(`{ key: §limits.rate, standing: not-shown, ${PLACE} }`),
    key: 'clauses.2.key',
    problem: 'clause 2 has the key limits.rate already',
    remedy: 'join the two',
  },
  {
    what: 'an unknown standing',
    contract: clause(`{ key: auth.scheme, standing: §state, value: API key, ${PLACE} }`),
    key: 'clauses.2.standing',
    problem: '"state" is not known here',
    remedy: 'did you mean stated?',
  },
  {
    what: 'a value of the wrong shape',
    contract: clause(`{ key: versioning.prefix, standing: stated, value: §v1, ${PLACE} }`),
    key: 'clauses.2.value',
    problem: 'versioning.prefix: the value must match pattern',
    remedy: 'the path prefix that names the version',
  },
  {
    what: 'a value that is wrong inside',
    contract: ORDERS_CONTRACT.replace('path: /orders', 'path: §orders'),
    key: 'clauses.0.value.path',
    problem: 'endpoint.sample',
    remedy: 'the documented sample request',
  },
  {
    what: 'a value with an unknown key',
    contract: ORDERS_CONTRACT.replace('{ method: GET', '§{ verb: GET, method: GET'),
    key: 'clauses.0.value',
    problem: '(verb)',
    remedy: 'contract.schema.json',
  },
  {
    what: 'a rate whose window has no unit',
    contract: ORDERS_CONTRACT.replace(
      'standing: not-shown',
      'standing: stated\n    value: { requests: 5, window: §60 }',
    ),
    key: 'clauses.1.value.window',
    problem: 'limits.rate',
    remedy: 'how many requests',
  },
  {
    what: 'a stated clause without a value',
    contract: clause(`§{ key: auth.scheme, standing: stated, ${PLACE} }`),
    key: 'clauses.2.value',
    problem: 'needs a value',
    remedy: 'add `value:`',
  },
  {
    what: 'a value that is not shown',
    contract: clause(`{ key: auth.scheme, standing: not-shown, value: §API key, ${PLACE} }`),
    key: 'clauses.2.value',
    problem: 'has no value',
    remedy: 'correct the standing',
  },
  {
    what: 'a contradiction with nothing',
    contract: clause(
      `{ key: auth.scheme, standing: stated, value: API key, contradicts: [§auth.sample], ${PLACE} }`,
    ),
    key: 'clauses.2.contradicts.0',
    problem: 'this contract has no clause auth.sample',
    remedy: 'another clause',
  },
  {
    what: 'a contradiction with itself',
    contract: clause(
      `{ key: auth.scheme, standing: stated, value: API key, contradicts: [§auth.scheme], ${PLACE} }`,
    ),
    key: 'clauses.2.contradicts.0',
    problem: 'contradicts itself',
    remedy: 'another clause',
  },
  {
    what: 'a clause at a row that is not there',
    contract: ORDERS_CONTRACT.replace(
      '{ document: orders.md }',
      '{ document: orders.md, rows: { Endpoints: 1 } }',
    ).replace('place: { section: Limits', 'place: §{ section: Limits'),
    key: 'clauses.1.place',
    problem: 'no row 1 in "Limits"',
    remedy: 'correct one of the two',
  },
  {
    what: 'a clause without a place',
    contract: clause('§{ key: auth.scheme, standing: not-shown }'),
    key: 'clauses.2.place',
    problem: 'is missing',
    remedy: 'add `place:`',
  },
  {
    what: 'an unknown key of a clause',
    contract: clause(`{ key: auth.scheme, standing: not-shown, §valeu: API key, ${PLACE} }`),
    key: 'clauses.2.valeu',
    problem: 'unknown key',
    remedy: 'did you mean value?',
  },
  {
    what: 'a contract under the name of another',
    contract: ORDERS_CONTRACT.replace('contract: orders', 'contract: §bills'),
    key: 'contract',
    problem: 'is not the name of this file',
    remedy: 'rename the file',
  },
  {
    what: 'a contract without clauses',
    contract: `${ORDERS_CONTRACT.split('clauses:')[0]}clauses: §[]\n`,
    key: 'clauses',
    problem: 'must NOT have fewer than 1 items',
    remedy: 'a list of clauses',
  },
  {
    what: 'a contract that is no YAML',
    contract: 'contract: orders\n§\ttitle: x\n',
    problem: 'a tab is used to indent',
    remedy: 'spaces',
  },
];

describe('a contract that says something wrong', () => {
  it.each(CONTRACTS)('is refused: $what', expectFault);
});
