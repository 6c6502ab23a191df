import { expect, it } from 'vitest';
import type { ServiceConfig } from '../../harness/config/service.ts';
import { documenting } from '../../harness/proof/setting.ts';
import { configFor, type Judged, judgedServed, saidOf } from '../tests/fixtures/judged.ts';
import { json } from './json.suite.ts';

interface Served {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string;
}

const FOUND: Served = { type: 'application/json', body: '{"resources":[1,2]}' };
const LOST: Served = { status: 404, type: 'application/json', body: '{"error":"not found"}' };

/** The documented request gets the first, in turn; every other one the second. */
async function judgedOf(
  sample: Served | ((at: number) => Served),
  error: Served = LOST,
  change: (config: ServiceConfig) => ServiceConfig = (config) => config,
): Promise<Judged> {
  let count = 0;
  return judgedServed(
    ({ url }, response) => {
      const isSample = url === '/v1/resources';
      if (isSample) count += 1;
      const found = typeof sample === 'function' ? sample(count) : sample;
      const { status = 200, type, body = '' } = isSample ? found : error;
      response.writeHead(status, type === undefined ? {} : { 'Content-Type': type }).end(body);
    },
    change(await configFor(undefined, true)),
    [json],
  );
}

const lists = (lengthOf: (at: number) => number, statusOf = (_: number) => 200) =>
  judgedOf((at) => ({
    ...FOUND,
    status: statusOf(at),
    body: JSON.stringify(Array.from({ length: lengthOf(at) }, () => 1)),
  }));

it.each(['json.success-media-type', 'json.body-present', 'json.success-shape'])(
  '%s says nothing of a documented request that is not served',
  async (id) => {
    const all = await judgedOf(LOST);
    expect(saidOf(all, id)).toBe('skipped: the documented request is not served');
    expect(all.observations).not.toHaveProperty(['success.shape']);
  },
);

it.each([
  ['utf-8', 'pass'],
  ['UTF8', 'pass'],
  ['utf-8x', 'fail'],
  ['x-utf-8', 'fail'],
])('a charset %s is a %s', async (charset, outcome) => {
  const { outcomes } = await judgedOf({ ...FOUND, type: `application/json; charset=${charset}` });
  expect(outcomes['json.charset']).toBe(outcome);
});

it('one byte is a body', async () => {
  const { outcomes } = await judgedOf({ ...FOUND, body: '1' }, { ...LOST, body: '1' });
  expect(outcomes).toMatchObject({
    'json.body-present': 'pass',
    'json.error-body-present': 'pass',
    'json.error-media-type': 'pass',
  });
  const { outcomes: of } = await judgedOf(
    { ...FOUND, body: '1' },
    { status: 404, type: 'text/html', body: 'n' },
  );
  expect(of['json.error-media-type']).toBe('fail');
});

it('the media types of errors without Content-Type are none', async () => {
  const { observations } = await judgedOf(FOUND, { status: 404, body: 'lost' });
  expect(observations['responses.media-types']).toEqual({ success: 'application/json', errors: ['none'] });
});

it('the shape of errors is that of the first', async () => {
  const { observations } = await judgedOf(FOUND);
  expect(observations['errors.shape']).toMatchObject({ same: true, shape: { type: 'object' } });
});

it('a documented response that is JSON only now and then has no steady shape', async () => {
  const all = await judgedOf((at) => (at % 3 === 0 ? { ...FOUND, body: 'busy' } : FOUND));
  expect(saidOf(all, 'json.shape-stable')).toMatch(/got no JSON for/);
});

it.each(['json.success-media-type', 'json.body-present'])('%s is about documented JSON', async (id) => {
  const page = documenting('responses.format', 'HTML');
  const all = await judgedOf({ type: 'text/html', body: '' }, LOST, page);
  expect(all.outcomes[id]).toBe('skipped');
});

it('the shape of errors that are no JSON is none', async () => {
  const { observations } = await judgedOf(FOUND, { ...LOST, type: 'text/html', body: '<p>' });
  expect(observations['errors.shape']).toEqual({ same: true, shape: null });
});

it('integers are not observed where no JSON came', async () => {
  const page = { type: 'text/html', body: '<p>' };
  const all = await judgedOf(page, { ...page, status: 404 });
  expect(saidOf(all, 'json.big-integers')).toBe('skipped: there is no such answer to judge');
  expect(all.observations).not.toHaveProperty(['json.big-integers']);
});

it('lists are counted where each answer is one, and served', async () => {
  expect(saidOf(await lists(() => 2), 'json.count-stable')).toBe('pass: ');
  expect(saidOf(await lists((at) => (at % 3 === 0 ? 1 : 2)), 'json.count-stable')).toMatch(
    /^warning: expected 2 entries each time, got 1 entry for 5 of 17 requests in a row, in turn/,
  );
  const failing = await lists(
    (at) => (at % 4 === 0 ? 0 : 2),
    (at) => (at % 4 === 0 ? 500 : 200),
  );
  expect(saidOf(failing, 'json.count-stable')).toBe('pass: ');
  expect(saidOf(await judgedOf({ ...FOUND, body: '{"name":"a"}' }), 'json.count-stable')).toBe(
    'skipped: the documented response is no list',
  );
});

it('lists that are too long to be read are not counted', async () => {
  const long = `[${'1,'.repeat(3_000_000)}1]`;
  const once = (status: number) =>
    judgedOf((at) => (at === 2 ? { ...FOUND, status, body: long } : { ...FOUND, body: '[1,2]' }));
  expect(saidOf(await once(200), 'json.count-stable')).toMatch(/^blocked: /);
  expect(saidOf(await once(500), 'json.count-stable')).toBe('skipped: the documented response is no list');
});

it('lists are counted beside one that is too long, and not where none differs', async () => {
  const long = `[${'1,'.repeat(3_000_000)}1]`;
  const saidOfLists = async (bodyOf: (at: number) => string) =>
    saidOf(await judgedOf((at) => ({ ...FOUND, body: at === 8 ? long : bodyOf(at) })), 'json.count-stable');
  expect(await saidOfLists((at) => (at % 3 === 0 ? '[1]' : '[1,2]'))).toMatch(/^warning/);
  expect(await saidOfLists((at) => (at % 3 === 0 ? '[1,"2"]' : '[1,2]'))).toMatch(/^blocked/);
});
