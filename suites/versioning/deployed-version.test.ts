import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { ServiceConfig } from '../../harness/config/service.ts';
import { functional } from '../catalogue.ts';
import { amiss, configFor, judgedServed, KEY, saidOf } from '../tests/fixtures/judged.ts';

type Place = NonNullable<ServiceConfig['deployedVersion']>;

interface Told {
  readonly header?: string;
  /** What comes from `/version`; 404 where it is left out. */
  readonly content?: string | Buffer;
}

const OF_VERSION = ['versioning'];

/** A service that tells its version, judged by these suites. */
async function judgedWith(place: Place | null, { header, content }: Told, suites = OF_VERSION) {
  let asked = 0;
  const serve: RequestListener = ({ url = '', headers }, response) => {
    const isRight = headers.authorization === `Bearer ${KEY}`;
    if (isRight && header !== undefined) response.setHeader('X-Build', header);
    const isVersion = url === '/version';
    if (isVersion) asked += 1;
    const body = isVersion ? content : url === '/v1/resources' ? '[]' : undefined;
    const isLost = isRight && body === undefined;
    const status = isRight ? (body === undefined ? 404 : 200) : 401;
    if (!isRight) response.setHeader('WWW-Authenticate', 'Bearer realm="versions"');
    response.writeHead(status, { 'Content-Type': isVersion ? 'text/plain' : 'application/json' });
    response.end(isLost ? '1.0 of the page for lost paths' : status === 200 ? body : undefined);
  };
  const config = { ...(await configFor()), ...(place && { deployedVersion: place }) };
  const chosen = functional.filter(({ name }) => suites.includes(name));
  return { run: await judgedServed(serve, config, chosen), asked };
}

const HEADER: Place = { header: 'X-Build' };
const TEXT: Place = { path: '/version', pointer: null };
const COMMIT: Place = { path: '/version', pointer: '/build/a~1b/0' };
const HASH = /^sha256:[0-9a-f]{64}$/;

const CASES: Readonly<Record<string, readonly [Place, Told, unknown]>> = {
  'a header': [HEADER, { header: ' 1.4.0 ' }, '1.4.0'],
  'a header that is not there': [HEADER, {}, null],
  'a header of 200 characters': [HEADER, { header: 'x'.repeat(200) }, 'x'.repeat(200)],
  'a header of 201 characters': [HEADER, { header: 'x'.repeat(201) }, expect.stringMatching(HASH)],
  'a truth value in JSON': [COMMIT, { content: '{"build":{"a/b":[true]}}' }, 'true'],
  'a header that is too long': [HEADER, { header: 'x'.repeat(5_000) }, expect.stringMatching(HASH)],
  'the text at a path': [TEXT, { content: 'v3-17-gabcdef\n' }, 'v3-17-gabcdef'],
  'a text that is too long': [TEXT, { content: 'x'.repeat(100_000) }, expect.stringMatching(HASH)],
  'a text that is too long to be read': [TEXT, { content: 'x'.repeat(5_000_000) }, null],
  'a text that is no UTF-8': [TEXT, { content: Buffer.from([0xff, 0xfe]) }, null],
  'an empty text': [TEXT, { content: ' \n' }, null],
  'a path that is not there': [TEXT, {}, null],
  'a member of JSON': [COMMIT, { content: '{"build":{"a/b":["c0ffee"]}}' }, 'c0ffee'],
  'a number in JSON': [COMMIT, { content: '{"build":{"a/b":[17]}}' }, '17'],
  'an object in JSON': [COMMIT, { content: '{"build":{"a/b":[{}]}}' }, null],
  'a member that is not there': [{ path: '/version', pointer: '/constructor/name' }, { content: '{}' }, null],
  'what is no JSON': [COMMIT, { content: '<html>' }, null],
  'a secret': [TEXT, { content: `built for ${KEY}` }, expect.not.stringContaining(KEY)],
};

describe.concurrent('the version that is deployed', () => {
  it('is not told by a page for lost paths', async () => {
    const { run } = await judgedWith(TEXT, {});
    expect(saidOf(run, 'versioning.deployed')).toBe('observed: GET /version is answered 404');
  });

  it.each(Object.entries(CASES))('is told by %s', async (_, [place, told, expected]) => {
    const { run, asked } = await judgedWith(place, told);
    expect(run.observations).toHaveProperty(['versioning.deployed'], expected);
    expect(asked).toBe('path' in place ? 1 : 0);
  });

  it('is nothing to be asked for where the config says nothing of it', async () => {
    const { run, asked } = await judgedWith(null, { header: '1', content: '1' });
    expect([run.outcomes['versioning.deployed'], asked]).toEqual(['skipped', 0]);
  });

  it('is asked for without a word against how it is told', async () => {
    const all = functional.map(({ name }) => name);
    const [{ run: with_, asked }, { run: without }] = await Promise.all([
      judgedWith(TEXT, { content: 'v3' }, all),
      judgedWith(null, { content: 'v3' }, all),
    ]);
    expect(asked).toBe(1);
    expect(with_.requests - without.requests).toBe(1);
    expect(amiss(with_)).toEqual(amiss(without));
  });
});
