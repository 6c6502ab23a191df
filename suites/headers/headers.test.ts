import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { serving } from '../../harness/base/fixtures/server.ts';
import { configFor, judgedInTurn, saidOf } from '../tests/fixtures/judged.ts';
import { headers } from './headers.suite.ts';

interface Answer {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly dated?: boolean;
}

const FOUND: Answer = { fields: { 'Content-Type': 'application/json' }, body: '{"resources":[]}' };

/** What a check says if the documented request gets this answer, in turn, and every other one the last. */
async function saidBy(
  id: string,
  answer: Answer | ((at: number) => Answer),
  other: Answer = { status: 404 },
): Promise<string> {
  let count = 0;
  const server = createServer(({ url }, response) => {
    const isFound = url === '/v1/resources';
    if (isFound) count += 1;
    const found = typeof answer === 'function' ? answer(count) : answer;
    const { status = 200, fields = {}, body = '', dated = true } = isFound ? found : other;
    response.sendDate = dated;
    response.writeHead(status, fields).end(body);
  });
  const { url, stop } = await serving(server);
  const alone = { ...headers, checks: headers.checks.filter((check) => check.id === id) };
  const all = await judgedInTurn(await configFor(undefined, true), [alone], { url }).finally(stop);
  return saidOf(all, id);
}

const untyped = (body: string): Answer => ({ ...FOUND, fields: {}, body });
const withField = (name: string, value: string): Answer => ({
  ...FOUND,
  fields: { ...FOUND.fields, [name]: value },
});

it.each<[string, string, Answer, RegExp]>([
  [
    'needs a type from the first byte on',
    'headers.content-type',
    untyped('1'),
    /^blocked: json.success-media-type/,
  ],
  ['needs no type without content', 'headers.content-type', untyped(''), /^skipped/],
  ['is no Cache-Control if there is none', 'headers.cache-control-form', FOUND, /^skipped/],
  ['has directives', 'headers.cache-control-form', withField('Cache-Control', 'no-store'), /^pass/],
  ['needs a Date', 'headers.date', { ...FOUND, dated: false }, /^warning/],
  ['needs a Date with a redirect', 'headers.date', { status: 302, dated: false }, /^warning/],
  ['may be nosniff', 'headers.nosniff', withField('X-Content-Type-Options', 'nosniff'), /^pass/],
  ['may be NoSniff', 'headers.nosniff', withField('X-Content-Type-Options', 'NoSniff'), /^pass/],
  ['may be no other option', 'headers.nosniff', withField('X-Content-Type-Options', 'sniff'), /^warning/],
])('an answer %s', async (_, id, answer, said) => {
  expect(await saidBy(id, answer)).toMatch(said);
});

it('a failure needs no Date', async () => {
  const failure = { status: 500, dated: false };
  expect(await saidBy('headers.date', FOUND, failure)).toBe('pass: ');
  expect(await saidBy('headers.date', FOUND, { ...failure, status: 404 })).toMatch(/^warning/);
});

it('a version in a later answer is found too', async () => {
  const later = (at: number) => (at > 1 ? withField('Server', 'shop/1.2.3') : FOUND);
  expect(await saidBy('headers.no-product-version', later)).toMatch(/^warning: .*1\.2\.3/);
});

it('fields that come and go are named', async () => {
  const now = (at: number) => (at % 3 === 0 ? withField('Cache-Control', 'no-store') : FOUND);
  expect(await saidBy('headers.steady', now)).toMatch(/^warning/);
});
