import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Operation, ServiceConfig } from '../../../service.ts';
import { answerJudge, described, inputTrials } from '../fixtures/described.ts';

const document = readFile(new URL('../fixtures/shop.yaml', import.meta.url), 'utf8');

function summary(config: ServiceConfig, operation: Operation) {
  const { id, method, path, fields, body, auth, uncallable, response } = operation;
  return {
    [id]: [
      `${method} ${path}`,
      ...fields.map(([name, value]) => `${name}: ${value}`),
      ...(body === null ? [] : [body.text]),
      `credential ${auth}`,
      uncallable ?? `status ${response.status}`,
      ...(uncallable === null ? inputTrials(config, operation) : []).map(
        ({ kind, what }) => `${kind} ${what}`,
      ),
    ],
  };
}

describe('a document in the style of those in use', () => {
  it('is understood as it is meant', async () => {
    const config = await described(await document);
    expect(Object.assign({}, ...config.operations.map((each) => summary(config, each)))).toMatchSnapshot();
  });

  it.each<[object, string | null]>([
    [{}, null],
    [{ total: null, parent: null, payment: { kind: 'invoice', due: null } }, null],
    // What `kind` names decides nothing: the first two fit one of the alternatives, the third both.
    [{ payment: { kind: 'card' } }, null],
    [{ payment: { kind: 'cash' } }, null],
    [
      { payment: { kind: 'card', last4: '0001' } },
      '"/data/0/payment" must match exactly one schema in oneOf (oneOf)',
    ],
    [{ payment: {} }, '"/data/0/payment" must match exactly one schema in oneOf (oneOf)'],
    [{ parent: { kind: 'invoice' } }, '"/data/0/parent" must have required property \'id\' (required)'],
    [
      { total: { amount: 1, tax: 2 } },
      '"/data/0/total" must NOT have additional properties ("tax") (additionalProperties)',
    ],
  ])('judges an order with %j', async (more, fault) => {
    const judge = await answerJudge(await document);
    expect(judge({ data: [{ kind: 'card', id: '1', ...more }] })?.message ?? null).toBe(fault);
  });
});
