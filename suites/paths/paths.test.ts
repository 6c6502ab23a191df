import { describe, expect, it } from 'vitest';
import { described } from '../../harness/config/operation/openapi/fixtures/described.ts';
import type { ServiceConfig } from '../../harness/config/service.ts';
import { configFor, holdsKey, type Judged, judgedServed, saidOf } from '../tests/fixtures/judged.ts';
import { paths } from './paths.suite.ts';
import { ELSEWHERE } from './stimuli/path.ts';

interface Answer {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const LIST: Answer = { body: '{"resources":[1,2]}' };
const OTHER: Answer = { body: '{"others":"x"}' };
const LOST: Answer = { status: 404, body: '{"error":"not found"}' };
const NO_KEY: Answer = { status: 401, fields: { 'WWW-Authenticate': 'Bearer' }, body: '{"error":"key"}' };

interface Asked {
  readonly target: string;
  readonly hasKey: boolean;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** What differs from a service that asks for a key at its only path; null for nothing. */
type Differing = (asked: Asked) => Answer | null;

async function judgedOf(
  differing: Differing,
  change: (config: ServiceConfig) => ServiceConfig = (config) => config,
): Promise<Judged> {
  return judgedServed(
    ({ url = '', headers }, response) => {
      const hasKey = holdsKey(headers.authorization);
      const usual = hasKey ? (url === '/v1/resources' ? LIST : LOST) : NO_KEY;
      const { status = 200, fields = {}, body = '' } = differing({ target: url, hasKey, headers }) ?? usual;
      response.writeHead(status, { 'Content-Type': 'application/json', ...fields }).end(body);
    },
    change(await configFor()),
    [paths],
  );
}

const at =
  (part: string, answer: Answer): Differing =>
  ({ target }) =>
    target.includes(part) ? answer : null;
const everywhere =
  (answer: Answer): Differing =>
  ({ target }) =>
    target === '/v1/resources' ? null : answer;

/** A redirect for paths that begin with a host. */
const leading =
  (answer: Answer, location: string): Differing =>
  ({ target }) =>
    /^\/(?:\/|%5c)/.test(target) ? { ...answer, fields: { Location: location } } : null;
const forwarded =
  (body: (host: string) => string): Differing =>
  ({ headers: { 'x-forwarded-host': host } }) =>
    host === undefined ? null : { body: body(String(host)) };

const SAID: Readonly<Record<string, readonly (readonly [string, Differing, RegExp])[]>> = {
  'paths.nul-truncation': [
    ['the documented resource', at('%00', LIST), /documented resource/],
    ['another resource', at('%00', OTHER), /^pass/],
    ['a refusal with its content', at('%00', { ...LIST, status: 404 }), /^pass/],
    ['the same as at every path', everywhere(LIST), /^skipped: the same is served at every path/],
  ],
  'paths.absolute-form': [
    ['is served', at('http://', LIST), /^pass/],
    ['leads to the path', at('http://', { status: 308, fields: { Location: '/v1/resources' } }), /^pass/],
    ['is not found', () => null, /status 404/],
  ],
  'paths.open-redirect': [
    ['to the host in the path', leading({ status: 302 }, `//${ELSEWHERE}/`), /a redirect|elsewhere|\/\//],
    ['to a path', leading({ status: 302 }, '/v1/resources'), /^pass/],
    ['to another host', leading({ status: 302 }, 'http://shop.example/'), /^pass/],
    ['no redirect but a Location', leading({ status: 404 }, `//${ELSEWHERE}/`), /^pass/],
  ],
  'paths.forwarded-host': [
    [
      'a link to that host',
      forwarded((host) => `{"next":"http://${host}/a","last":"http://${host}:8080/b"}`),
      /a link to [\w.-]+ for/,
    ],
    ['no link', forwarded(() => '{"next":"http://shop.example/"}'), /^pass/],
  ],
  'paths.letter-case': [['the resource without a key', at('/V1/RESOURCES', LIST), /status 200/]],
  'paths.from-open-place': [
    ['the resource without a key', at('/v1/public/../', LIST), /status 200/],
    ['another resource without a key', at('/v1/public/../', OTHER), /^pass/],
  ],
  'paths.dot-segments': [
    ['the resource without a key', at('/../', LIST), /status 200/],
    ['another resource without a key', at('/../', OTHER), /^pass/],
    ['a refusal with its content', at('/../', { ...LIST, status: 403 }), /^pass/],
    ['the same as at every path', everywhere(LIST), /^skipped: the same is served at every path/],
    [
      'a refusal at every path with its content',
      ({ target }) =>
        target.includes('/../') ? LIST : target === '/v1/resources' ? null : { ...LIST, status: 404 },
      /status 200/,
    ],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases)('%s', async (_, differing, said) => {
    expect(saidOf(await judgedOf(differing), id)).toMatch(said);
  });
});

/** A document whose operations have these paths; those of `open` want no credential. */
const documented = (open: readonly (readonly [method: string, path: string])[]) => ({
  openapi: '3.1.0',
  info: { title: 'places', version: '1' },
  security: [{ key: [] }],
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  paths: Object.fromEntries(
    [['get', '/v1/closed'] as const, ...open].map(([method, path]) => [
      path,
      {
        [method]: {
          ...(path !== '/v1/closed' && { security: [] }),
          responses: { 200: { description: 'found' } },
        },
      },
    ]),
  ),
});

it.each([
  [[], '/v1/public/'],
  [[['get', '/v1/news']], '/v1/news/'],
  [
    [
      ['get', '/v1/news'],
      ['get', '/v1/later'],
    ],
    '/v1/news/',
  ],
  [[['post', '/v1/session']], '/v1/public/'],
  [[['get', '/v1/news(1)']], '/v1/public/'],
] as const)('begins in the first place that a document opens: %j', async (open, start) => {
  const targets: string[] = [];
  const { operations } = await described(documented(open));
  const noted: Differing = ({ target }) => {
    targets.push(target);
    return null;
  };
  await judgedOf(noted, (config) => ({ ...config, operations }));
  expect(targets.filter((each) => /^\/v1\/[^/]+\/\.\.;\//.test(each))).toEqual([
    expect.stringContaining(start),
  ]);
});
