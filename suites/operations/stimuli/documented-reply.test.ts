import { describe, expect, it } from 'vitest';
import { OK } from '../../../harness/config/operation/openapi/fixtures/described.ts';
import { DocumentedReply, headerValues, reachesOperation } from './documented-reply.ts';
import { content, firstOperation, received, thingsWith } from './fixtures/documented.ts';

const things = thingsWith({ 200: [content('application/json')], 404: [] });

describe('a message about a response', () => {
  it.each([
    ['/things as documented', 'GET /things as documented'],
    ['the documented sample', 'GET /things the documented sample'],
  ])('names the operation once: %s', (purpose, said) => {
    expect(new DocumentedReply(things, received({ exchange: { purpose } }), true).to).toBe(said);
  });

  it('says where the document is wrong', () => {
    expect(new DocumentedReply(things, received(), true).documentedAt).toMatch(/api\.yaml:\d+:\d+$/);
  });
});

describe('the schema of a response', () => {
  const number = { type: 'number' };
  const text = { type: 'string' };
  const whole = { type: 'integer' };

  it.each([
    ['application/json', number],
    ['application/json; charset=utf-8', number],
    ['application/hal+json', text],
    ['application/problem+json', text],
    ['application/json+json', text],
    ['application/vnd.things', null],
    [null, null],
  ])('is that of the nearest documented media type: %s', (type, schema) => {
    const operation = thingsWith({
      200: [
        content('*/*', whole),
        content('application/*+json', text),
        content('application/*', whole),
        content('application/json', number),
      ],
    });
    expect(new DocumentedReply(operation, received({ type }), true).schema).toEqual(schema);
  });

  it('is none if another status is documented alone', () => {
    const reply = new DocumentedReply(things, received({ status: 201 }), true);
    expect([reply.documented, reply.contents, reply.schema]).toEqual([null, [], null]);
  });
});

describe('a media type', () => {
  const said = (type: string | null, ...documented: readonly string[]) => {
    const operation = thingsWith({ 200: documented.map((each) => content(each)) });
    return new DocumentedReply(operation, received({ type }), true).foreignMediaType;
  };

  it.each([
    ['application/json', 'application/json'],
    ['application/hal+json', 'application/*+json'],
    ['text/csv', 'text/*'],
    ['text/csv', '*/*'],
  ])('that is documented is no fault: %s for %s', (type, documented) => {
    expect(said(type, 'image/png', documented)).toBeNull();
  });

  it.each([
    ['text/html', 'application/json'],
    ['text/json', 'application/*'],
    ['application/x+json-seq', 'application/*+json'],
    ['x/hal+json', 'application/*+json'],
    // Prefix and suffix must not overlap.
    ['application/vnd.ab', 'application/vnd.a*ab'],
    ['application/jsonp', 'application/json'],
  ])('that is not documented is a fault: %s for %s', (type, documented) => {
    expect(said(type, documented)).toBe(`${type} instead of ${documented}`);
  });

  it('that is missing is a fault, and all documented ones are named', () => {
    expect(said(null, 'application/json', 'text/csv')).toBe('none instead of application/json, text/csv');
  });
});

describe('the media type of a response', () => {
  const isTyped = (method: string, status: number, accept: string | null, code: string | number = status) => {
    const operation = thingsWith({ [code]: [content('application/json'), content('text/*')] });
    const fields = accept === null ? [] : [['Accept', accept] as const];
    return new DocumentedReply(operation, received({ status, request: { method, fields } }), true).isTyped;
  };

  // RFC 9110 §12.5.1.
  it.each([
    null,
    'application/json',
    'Application/JSON;q=0.5',
    'image/png, application/json',
    '*/*',
    'application/*',
    'text/csv',
    'application/json;q=0.05',
  ])('is judged if the client takes a documented one: %s', (accept) => {
    expect(isTyped('GET', 200, accept)).toBe(true);
  });

  it.each([
    'image/png',
    'application/json;q=0',
    'application/json; q=0.000 , image/png',
    '*/*;q=0;x=1, image/png',
    '',
  ])('is left to the service if the client takes none that is documented: %s', (accept) => {
    expect(isTyped('GET', 200, accept)).toBe(false);
  });

  // RFC 9110 §9.3.2, §15.3.5 to §15.3.7 and §15.4.5.
  it.each<[string, number]>([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 205],
    ['GET', 206],
    ['GET', 304],
  ])('is not asked of a response to %s with status %i', (method, status) => {
    expect(isTyped(method, status, null, 'default')).toBe(false);
  });

  it('is not asked of a status without documented content', () => {
    expect(new DocumentedReply(things, received({ status: 404 }), true).isTyped).toBe(false);
  });
});

describe('an undocumented status', () => {
  interface Sent {
    readonly codes?: readonly string[];
    readonly isCall?: boolean;
    readonly credential?: 'right' | 'none';
    readonly header?: string;
  }
  const undocumented = (
    status: number,
    { codes = ['200'], isCall = true, credential = 'right', header }: Sent = {},
  ) => {
    const operation = thingsWith(Object.fromEntries(codes.map((code) => [code, []])));
    const fields = header === undefined ? [] : [[header, 'x'] as const];
    const reply = received({ status, request: { fields }, exchange: { credential } });
    return new DocumentedReply(operation, reply, isCall).undocumented;
  };
  const by = (...asked: Parameters<typeof undocumented>) => undocumented(...asked)?.by;

  it.each([
    [201, '201'],
    [418, '4XX'],
    [418, 'default'],
  ])('is none that a code covers: %i by %s', (status, code) => {
    expect(undocumented(status, { codes: ['200', code] })).toBeNull();
  });

  it.each([201, 202, 204, 300, 303, 402, 418, 451])('is the fault of the service: %i', (status) => {
    expect(undocumented(status)).toEqual({
      by: 'the service',
      text: `status ${status} instead of 200`,
    });
  });

  it.each([301, 307, 308, 401, 403, 404, 405, 407, 413, 429, 500, 503])(
    'is no fault of the service if any proxy may send it: %i',
    (status) => {
      expect(undocumented(status)).toEqual({
        by: 'any front',
        text: `status ${status} instead of 200 (any proxy may send it)`,
      });
    },
  );

  it.each([500, 501, 505])('of a failure at an odd request is left to the check of it: %i', (status) => {
    expect(undocumented(status, { isCall: false })).toBeNull();
  });

  it.each([502, 503, 504])('of a gateway counts at an odd request too: %i', (status) => {
    expect(by(status, { isCall: false })).toBe('any front');
  });

  it.each([302, 303])('may lead to a login if the key is missing: %i', (status) => {
    expect(by(status, { credential: 'none' })).toBe('any front');
    expect(by(status)).toBe('the service');
  });

  it.each([400, 409, 422])('may be left out with all refusals of input: %i', (status) => {
    expect(undocumented(status, { codes: ['200', '404'] })).toEqual({
      by: 'any front',
      text: `status ${status} instead of 200 or 404 (no refusal of input is documented)`,
    });
    const other = status === 400 ? '422' : '400';
    expect(by(status, { codes: ['200', other] })).toBe('the service');
  });

  // RFC 9110 §15.5: about a property of the message.
  it.each([406, 408, 411, 414, 415, 417, 421, 426, 431])('is none that HTTP itself has: %i', (status) => {
    expect(undocumented(status)).toBeNull();
  });

  it.each([
    [206, 'Range', 'the service'],
    [416, 'Range', 'the service'],
    [304, 'If-None-Match', 'the service'],
    [304, 'If-Modified-Since', 'the service'],
    [412, 'If-Match', 'the service'],
    [412, 'If-Unmodified-Since', 'the service'],
    [412, 'If-None-Match', 'the service'],
  ])('%i is one of HTTP only for a request with %s', (status, header, without) => {
    expect(undocumented(status, { header })).toBeNull();
    expect(by(status)).toBe(without);
    expect(by(status, { header: 'X-Other' })).toBe(without);
  });

  it('is not excused by another condition of HTTP', () => {
    expect(by(206, { header: 'If-Match' })).toBe('the service');
    expect(by(412, { header: 'Range' })).toBe('the service');
    expect(by(200, { codes: ['201'], header: 'If-Match' })).toBe('the service');
  });

  it('stands with the documented ones in order, and with few of many', () => {
    const said = (...codes: readonly string[]) => undocumented(418, { codes })?.text;
    expect(said('404', '200')).toBe('status 418 instead of 200 or 404');
    const nine = ['200', '201', '202', '203', '204', '205', '206', '207', '208'];
    // "1 others" is as long as the ninth.
    expect(said(...nine)).toBe('status 418 instead of 200, 201, 202, 203, 204, 205, 206, 207 or 208');
    expect(said(...nine, '210')).toBe(
      'status 418 instead of 200, 201, 202, 203, 204, 205, 206, 207 or 2 others',
    );
  });
});

it('does not judge an operation by itself that only a fragment tells from another one', async () => {
  const get = { responses: { 200: OK } };
  const [plain, fragment] = [
    await firstOperation({ '/things': { get } }),
    await firstOperation({ '/things#other': { get } }),
  ];
  const isIndistinct = (operation: typeof plain) =>
    new DocumentedReply(operation, received(), true).isIndistinct;
  expect([isIndistinct(plain), isIndistinct(fragment)]).toEqual([false, true]);
});

describe('a request', () => {
  const reaches = (target: string, fields: readonly (readonly [string, string])[] = []) =>
    reachesOperation(received({ request: { target, fields: [['Host', 'a.example'], ...fields] } }));

  it.each([
    '/',
    '/things',
    "/a-b_c.d~e/!$&'()*+,=:@",
    '/things/%20x',
    '/things/%C3%B6',
    '/things?at=1&to=%5B',
    '/things/.hidden',
    '/things/...',
  ])('reaches its operation: %s', (target) => {
    expect(reaches(target)).toBe(true);
  });

  it.each([
    'http://a.example/things',
    'things',
    '/things%2Fx',
    '/things%5cx',
    '/things%00',
    '/things%1f',
    '/things%7F',
    '/things%25',
    '/things;v=1',
    '/things%zz',
    '/./things',
    '/things/..',
    '/%2e%2E/things',
    '/things?at[0]=1',
    '/things?at]',
  ])('may be refused by any front: %s', (target) => {
    expect(reaches(target)).toBe(false);
  });

  it('may be refused by any front for an octet beyond ASCII in a header', () => {
    expect(reaches('/things', [['X-Name', 'a\tb ~']])).toBe(true);
    expect(reaches('/things', [['X-Name', 'ö']])).toBe(false);
  });

  it('reaches nothing without a response', () => {
    expect(reachesOperation(received({ exchange: { response: null } }))).toBe(false);
  });
});

// OpenAPI 3.1 §4.8.12.2: simple, with and without explode.
describe('the text of a header', () => {
  it.each<[string, unknown]>([
    ['5', '5'],
    ['5', 5],
    ['-1.5e3', -1500],
    ['TRUE', true],
    ['null', null],
    ['', ''],
    ['', []],
    ['1,2', [1, 2]],
    ['1, 2', ['1', '2']],
    ['a', ['a']],
    ['R=100,G=200', { R: 100, G: 200 }],
    ['R,100,G,x', { R: 100, G: 'x' }],
  ])('%j may stand for %j', (text, value) => {
    expect(headerValues(text, 'comma')).toContainEqual(value);
  });

  it.each<[string, unknown]>([
    ['5x', 5],
    ['x5', 5],
    ['01x', 1],
    ['', [undefined]],
    ['', ['']],
    ['nullable', null],
  ])('%j does not stand for %j', (text, value) => {
    expect(headerValues(text, 'comma')).not.toContainEqual(value);
  });

  it('is JSON alone if it is documented as that', () => {
    expect(headerValues('{"R": [1, "2"]}', 'json')).toEqual([{ R: [1, '2'] }]);
  });
});
