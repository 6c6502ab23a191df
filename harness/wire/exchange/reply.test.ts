import { describe, expect, it } from 'vitest';
import type { Exchange, FieldLine, RecordedRequest, RecordedResponse } from '../exchange.ts';
import {
  exampleBody,
  exampleExchange,
  exampleRequest,
  exampleResponse,
} from '../fixtures/example-evidence.ts';
import { asksForNoPage, isOrdinary, Reply, unreadMessageIn } from './reply.ts';

type FailureKind = NonNullable<Exchange['failure']>['kind'];

const reply = (response: Partial<RecordedResponse> | null, exchange: Partial<Exchange> = {}) =>
  new Reply(exampleExchange({ response: response && exampleResponse(response), ...exchange }));
const failed = (
  kind: FailureKind,
  response: Partial<RecordedResponse> | null = null,
  exchange: Partial<Exchange> = {},
) => reply(response, { failure: { kind, message: `it was ${kind}` }, ...exchange });

describe('a request that every server reads', () => {
  const host: FieldLine = ['Host', 'a.example'];
  const plain: RecordedRequest = {
    method: 'GET',
    target: '/a',
    url: 'http://a.example/a',
    fields: [host],
    body: null,
  };
  const withFields = (...fields: readonly FieldLine[]) => ({ fields: [host, ...fields] });

  it.each<readonly [string, Partial<RecordedRequest>, boolean]>([
    ['a plain one', {}, true],
    ['QUERY', { method: 'QUERY' }, true],
    ['a method in small letters', { method: 'get' }, false],
    ['another method', { method: 'PURGE' }, false],
    ['an asterisk', { target: '*' }, true],
    ['an absolute target', { target: 'http://a.example/a' }, true],
    ['an escape', { target: '/a%2Fb?c=%C3%A4' }, true],
    ['half an escape', { target: '/a%2' }, false],
    ['an escaped NUL', { target: '/a%00' }, false],
    ['no slash', { target: 'a' }, false],
    ['a fragment', { target: '/a#b' }, false],
    ['a space', { target: '/a b' }, false],
    ['letters beyond ASCII', { target: '/ä' }, false],
    ['a target of 8000 octets', { target: `/${'a'.repeat(7_999)}` }, true],
    ['a target of 8001 octets', { target: `/${'a'.repeat(8_000)}` }, false],
    // Host takes 4 + 9 + 4 octets, the name and its punctuation 5.
    ['fields of 8000 octets', withFields(['A', 'a'.repeat(8_000 - 22)]), true],
    ['fields of 8001 octets', withFields(['A', 'a'.repeat(8_001 - 22)]), false],
    ['a name that is no token', withFields(['A b', 'c']), false],
    ['a NUL in a value', withFields(['A', 'b\0c']), false],
    ['a line end in a value', withFields(['A', 'b\nc']), false],
    ['one Authorization', withFields(['Authorization', 'a']), true],
    ['two Authorizations', withFields(['Authorization', 'a'], ['authorization', 'b']), false],
    ['no Host', { fields: [] }, false],
    ['two Hosts', withFields(host), false],
    ['a Host with a port', { fields: [['Host', 'a.example:80']] }, true],
    ['a Host of IPv6', { fields: [['Host', '[::1]:80']] }, true],
    ['a Host with a path', { fields: [['Host', 'a.example/b']] }, false],
    ['a Host with a user', { fields: [['Host', 'b@a.example']] }, false],
    ['an empty Host', { fields: [['Host', '']] }, false],
    ['a Content-Length', withFields(['Content-Length', '12']), true],
    ['two Content-Lengths', withFields(['Content-Length', '12'], ['Content-Length', '12']), false],
    ['a Content-Length that is no number', withFields(['Content-Length', '1x']), false],
    ['a Content-Length with a sign', withFields(['Content-Length', '+1']), false],
    ['chunked', withFields(['Transfer-Encoding', 'Chunked']), true],
    [
      'chunked, and a Content-Length',
      withFields(['Transfer-Encoding', 'chunked'], ['Content-Length', '1']),
      false,
    ],
    ['another coding', withFields(['Transfer-Encoding', 'gzip, chunked']), false],
    ['another coding after it', withFields(['Transfer-Encoding', 'chunked, gzip']), false],
    ['octets of its own', { spelled: ['upper-names'] }, false],
    ['more behind it', { hasBehind: true }, false],
  ])('%s', (_, request, isIt) => {
    expect(isOrdinary({ ...plain, ...request })).toBe(isIt);
    expect(reply({}, { request: { ...plain, ...request } }).isOrdinary).toBe(isIt);
  });

  it.each([
    ['application/json', true],
    ['text/html', false],
    ['application/json, TEXT/HTML;q=0.1', false],
    ['text/htmlx', true],
    [null, true],
  ])('with Accept %s asks for no page: %s', (accept, isIt) => {
    expect(asksForNoPage({ ...plain, fields: accept === null ? [] : [['Accept', accept]] })).toBe(isIt);
  });
});

describe('an answer', () => {
  it('is named by its request', () => {
    expect(reply({}).to).toBe('GET the documented sample');
    expect(reply({}).evidence).toBe('e1');
  });

  it.each([
    ['whole', reply({}), { answered: true, cut: false }],
    ['too long', failed('body-too-large', {}), { answered: false, cut: true }],
    ['cut short', failed('reset', {}), { answered: false, cut: false }],
    ['closed', failed('closed'), { answered: false, cut: false }],
    ['none at all', reply(null), { answered: false, cut: false }],
    ['too long, and none', failed('body-too-large'), { answered: false, cut: false }],
  ] as const)('is %s', (_, { answered, cut }, expected) => {
    expect({ answered, cut }).toEqual(expected);
  });

  it.each([
    [199, false],
    [200, true],
    [299, true],
    [300, false],
  ])('with %i is served: %s', (status, isServed) => {
    expect(reply({ status }).served).toBe(isServed);
    expect(failed('reset').served).toBe(false);
  });

  it.each([
    ['of the raw reader', reply({ framingFaults: [] }), true],
    ['of another reader', reply({ framingFaults: null }), false],
    ['over HTTP/2', reply({ framingFaults: [] }, { request: exampleRequest({ httpVersion: '2' }) }), false],
    ['that is malformed', failed('malformed'), true],
    ['with too large fields', failed('fields-too-large'), true],
    ['that was reset', failed('reset'), false],
  ])('%s has octets that were seen: %s', (_, answer, isSeen) => {
    expect(answer.isFramingSeen).toBe(isSeen);
  });

  it('that is missing violates each expectation', () => {
    expect(() => failed('reset').response).toThrow(
      'expected a response, got no whole response (it was reset)',
    );
    expect(() => reply(null).response).toThrow('no whole response (no reason known)');
    const whole = reply({});
    expect(whole.response).toBe(whole.response);
  });

  it('to an ordinary request may be no HTTP', () => {
    const odd = exampleRequest({ method: 'PURGE' });
    expect(failed('malformed').unreadMessage).toBe('it was malformed');
    expect(failed('fields-too-large').unreadMessage).toBe('it was fields-too-large');
    expect(failed('reset').unreadMessage).toBeNull();
    expect(failed('malformed', null, { request: odd }).unreadMessage).toBeNull();
    expect(failed('malformed', {}).unreadMessage).toBeNull();
    expect(unreadMessageIn([reply({}), failed('malformed'), failed('fields-too-large')])).toBe(
      'GET the documented sample cannot be judged: it was malformed',
    );
    expect(unreadMessageIn([reply({}), failed('reset')])).toBeNull();
  });
});

describe('several answers on a connection', () => {
  const withFurther = (...statuses: readonly number[]) => {
    const further = statuses.map((status) => exampleResponse({ status }));
    return reply({}, { further });
  };

  it.each([
    [withFurther(), [200], false],
    [withFurther(404), [200, 404], true],
    [withFurther(400), [200, 400], false],
    [withFurther(408), [200], false],
    [withFurther(400, 200), [200, 400, 200], true],
    [reply(null), [], false],
  ])('%#', (answer, statuses, isAnother) => {
    expect(answer.statuses).toEqual(statuses);
    expect(answer.answersAnother).toBe(isAnother);
  });
});

describe('two answers', () => {
  const of = (body: string, fields: readonly FieldLine[] = [], status = 200) =>
    reply({ status, body: exampleBody(body), fields });
  const tagged = (tag: string | null) => of('a', tag === null ? [] : [['ETag', tag]]);

  it('have the same content, octet by octet', () => {
    expect(of('a').hasSameContentAs(of('a'))).toBe(true);
    expect(of('a').hasSameContentAs(of('b'))).toBe(false);
  });

  it('have the same coding, or none', () => {
    const coded = of('a', [['Content-Encoding', 'gzip']]);
    expect(coded.hasSameCodingAs(coded)).toBe(true);
    expect(of('a').hasSameCodingAs(of('a'))).toBe(true);
    expect(of('a').hasSameCodingAs(coded)).toBe(false);
  });

  it.each([
    ['"a"', '"a"', true],
    ['"a"', '"b"', false],
    ['W/"a"', 'W/"a"', false],
    ['"a"', 'W/"a"', false],
    [null, null, false],
    ['"W/a"', '"W/a"', true],
    ['"aW/"', '"aW/"', true],
  ])('with the tags %s and %s share a strong one: %s', (one, other, isShared) => {
    expect(tagged(one).sharesStrongTagWith(tagged(other))).toBe(isShared);
  });

  it('are a part and the whole', () => {
    const whole = of('abcdef');
    const part = (body: string, range: string) => of(body, [['Content-Range', range]], 206);
    expect(part('abc', 'bytes 0-2/6').isPartOf(whole)).toBe(true);
    expect(of('abc').isPartOf(whole)).toBe(false);
    expect(part('abc', 'bytes 0-2/6').isPartOf(of('a', [['Content-Encoding', 'gzip']]))).toBe(false);
    expect(part('abc', 'bytes 0-2/6').partFault(whole)).toBeNull();
    expect(part('bcd', 'bytes 1-3/6').partFault(whole)).toBeNull();
    expect(part('abc', 'bytes 1-3/6').partFault(whole)).toBe('other octets than 1 to 3');
    expect(part('bc', 'bytes 1-3/6').partFault(whole)).toBe('other octets than 1 to 3');
    expect(of('abc', [], 206).partFault(whole)).toBeNull();
  });

  it('leave the connection open, or closed', () => {
    const left = (afterwards: 'open' | 'ended') =>
      reply({}, { connection: { reused: false, replaced: null, afterwards } });
    expect(left('open').staysOpen).toBe(true);
    expect(left('ended').staysOpen).toBe(false);
    expect(reply({}).staysOpen).toBe(false);
  });
});
