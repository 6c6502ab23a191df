import { describe, expect, it } from 'vitest';
import { KEY, saidOf } from '../tests/fixtures/judged.ts';
import {
  type Answer,
  type Asked,
  type Differing,
  judgedOf,
  LIST,
  type Row,
  type Setting,
} from './fixtures/keyed-service.ts';
import { FOREIGN_ORIGIN } from './stimuli/way-around.ts';

/** What pages of other origins get, content in refusals, and in which places a key is tried. */

const isPage = ({ headers, method }: Asked) => headers.origin === FOREIGN_ORIGIN && method !== 'OPTIONS';
const isPreflight = ({ headers, method }: Asked) => headers.origin === FOREIGN_ORIGIN && method === 'OPTIONS';
const ORIGIN = 'Access-Control-Allow-Origin';
const COOKIES = { 'Access-Control-Allow-Credentials': 'true' };
const page =
  (fields: Answer['fields']): Differing =>
  (asked) =>
    isPage(asked) ? { ...(fields && { fields }) } : null;
/** For any page, with this answer to its preflight. */
const preflight =
  (fields: Answer['fields'], status = 204): Differing =>
  (asked) => {
    if (isPage(asked)) return { fields: { [ORIGIN]: '*' } };
    return isPreflight(asked) ? { status, ...(fields && { fields }) } : null;
  };
const ALLOWED = { [ORIGIN]: '*', 'Access-Control-Allow-Headers': 'X, AUTHORIZATION' };
const pages = (origins: readonly string[]): Setting => ({ facts: { 'cors.origins': { origins } } });

const long = (length: number) => `"${'x'.repeat(length - 2)}"`;
interface Content {
  readonly sample: string;
  readonly refusal: string;
  /** At a path that does not exist, without a key. */
  readonly open?: string;
}
const content =
  ({ sample, refusal, open }: Content): Differing =>
  ({ isIn, target }) => {
    if (isIn) return target === '/v1/resources' ? { body: sample } : null;
    const isOpen = open !== undefined && target.includes('no-such-resource');
    return isOpen ? { status: 200, fields: { 'WWW-Authenticate': null }, body: open } : { body: refusal };
  };

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'auth.foreign-origin': [
    ['nothing of pages', () => null, /^pass/],
    [
      'with cookies',
      page({ [ORIGIN]: FOREIGN_ORIGIN, ...COOKIES }),
      /got Access-Control-Allow-Origin: https:\/\/elsewhere.invalid with/,
    ],
    [
      'null with cookies',
      page({ [ORIGIN]: 'null', ...COOKIES }),
      /got Access-Control-Allow-Origin: null with/,
    ],
    ['another with cookies', page({ [ORIGIN]: 'https://app.example', ...COOKIES }), /^pass/],
    ['without cookies', page({ [ORIGIN]: FOREIGN_ORIGIN }), /^pass/],
    [
      'another word',
      page({ [ORIGIN]: FOREIGN_ORIGIN, 'Access-Control-Allow-Credentials': 'false' }),
      /^pass/,
    ],
    [
      'no answer',
      (asked) => (isPage(asked) || isPreflight(asked) ? { isLost: true } : null),
      /^skipped: no response came/,
    ],
    [
      'origins are named',
      page({ [ORIGIN]: FOREIGN_ORIGIN, ...COOKIES }),
      /^skipped: the documents name the origins/,
      pages(['https://app.example']),
    ],
    [
      'all are named',
      page({ [ORIGIN]: FOREIGN_ORIGIN, ...COOKIES }),
      /with Access-Control-Allow-Credentials/,
      pages(['https://app.example', '*']),
    ],
  ],
  'auth.preflight': [
    ['no page may read', () => null, /^skipped: no page of another origin may read/],
    [
      'another page may',
      page({ [ORIGIN]: 'https://app.example' }),
      /^skipped: no page of another origin may read/,
    ],
    ['no answer', (asked) => (isPage(asked) ? { isLost: true } : null), /^skipped: no response came/],
    ['is answered', preflight(ALLOWED), /^pass/],
    ['is answered with its origin', preflight({ ...ALLOWED, [ORIGIN]: FOREIGN_ORIGIN }), /^pass/],
    ['is refused', preflight(ALLOWED, 401), /got status 401/],
    ['names no origin', preflight({ ...ALLOWED, [ORIGIN]: null }), /got Access-Control-Allow-Origin: none/],
    [
      'names another origin',
      preflight({ ...ALLOWED, [ORIGIN]: 'https://app.example' }),
      /got Access-Control-Allow-Origin: https:\/\/app.example/,
    ],
    [
      'does not name the header',
      preflight({ ...ALLOWED, 'Access-Control-Allow-Headers': 'X' }),
      /got authorization not allowed/,
    ],
    [
      'names all headers',
      preflight({ ...ALLOWED, 'Access-Control-Allow-Headers': '*' }),
      /got authorization not allowed/,
    ],
    ['origins are named', preflight(ALLOWED, 401), /^skipped: the documents name the origins/, pages(['*'])],
  ],
  'auth.content-withheld': [
    [
      '24 characters in a refusal',
      content({ sample: long(24), refusal: `[${long(24)}]` }),
      /got all of it with status 401/,
    ],
    ['23 characters in a refusal', content({ sample: long(23), refusal: `[${long(23)}]` }), /^pass/],
    [
      '23 characters as a refusal',
      content({ sample: long(23), refusal: long(23) }),
      /got all of it with status 401/,
    ],
    [
      'with an end of line',
      content({ sample: `${long(30)}\n`, refusal: long(30) }),
      /got all of it with status 401/,
    ],
    ['8 characters', content({ sample: '{"a":12}', refusal: '{"a":12}' }), /got all of it with status 401/],
    [
      '7 characters',
      content({ sample: '{"a":1}', refusal: '{"a":1}' }),
      /^skipped: the sample has too little content/,
    ],
    [
      'another page that is open',
      content({ sample: LIST, refusal: '{}', open: '{"welcome":"to all who come here"}' }),
      /^pass/,
    ],
    ['the same where all is open', content({ sample: LIST, refusal: '{}', open: LIST }), /^fail/],
    [
      'open, and so is the sample',
      ({ isIn, target }) =>
        isIn ? null : { status: 200, fields: { 'WWW-Authenticate': null }, body: target ? LIST : '' },
      /^(?!fail)/,
    ],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, setting] }) => {
    expect(saidOf(await judgedOf(differing, [id], setting), id)).toMatch(said);
  });
});

const PARAMETERS = ['api_key', 'apikey', 'api-key', 'key', 'token', 'access_token'];
const FIELDS = ['x-api-key', 'api-key', 'apikey', 'x-auth-token', 'x-access-token'];

it('tries the key in the places where services take one, in all at once and then in each alone', async () => {
  const places: string[][] = [];
  const { observations, outcomes } = await judgedOf(
    ({ target, headers, key }) => {
      const parameters = [...new URL(`http://a${target}`).searchParams].filter(([, value]) => value === KEY);
      const fields = Object.entries(headers).filter(
        ([name, value]) => FIELDS.includes(name) && value === KEY,
      );
      const found = [...parameters, ...fields].map(([name]) => name);
      if (found.length === 0 || key !== null) return null;
      places.push(found);
      return { status: 200, fields: { 'WWW-Authenticate': null }, body: LIST };
    },
    ['auth.location'],
  );
  expect(Object.values(outcomes)).not.toContain('error');
  expect(places.map((each) => each.toSorted()).toSorted((a, b) => b.length - a.length)).toEqual([
    PARAMETERS.toSorted(),
    FIELDS.toSorted(),
    ...[...PARAMETERS, ...FIELDS].map((name) => [name]),
  ]);
  expect(observations['auth.location']).toMatchObject({ parameters: PARAMETERS });
});

it('tries no other place where what stands in the way could read the key', async () => {
  const all = await judgedOf(() => null, ['auth.key-in-query'], {
    change: (config) => ({ ...config, provider: { kind: 'url', url: 'http://api.example' } }),
  });
  expect(saidOf(all, 'auth.key-in-query')).toMatch(
    /^skipped: the key is sent in other places only over https/,
  );
});

/** Names under which gateways hand on whom they have let in, or where a request came from. */
const CLAIMS = [
  ...[
    'X-User-Id',
    'X-Remote-User',
    'X-Auth-User',
    'X-WEBAUTH-USER',
    'X-Consumer-Username',
    'X-Goog-Authenticated-User-Email',
  ],
  ...[
    'X-MS-CLIENT-PRINCIPAL-NAME',
    'X-Tenant-Id',
    'X-Admin',
    'X-Role',
    'X-Internal-Request',
    'X-Forwarded-Client-Cert',
  ],
];

it('claims without a key what only a gateway may claim', async () => {
  const sent = new Map<string, Set<string>>();
  const note: Differing = ({ lines, key, target }) => {
    if (key === null)
      for (const [name, value] of lines) sent.set(name, (sent.get(name) ?? new Set()).add(value));
    if (key === null && target.includes('?')) sent.set('?', (sent.get('?') ?? new Set()).add(target));
    return null;
  };
  await judgedOf(note);
  const names = [...sent.keys()];
  expect(names).toEqual(expect.arrayContaining([...CLAIMS, 'X-API-Key', 'Proxy-Authorization', 'Cookie']));
  const valuesOf = (name: string) => [...(sent.get(name) ?? [])];
  expect(valuesOf('X-HTTP-Method-Override')).toEqual(['GET']);
  expect(valuesOf('X-Method-Override')).toEqual(['GET']);
  expect(valuesOf('X-Forwarded-For')).toEqual(['127.0.0.1']);
  expect(valuesOf('Forwarded')).toEqual(['for=127.0.0.1;host=localhost']);
  expect(valuesOf('Accept')).toContain('text/html');
});
