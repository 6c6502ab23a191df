import { describe, expect, it } from 'vitest';
import type { Exchange, FieldLine, RecordedResponse } from '../exchange.ts';
import {
  exampleBody,
  exampleExchange,
  exampleRequest,
  exampleResponse,
} from '../fixtures/example-evidence.ts';
import { SEARCHED } from './content/leaks.ts';
import { type ResponseView, viewResponse } from './response.ts';

const view = (response: Partial<RecordedResponse>, exchange: Partial<Exchange> = {}) =>
  viewResponse(exampleExchange({ response: exampleResponse(response), ...exchange }));
const fields = (...lines: readonly FieldLine[]) => view({ fields: lines });
const asked = (url: string, response: Partial<RecordedResponse>) =>
  view(response, { request: exampleRequest({ url }) });

type Text = {
  [K in keyof ResponseView]: ResponseView[K] extends string | null ? K : never;
}[keyof ResponseView];

describe('a field', () => {
  it.each<readonly [Text, string, string | null]>([
    ['etagFault', 'ETag: "a"', null],
    ['etagFault', 'ETag: a"b"', 'a"b"'],
    ['entityTag', 'ETag: W/"a"', 'W/"a"'],
    ['entityTag', 'ETag: a', null],
    ['lastModifiedFault', 'Last-Modified: Sat, 21 Nov 2026 11:00:00 GMT', null],
    ['lastModifiedFault', 'Last-Modified: Sat Nov 21 11:00:00 2026', 'Sat Nov 21 11:00:00 2026'],
    ['lastModifiedFault', 'Last-Modified: today', 'today'],
    ['lastModifiedFault', 'X: y', null],
    ['expiresFault', 'Expires: 0', null],
    ['expiresFault', 'Expires: -1', null],
    ['expiresFault', 'Expires: 00', '00'],
    ['expiresFault', 'Expires: 10', '10'],
    ['expiresFault', 'Expires: Sat, 21 Nov 2026 11:00:00 GMT', null],
    ['dateFault', 'Date: Saturday, 21-Nov-26 11:00:00 GMT', 'the obsolete rfc850 form'],
    ['allowFault', 'Allow: GET, M-SEARCH', null],
    ['allowFault', 'Allow: GET, get', 'GET, get'],
    ['allowFault', 'Allow: G T', 'G T'],
    ['allowFault', 'Allow: purge', null],
    ['challengeFault', 'X: y', 'none'],
    ['challengeFault', 'WWW-Authenticate: Basic realm="a"', null],
    ['challengeFault', 'WWW-Authenticate: ', 'an empty one'],
    ['bearerError', 'WWW-Authenticate: Basic realm="a", BEARER error="invalid_token"', 'invalid_token'],
    ['bearerError', 'WWW-Authenticate: Basic error="x"', null],
    ['bearerError', 'WWW-Authenticate: Bearer realm="a"', null],
    ['productVersion', 'Server: nginx/1.22', 'Server: nginx/1.22'],
    ['productVersion', 'X-AspNet-Version: 4.0.3', 'X-AspNet-Version: 4.0.3'],
    ['productVersion', 'X-AspNetMvc-Version: 5.2', 'X-AspNetMvc-Version: 5.2'],
    ['productVersion', 'X-Server: a/1.2', null],
    ['productVersion', 'Server-Timing: a;dur=1.2', null],
    ['productVersion', 'Server: nginx/1', null],
    ['languageFault', 'Content-Language: x_y', '"x_y", which is no language tag'],
    ['acceptQueryFault', 'Accept-Query: json', '"json", which is no list of media types'],
    ['repeatedField', 'Date: a', null],
  ])('%s of %s: %j', (property, line, expected) => {
    const colon = line.indexOf(': ');
    expect(fields([line.slice(0, colon), line.slice(colon + 2)])[property]).toBe(expected);
  });

  it.each([
    ['API-Version', true],
    ['X-API-Version', true],
    ['github-api-version', true],
    ['Content-Version', true],
    ['X-Version', true],
    ['My-X-Version', false],
    ['X-Version-Id', false],
    ['X-API-Versions', false],
    ['Version', false],
  ])('%s tells the version: %s', (name, isIt) => {
    expect(fields([name, '1']).versionFields).toHaveLength(isIt ? 1 : 0);
  });

  it.each([
    ['X-Request-Id', 'x-request-id'],
    ['Request-Id', 'request-id'],
    ['X-Correlation-Id', 'x-correlation-id'],
    ['X-Amzn-RequestId', 'x-amzn-requestid'],
    ['X-Amz-Request-Id', 'x-amz-request-id'],
    ['X-Trace-Id', 'x-trace-id'],
    ['CF-Ray', 'cf-ray'],
    ['Traceparent', 'traceparent'],
  ])('%s identifies the request', (name, field) => {
    expect(fields([name, '1']).requestId).toEqual({ field, value: '1' });
    expect(fields(['Traceparent', '2'], ['X-Request-Id', '1']).requestId?.value).toBe('1');
  });

  it('of a moment is read, unless it is none', () => {
    expect(fields(['Last-Modified', 'Sat, 21 Nov 2026 11:00:00 GMT']).lastModified?.getUTCHours()).toBe(11);
    expect(fields(['Last-Modified', 'today']).lastModified).toBeNull();
    expect(fields(['Vary', 'Accept, ORIGIN']).vary).toEqual(['accept', 'origin']);
    expect(fields(['Content-Length', '12']).contentLength).toBe(12);
    expect(fields(['Content-Length', '12x']).contentLength).toBeNull();
    expect(fields(['Content-Length', 'x12']).contentLength).toBeNull();
    expect(fields().contentLength).toBeNull();
  });
});

describe('the end of the connection', () => {
  it.each([
    [[], '1.1', false],
    [['Close'], '1.1', true],
    [['keep-alive', 'close'], '1.1', true],
    [[], '1.0', true],
    [['Keep-Alive'], '1.0', false],
    [['keep-alive', 'close'], '1.0', true],
  ] as const)('is announced by Connection %j in HTTP/%s: %s', (tokens, httpVersion, isIt) => {
    const lines = tokens.map((token) => ['Connection', token] as const);
    expect(view({ httpVersion, fields: lines }).announcesClose).toBe(isIt);
  });

  it.each([
    ['Content-Length', 'Content-Length'],
    ['content-type', 'content-type'],
    ['Set-Cookie', 'Set-Cookie'],
    ['WWW-Authenticate', 'WWW-Authenticate'],
    ['Access-Control-Allow-Origin', 'Access-Control-Allow-Origin'],
    ['Server-Timing', null],
    ['X-Date', null],
    ['Dates', null],
    ['Content-Lengths', null],
  ])('has the trailer %s, misplaced: %j', (name, misplaced) => {
    const response = view({
      trailers: [
        ['X-Sum', '1'],
        [name, '1'],
      ],
    });
    expect(response.misplacedTrailer).toBe(misplaced);
    expect(response.hasTrailers).toBe(true);
    expect(view({}).hasTrailers).toBe(false);
  });
});

describe('where a response leads', () => {
  type Lead = 'redirect' | 'overTls' | 'foreignRedirect' | 'innerRedirect';
  const leads = (from: string, to: string, status = 302) => {
    const response = asked(from, { status, fields: [['Location', to]] });
    const properties: readonly Lead[] = ['redirect', 'overTls', 'foreignRedirect', 'innerRedirect'];
    return properties.filter((property) => response[property] !== null).join(' ');
  };

  it.each([
    ['http://a.example/x', '/y', 302, 'redirect'],
    ['http://a.example/x', '/y', 300, 'redirect'],
    ['http://a.example/x', '/y', 399, 'redirect'],
    ['http://a.example/x', '/y', 304, ''],
    ['http://a.example/x', '/y', 201, ''],
    ['http://a.example/x', '/y', 299, ''],
    ['http://a.example/x', '/y', 400, ''],
    ['http://a.example/x?q', 'https://a.example/x?q', 301, 'redirect overTls'],
    ['http://a.example/x?q', 'https://a.example/x', 301, 'redirect'],
    ['http://a.example/x', 'https://a.example/y', 301, 'redirect'],
    ['http://a.example/x', 'https://b.example/x', 301, 'redirect foreignRedirect'],
    ['http://a.example/x', 'https://a.example/x', 201, ''],
    ['https://a.example/x', 'http://a.example/x', 302, 'redirect foreignRedirect innerRedirect'],
    ['https://a.example/x', 'http://a.example/y', 302, 'redirect foreignRedirect'],
    ['https://a.example/x', 'https://a.example:8080/x/', 302, 'redirect foreignRedirect innerRedirect'],
    ['https://a.example//x', 'https://a.example:8080/x', 302, 'redirect foreignRedirect innerRedirect'],
    ['https://a.example/', 'https://a.example:8080/', 302, 'redirect foreignRedirect innerRedirect'],
    ['https://a.example/x', 'http://backend/x', 302, 'redirect foreignRedirect innerRedirect'],
    ['https://a.example/x', 'http://10.0.0.7/y', 302, 'redirect foreignRedirect innerRedirect'],
    ['https://a.example/x', 'http://127.0.0.1/y', 302, 'redirect foreignRedirect'],
    ['https://a.example/x', 'http://localhost/y', 302, 'redirect foreignRedirect'],
    ['http://10.0.0.8/x', 'http://10.0.0.7/y', 302, 'redirect foreignRedirect'],
    ['http://127.0.0.1/x', 'http://10.0.0.7/y', 302, 'redirect foreignRedirect innerRedirect'],
    ['http://localhosts/x', 'http://10.0.0.7/y', 302, 'redirect foreignRedirect'],
    ['http://a.example/x', 'http://[', 302, 'redirect'],
  ])('from %s to %s with %i: %s', (from, to, status, kinds) => {
    expect(leads(from, to, status)).toBe(kinds);
  });

  it('is told with its status and place', () => {
    expect(asked('http://a.example/', { status: 302, fields: [] }).redirect).toBe('status 302 to nowhere');
    expect(
      asked('http://a.example/x', { status: 301, fields: [['Location', 'https://a.example/x']] }).overTls,
    ).toBe('https://a.example');
  });

  it.each([
    ['https://a.example/', true],
    ['wss://a.example/', true],
    ['http://a.example/', false],
    ['https://127.0.0.1/', false],
    ['https://[::1]/', false],
    ['no url', false],
  ])('%s is a host whose policy browsers keep: %s', (url, isIt) => {
    expect(asked(url, {}).isOfSecureHost).toBe(isIt);
  });

  it('may be TLS, as the content says', () => {
    const said = (text: string, status = 400) => view({ status, body: exampleBody(text) }).expectsTls;
    expect(said('The plain HTTP request was sent to HTTPS port')).toBe(true);
    expect(said('client sent an HTTP request to an HTTPS server')).toBe(true);
    expect(said("You're speaking plain HTTP to an SSL-enabled server port")).toBe(true);
    expect(said('The plain HTTP request was sent to HTTPS port', 403)).toBe(false);
    expect(said('Bad Request')).toBe(false);
    expect(said(`${'x'.repeat(2_000)} HTTP request to HTTPS`)).toBe(false);
  });
});

describe('content', () => {
  it('is searched up to a limit', () => {
    expect(view({ body: exampleBody('x'.repeat(SEARCHED)) }).unsearched).toBeNull();
    expect(view({ body: exampleBody('x'.repeat(SEARCHED + 1)) }).unsearched).toBe(
      '65536 of its 65537 octets are searched',
    );
  });

  it('is unread if it was cut, or failed', () => {
    const cut = { bytes: new Uint8Array(3), received: 9, truncated: true };
    const failure = { kind: 'reset' as const, message: 'it was reset' };
    expect(view({ body: cut })).toMatchObject({
      unread: 'its body goes on after 3 octets',
      unknownOctets: 'its body goes on after 3 octets',
      isPartial: true,
    });
    expect(view({}, { failure })).toMatchObject({
      unread: 'it was reset',
      unknownOctets: 'it was reset',
      isPartial: true,
    });
    expect(view({})).toMatchObject({ unread: null, unknownOctets: null, isPartial: false, unreadJson: null });
    expect(view({ body: { bytes: new Uint8Array(3), received: 9, truncated: false } }).unknownOctets).toBe(
      'its body holds a secret, which is not kept',
    );
  });

  it('of a refusal in the middle of a request is read, if nothing measures it', () => {
    const failure = { kind: 'reset' as const, message: 'it was reset' };
    const request = exampleRequest({ piecemeal: true });
    const unread = (response: Partial<RecordedResponse>, more: Partial<Exchange> = {}) =>
      view({ fields: [], ...response }, { request, failure, ...more }).unread;
    expect(unread({ status: 400 })).toBeNull();
    expect(unread({ status: 399 })).not.toBeNull();
    expect(unread({ status: 400, fields: [['Content-Length', '1']] })).not.toBeNull();
    expect(unread({ status: 400, fields: [['Transfer-Encoding', 'chunked']] })).not.toBeNull();
    expect(unread({ status: 400 }, { request: exampleRequest() })).not.toBeNull();
    expect(unread({ status: 400 }, { failure: { kind: 'closed', message: 'x' } })).toBe('x');
  });

  it('is like another by its shape, or octet by octet', () => {
    const of = (text: string) => view({ body: exampleBody(text) });
    expect(of('{"a":1}').hasContentLike(of('{"a":2}'))).toBe(true);
    expect(of('{"a":1}').hasContentLike(of('{"b":1}'))).toBe(false);
    expect(of('plain').hasContentLike(of('plain'))).toBe(true);
    expect(of('plain').hasContentLike(of('plane'))).toBe(false);
  });

  it('is remarked on by kind', () => {
    const json = view({ body: exampleBody('{"a":1,"a":2}') });
    expect(json.jsonRemark('duplicate-name')).toContain('the name "a" twice');
    expect(json.jsonRemark('syntax')).toBeNull();
    expect(view({ body: exampleBody('{') }).jsonRemark('syntax')).toContain('octet 1');
    expect(view({ body: exampleBody('{"error":"no"}') }).reportedError).toBe('"error": "no"');
    expect(view({ body: exampleBody(Uint8Array.of(0x1f, 0x8b)) }).isCompressedWithin).toBe(true);
    expect(view({}).isCompressedWithin).toBe(false);
  });

  it.each([
    ['application/json', true, false],
    ['application/problem+json', true, true],
    ['text/html', false, false],
    ['json', false, false],
  ])('of the type %s is JSON: %s, a problem: %s', (type, isJson, isProblem) => {
    expect(fields(['Content-Type', type])).toMatchObject({ isJson, isProblem });
  });
});
