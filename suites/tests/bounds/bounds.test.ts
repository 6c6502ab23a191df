import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { functional } from '../../catalogue.ts';
import { configFor, holdsKey, type Judged, judgedServed, raised } from '../fixtures/judged.ts';

/**
 * Where a response is larger, deeper or otherwise more than is read of one, nobody can tell whether it is right: then
 * a check is neither green nor red.
 */
type Fields = Readonly<Record<string, string>>;

interface Served {
  readonly body: string | Buffer;
  readonly fields?: Fields;
}

/** A service that conforms, but for what it sends as its resource, or as its errors. */
async function found(
  served: Served,
  where: 'success' | 'errors' = 'success',
  suites = functional,
): Promise<Judged> {
  const answer = (response: ServerResponse, status: number, fields: Fields = {}) => {
    const special = status >= 400 === (where === 'errors');
    const type = { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' };
    const body = special ? served.body : '{"a":1}';
    const all = { ...type, ...fields, ...(special && served.fields) };
    response.writeHead(status, { ...all, 'Content-Length': Buffer.byteLength(body) }).end(body);
  };
  const handle = ({ headers, rawHeaders, method, url = '' }: IncomingMessage, response: ServerResponse) => {
    const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
    if (hosts.length !== 1) return answer(response, 400);
    if (!holdsKey(headers.authorization)) {
      return answer(response, 401, { 'WWW-Authenticate': 'Bearer realm="bounds"' });
    }
    if (url.split('?', 1)[0] !== '/v1/resources') return answer(response, 404);
    if (method === 'GET' || method === 'HEAD') return answer(response, 200);
    return answer(response, 405, { Allow: 'GET, HEAD' });
  };
  return judgedServed(handle, await configFor(), suites);
}

const JSON_ALONE = functional.filter(({ name }) => name === 'json');
const WHOLE = '[{"id":"r1","name":"One"}]';
const DEEP = `${'['.repeat(600)}${']'.repeat(600)}`;
const LARGE = `["${'a'.repeat(2 * 1024 * 1024)}"]`;

/** What only content that was read to its end can show. */
const ABOUT_CONTENT = [
  'json.utf8',
  'json.no-bom',
  'json.one-text',
  'json.syntax',
  'json.numbers',
  'json.unique-names',
  'json.big-integers',
  'auth.key-not-echoed',
];
/** What only a value can show. */
const ABOUT_VALUES = [
  'status.no-error-in-success',
  'json.success-shape',
  'json.shape-stable',
  'json.count-stable',
  'versioning.links',
  'versioning.reachable-links',
  'paths.forwarded-host',
];

/** What compares one content with another, octet by octet or by its shape. */
const ABOUT_TWO_ANSWERS = [
  'negotiation.true-type',
  'status.head-equals-get',
  'status.unmarked',
  'caching.range-content',
  'caching.range-total',
  'caching.open-range',
  'caching.suffix-range',
];

/** What a coding may hide. */
const ABOUT_CODINGS = [
  'negotiation.coding-once',
  'negotiation.true-coding',
  'negotiation.other-codings',
  'negotiation.refused-coding',
  'negotiation.similar-coding',
];

/** Of a message that was not read to its end nobody knows how it is framed. */
const FRAMING = ['framing.content-length', 'framing.chunks', 'framing.one-message'];

function idsWith(all: Judged, ...wanted: readonly string[]): readonly string[] {
  const found = Object.entries(raised(all));
  return found.flatMap(([id, outcome]) => (wanted.includes(outcome) ? [id] : [])).sort();
}

describe('a resource', () => {
  it('that is read whole leaves nothing open', async () => {
    expect(idsWith(await found({ body: WHOLE }), 'blocked', 'error')).toEqual([]);
  });

  it.each<[string, Served, RegExp, readonly string[]]>([
    [
      'is larger than what is read',
      { body: LARGE },
      /its body goes on after 1048576 octets/,
      [...FRAMING, 'negotiation.coding-once'],
    ],
    [
      'expands beyond what is decoded',
      { body: gzipSync(Buffer.alloc(9 * 1024 * 1024, ' ')), fields: { 'Content-Encoding': 'gzip' } },
      /expands beyond 8388608 octets/,
      ABOUT_CODINGS,
    ],
    [
      'is in a coding that is not known',
      { body: WHOLE, fields: { 'Content-Encoding': 'aes128gcm' } },
      /content coding that is not registered or not known here/,
      ABOUT_CODINGS,
    ],
  ])('that %s is neither right nor wrong', async (_, served, reason, more) => {
    const all = await found(served);
    const about = ['auth.content-withheld', ...ABOUT_CONTENT, ...ABOUT_VALUES, ...ABOUT_TWO_ANSWERS, ...more];
    expect(idsWith(all, 'blocked')).toEqual(about.sort());
    for (const id of ABOUT_CONTENT) expect(all.messages[id]).toMatch(reason);
    // Its URL is compared as it comes, and Node looks into no Host and takes chunks of old clients.
    expect(idsWith(all, 'fail', 'error')).toEqual([
      'framing.invalid-host',
      'framing.old-chunks',
      'paths.absolute-form',
    ]);
  });

  it('that is nested deeper than values are made is held to the grammar all the same', async () => {
    const all = await found({ body: DEEP });
    expect(idsWith(all, 'blocked')).toEqual([...ABOUT_VALUES, 'json.unique-names'].sort());
    expect(all.messages['json.unique-names']).toContain('nested 600 levels deep');
    expect(all.outcomes['json.syntax']).toBe('pass');
    const broken = await found({ body: `${DEEP}]` }, 'success', JSON_ALONE);
    expect(broken.outcomes['json.one-text']).toBe('fail');
    const unclosed = await found({ body: DEEP.slice(0, -1) }, 'success', JSON_ALONE);
    expect(unclosed.messages['json.syntax']).toContain('got the end');
  });

  it('in a coding that was not asked for is told of, and read all the same', async () => {
    const all = await found({ body: brotliCompressSync(WHOLE), fields: { 'Content-Encoding': 'br' } });
    expect(all.outcomes['negotiation.content-coding']).toBe('warning');
    expect(idsWith(all, 'blocked')).toEqual(['negotiation.refused-coding']);
  });
});

describe('errors', () => {
  it('that are larger than what is searched may hide something', async () => {
    const all = await found({ body: JSON.stringify({ error: 'x'.repeat(70_000) }) }, 'errors');
    expect(idsWith(all, 'blocked')).toEqual(['status.no-internals']);
    expect(all.messages['status.no-internals']).toContain('65536 of its 70012 octets are searched');
  });

  it('that are larger than what is read are judged by what is known', async () => {
    const all = await found({ body: LARGE }, 'errors');
    const ofErrors = ['auth.refusal-json', 'json.error-shape', 'status.no-internals', 'status.trace'];
    expect(idsWith(all, 'blocked')).toEqual([...ABOUT_CONTENT, ...FRAMING, ...ofErrors].sort());
    // Its URL is compared as it comes, and Node looks into no Host.
    expect(idsWith(all, 'fail', 'error')).toEqual(['framing.invalid-host', 'paths.absolute-form']);
  });
});
