import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { HarnessError } from '../../base/exit.ts';
import type { FieldLine, RecordedResponse } from '../exchange.ts';
import {
  exampleBody,
  exampleConversation,
  exampleExchange,
  exampleRequest,
  exampleResponse,
} from '../fixtures/example-evidence.ts';
import { createRedaction } from '../redaction/redaction.ts';
import { viewResponse } from './response.ts';

const viewOf = (response: Partial<RecordedResponse>) =>
  viewResponse(exampleExchange({ response: exampleResponse(response) }));
const withFields = (...fields: readonly FieldLine[]) => viewOf({ fields });

describe('ResponseView', () => {
  it('reads the status line', () => {
    const view = viewOf({ status: 404 });
    expect(view).toMatchObject({ status: 404, statusClass: 4, isRegistered: true });
    const registered = [200, 226, 299, 306, 418, 425, 429, 451, 499, 509, 511, 520, 600, 999].filter(
      (status) => viewOf({ status }).isRegistered,
    );
    expect(registered).toEqual([200, 226, 425, 429, 451, 511]);
  });

  it('combines field lines, names in any case (RFC 9110 §5.3)', () => {
    const view = withFields(['X-A', ' 1\t'], ['x-b', '2'], ['x-a', '3']);
    expect(view.field('X-a')).toBe('1, 3');
    expect(view.fieldLines('x-A')).toEqual(['1', '3']);
    expect(view.field('X-C')).toBeUndefined();
    expect(view.has('X-B')).toBe(true);
    expect(view.has('X-C')).toBe(false);
  });

  it('reads JSON by its media type and its octets', () => {
    const view = viewOf({ body: exampleBody('{"a":1}') });
    expect(view).toMatchObject({ isJson: true, isProblem: false, json: { value: { a: 1 }, faults: [] } });
    expect(view.text).toBe('{"a":1}');
    expect(view.json).toBe(view.json);
    expect(withFields(['Content-Type', 'text/html']).isJson).toBe(false);
    expect(withFields().mediaType).toBeNull();
    expect(withFields().mediaTypeFault).toBeNull();
    expect(withFields(['Content-Type', 'json']).mediaTypeFault).toContain('no /');
    expect(viewOf({ body: exampleBody(Uint8Array.of(0xff)) }).text).toBeNull();
  });

  it('undoes content codings, and says when they are not true', () => {
    const fields = [['Content-Encoding', 'gzip'] as const];
    const view = viewOf({ fields, body: exampleBody(new Uint8Array(zlib.gzipSync('{"a":1}'))) });
    expect(view.json.value).toEqual({ a: 1 });
    expect(view.codingFault).toBeNull();
    expect(view.bodyLength).not.toBe(7);
    const lie = viewOf({ fields, body: exampleBody('{"a":1}') });
    expect(lie.codingFault).toContain('not gzip');
    expect(lie.json.value).toBeUndefined();
  });

  it('decodes what came of a body that was cut', () => {
    const bytes = new Uint8Array(zlib.gzipSync('[1,'.repeat(500)).subarray(0, 20));
    const body = { bytes, received: 500, truncated: true };
    const view = viewOf({ fields: [['Content-Encoding', 'gzip']], body });
    expect([view.isPartial, view.codingFault, view.bodyLength]).toEqual([true, null, 500]);
  });

  it('has read a refusal that came before the end of its request, whatever ended the connection', () => {
    const failure = { kind: 'reset', message: 'write ECONNRESET' } as const;
    const unread = (status: number, piecemeal: boolean, fields: readonly FieldLine[] = []) =>
      viewResponse(
        exampleExchange({
          request: { ...exampleRequest(), piecemeal },
          response: exampleResponse({ status, fields }),
          failure,
        }),
      ).unread;
    expect(unread(400, true)).toBeNull();
    expect(unread(400, false)).toBe(failure.message);
    expect(unread(200, true)).toBe(failure.message);
    expect(unread(400, true, [['Content-Length', '100']])).toBe(failure.message);
  });

  it('reads problem details', () => {
    const fields = [['Content-Type', 'application/problem+json; charset=utf-8'] as const];
    const problem = (body: string) => viewOf({ status: 404, fields, body: exampleBody(body) });
    expect(problem('{"status":404}').isProblem).toBe(true);
    expect(problem('{"status":404}').problemFaults).toEqual([]);
    expect(problem('{"status":400}').problemFaults[0]).toContain('in a response with 404');
    expect(problem('{').problemFaults[0]).toContain('octet 1');
  });

  it('reads challenges of every line', () => {
    const view = withFields(
      ['WWW-Authenticate', 'Bearer realm="a"'],
      ['www-authenticate', 'Basic realm="b"'],
    );
    expect(
      view.challenges.challenges.map(({ scheme, parameters }) => [scheme, parameters.get('realm')]),
    ).toEqual([
      ['Bearer', 'a'],
      ['Basic', 'b'],
    ]);
  });

  it('reads times against the clock of the response', () => {
    const view = withFields(
      ['Date', 'Sat, 21 Nov 2026 11:00:00 GMT'],
      ['Retry-After', 'Sat, 21 Nov 2026 11:00:30 GMT'],
    );
    expect(view.receivedAt.toISOString()).toBe('2026-11-21T12:00:00.010Z');
    expect(view.date?.toISOString()).toBe('2026-11-21T11:00:00.000Z');
    expect(view.dateFault).toBeNull();
    expect(view.retryAfterMs).toBe(30_000);
    expect(withFields().retryAfter).toBeNull();
    expect(withFields().retryAfterMs).toBeNull();
    expect(withFields(['Retry-After', 'soon']).retryAfter?.kind).toBe('invalid');
    expect(withFields(['Date', 'now']).date).toBeNull();
    expect(withFields(['Date', 'now']).dateFault).toContain('none of the three forms');
    expect(withFields(['Date', 'Sat Nov 21 11:00:00 2026']).dateFault).toContain('asctime');
  });

  it('reads quota fields', () => {
    expect(withFields(['X-RateLimit-Reset', '2500']).quota.dialect).toBe('x-ratelimit-delta');
  });

  it('resolves Location and finds every link of the interface that stays at the origin', () => {
    const view = viewOf({
      fields: [
        ['Content-Type', 'application/json'],
        ['Location', '../login?x=1'],
        ['Link', '</v1/resources?page=2>; rel=next, </docs>; rel="help service-doc"'],
      ],
      body: exampleBody(
        '{"items":[{"href":"/v2/items/1"},{"self":"http://127.0.0.1:8080/v1/a"},{"name":"/not/a/link"}]}',
      ),
    });
    expect(view.location?.href).toBe('http://127.0.0.1:8080/login?x=1');
    expect(view.link.links.map(({ relations }) => relations)).toEqual([['next'], ['help', 'service-doc']]);
    expect(view.link.faults).toEqual([]);
    expect(view.sameOriginLinks).toEqual(['/login', '/v1/resources', '/v2/items/1', '/v1/a']);
    expect(withFields(['Location', 'http://[']).location).toBeNull();
    expect(withFields().location).toBeNull();
  });

  it('reads Allow, Cache-Control and the request id', () => {
    const view = withFields(['Allow', 'GET, HEAD'], ['Cache-Control', 'no-store'], ['X-Request-ID', 'r-1']);
    expect(view.allow).toEqual(['GET', 'HEAD']);
    expect(view.cacheControl.has('no-store')).toBe(true);
    expect(view.requestId).toEqual({ field: 'x-request-id', value: 'r-1' });
    expect(withFields().allow).toEqual([]);
    expect(withFields().requestId).toBeNull();
  });

  it('says where a secret was echoed, and is not taken in by marker-like text', () => {
    const redaction = createRedaction();
    redaction.add('KEY', 'example-key-for-tests');
    const clean = viewOf({ body: exampleBody(redaction.octets(Buffer.from('[redacted:KEY]'))) });
    expect(clean.secretPlaces).toEqual([]);
    expect(clean.credentialTrace).toBeNull();
    const fields = redaction.fields([['X-Echo', 'EXAMPLE-KEY-FOR-TESTS']]);
    const gzipped = zlib.gzipSync(redaction.octets(Buffer.from('{"key":"example-key-for-tests"}')));
    const echoing = viewOf({
      fields: [...fields, ['Content-Encoding', 'gzip']],
      body: exampleBody(new Uint8Array(gzipped)),
      trailers: redaction.fields([['X-End', 'k=example-key-for-tests']]),
    });
    expect(echoing.secretPlaces).toEqual([
      { name: 'KEY', part: true, place: 'the field X-Echo' },
      { name: 'KEY', part: false, place: 'the trailer X-End' },
      { name: 'KEY', part: false, place: 'the body' },
    ]);
    expect(echoing.credentialTrace).toBe('the field X-Echo');
  });

  it('says what an error body tells of the insides', () => {
    expect(viewOf({ body: exampleBody('Traceback (most recent call last):') }).internals).toContain(
      'stack trace',
    );
    expect(viewOf({}).internals).toBeNull();
  });

  it('reads the answer to a handshake', () => {
    const view = viewResponse(exampleConversation());
    expect([view.status, view.field('upgrade'), view.request.target]).toEqual([101, 'websocket', '/ws']);
  });

  it('refuses evidence without a response', () => {
    const failure = { kind: 'refused', message: 'nothing listens' } as const;
    expect(() => viewResponse(exampleExchange({ response: null, failure }))).toThrow(HarnessError);
    expect(() => viewResponse(exampleExchange({ response: null, failure }))).toThrow('e1 has no response');
  });

  it('survives a response that is wrong in every way', () => {
    const view = viewResponse(
      exampleExchange({
        request: exampleRequest({ url: 'not a url' }),
        response: exampleResponse({
          status: 999,
          reason: '\u0000',
          fields: [
            'Content-Type',
            'Date',
            'Retry-After',
            'Link',
            'Allow',
            'Location',
            'RateLimit',
            'WWW-Authenticate',
            'Cache-Control',
            'Content-Encoding',
          ].map((name) => [name, '\u0000"<\u00ff'] as const),
          body: exampleBody(Uint8Array.of(0, 255)),
        }),
      }),
    );
    expect(view).toMatchObject({ mediaType: null, date: null, location: null, text: '', retryAfterMs: null });
    expect(view).toMatchObject({
      allow: ['\u0000"<\u00ff'],
      link: { links: [] },
      challenges: { challenges: [] },
    });
    expect(view.sameOriginLinks).toEqual([]);
    expect(view.json.faults).toHaveLength(1);
  });

  it('tells an entity tag from what is none', () => {
    for (const tag of ['"x"', 'W/"x"', '""']) expect(withFields(['ETag', tag]).etagFault).toBeNull();
    for (const tag of ['x', "'x'", 'w/"x"', '"a"b"']) expect(withFields(['ETag', tag]).etagFault).toBe(tag);
    expect(withFields().etagFault).toBeNull();
  });

  it('finds the version of a product where fields tell one', () => {
    expect(withFields(['Server', 'nginx'], ['X-Powered-By', 'PHP/8.3.1']).productVersion).toBe(
      'X-Powered-By: PHP/8.3.1',
    );
    expect(withFields(['Server', 'nginx'], ['Via', '1.1 proxy']).productVersion).toBeNull();
  });

  it('finds links that lead into an inner network, where the service is not in one', () => {
    const linking = (url: string, href: string) =>
      viewResponse(
        exampleExchange({
          request: exampleRequest({ url }),
          response: exampleResponse({ body: exampleBody(JSON.stringify({ href })) }),
        }),
      ).innerLink?.host ?? null;
    expect(linking('https://api.example.com/v1', 'http://backend:8080/v1')).toBe('backend:8080');
    expect(linking('https://api.example.com/v1', 'http://10.0.0.7/v1')).toBe('10.0.0.7');
    expect(linking('https://api.example.com/v1', 'https://cdn.example.com/x')).toBeNull();
    expect(linking('http://127.0.0.1:8080/v1', 'http://localhost:8080/v1')).toBeNull();
    expect(linking('http://10.0.0.7/v1', 'http://10.0.0.7/v1/1')).toBeNull();
  });

  it('judges what announces an end', () => {
    const view = withFields(['Sunset', 'soon'], ['Deprecation', '@1735689600']);
    expect(view.lifecycleFault('Sunset')).toContain('"soon"');
    expect(view.lifecycleFault('Deprecation')).toBeNull();
    expect(withFields().lifecycleFault('Sunset')).toBeNull();
  });
});
