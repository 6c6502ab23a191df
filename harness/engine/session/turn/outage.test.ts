import { describe, expect, it } from 'vitest';
import type { FaultSide } from '../../../base/finding.ts';
import { Reply } from '../../../wire/exchange/reply.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import { exampleBody, exampleExchange, exampleResponse } from '../../../wire/fixtures/example-evidence.ts';
import { errorLine, failureKind } from '../../../wire/socket/failure.ts';
import { OutageWatch } from './outage.ts';

const asked = (to: string, id: string) => ({ to: `GET ${to}`, id });

const ANSWERED: Pick<Exchange, 'response' | 'failure'> = { response: exampleResponse(), failure: null };

const failed = (
  kind: 'refused' | 'reset' | 'closed' | 'unresolved' | 'proxy',
): Pick<Exchange, 'response' | 'failure'> => ({
  response: null,
  failure: { kind, message: `it was ${kind}` },
});

/** The message of an error with this code. */
const lineOf = (code: string, message: string) => errorLine(Object.assign(new Error(message), { code }));

describe('a service that is never reached', () => {
  it.for([
    ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:80', /127\.0\.0\.1:80; start the service/],
    ['ENOTFOUND', 'getaddrinfo ENOTFOUND api.example', /ENOTFOUND api\.example; correct the host name/],
    ['EHOSTUNREACH', 'connect EHOSTUNREACH 10.0.0.1:80', /; look for a firewall, a missing VPN/],
    [
      'ERR_SSL_WRONG_VERSION_NUMBER',
      '40ADA3:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number',
      /^there is no TLS at this port \(ERR_SSL_WRONG_VERSION_NUMBER\); write http:\/\/ in the URL/,
    ],
    ['CERT_HAS_EXPIRED', 'certificate has expired', /^its certificate has expired .*; renew it/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', "Host: a. is not cert's CN: b", /CN: b; write a host in the URL/],
    [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
      /^a self-signed certificate, or one of an unknown authority \(DEPTH_ZERO_SELF_SIGNED_CERT\); .*tls: \{ ca: PATH \}$/,
    ],
  ] as const)('names what to do: %s', ([code, message, line]) => {
    expect(lineOf(code, message)).toMatch(line);
  });

  it('names the last of several addresses', () => {
    const refused = ['::1', '127.0.0.1'].map((host) =>
      Object.assign(new Error(`connect ECONNREFUSED ${host}:80`), { code: 'ECONNREFUSED' }),
    );
    expect(errorLine(new AggregateError(refused, ''))).toMatch(
      /^connect ECONNREFUSED 127\.0\.0\.1:80; start/,
    );
  });

  it('may expect HTTPS, where it closes the first connection or says so', () => {
    const watch = new OutageWatch();
    watch.saw({ ...asked('as documented', 'e1'), plain: true }, failed('closed'));
    expect(watch.reason).toBe(
      'the provider does not answer: it was closed; if this is a port of HTTPS, write https:// in the URL',
    );
    const overTls = new OutageWatch();
    overTls.saw(asked('as documented', 'e1'), failed('closed'));
    expect(overTls.reason).toBe('the provider does not answer: it was closed');
    const saying = (text: string) =>
      new Reply(exampleExchange({ response: exampleResponse({ status: 400, body: exampleBody(text) }) }))
        .response;
    expect(saying('Client sent an HTTP request to an HTTPS server.\n').expectsTls).toBe(true);
    expect(saying('The plain HTTP request was sent to HTTPS port').expectsTls).toBe(true);
    expect(saying('the id is no number').expectsTls).toBe(false);
  });
});

it.for<[string, FaultSide | null, (watch: OutageWatch) => void]>([
  ['a refused key', 'config', (watch) => watch.giveUp('the key is refused', 'config')],
  ['an address without a host', 'config', (watch) => watch.saw(asked('it', 'e1'), failed('unresolved'))],
  ['a proxy that fails', 'config', (watch) => watch.saw(asked('it', 'e1'), failed('proxy'))],
  [
    'a documented request that is redirected',
    'config',
    (watch) => watch.moved(exampleExchange(), 'http://b'),
  ],
  ['HTTP to a port of HTTPS', 'config', (watch) => watch.expectsTls(exampleExchange())],
  ['one status for all requests', 'service', (watch) => watch.broke(exampleExchange())],
  // It may be down, or elsewhere.
  ['a service that was never there', null, (watch) => watch.saw(asked('it', 'e1'), failed('refused'))],
])('the side that an outage is mended on: %s', ([, side, meet]) => {
  const watch = new OutageWatch();
  meet(watch);
  expect(watch.reason).not.toBeNull();
  expect(watch.side).toBe(side);
});

it.for<['refused' | 'proxy', FaultSide | null]>([
  ['refused', 'service'],
  ['proxy', null],
])('the side that a later outage is mended on: %s', ([kind, side]) => {
  const watch = new OutageWatch();
  watch.saw(asked('as documented', 'e1'), ANSWERED);
  watch.saw(asked('as documented', 'e2'), failed(kind));
  expect(watch.side).toBe(side);
});

describe('a service that falls silent', () => {
  it('is told with the request that it did not answer, and after which nobody was there', () => {
    const watch = new OutageWatch();
    watch.saw(asked('as documented', 'e1'), ANSWERED);
    watch.saw(asked('with malformed percent-encoding', 'e2'), failed('reset'));
    expect(watch.reason).toBeNull();
    watch.saw(asked('as documented', 'e3'), failed('refused'));
    expect(watch.reason).toBe(
      'the provider cannot be reached: it was refused; it stopped answering after GET with malformed percent-encoding (e2)',
    );
  });

  it('is told with the last request that it answered, where nothing came between', () => {
    const watch = new OutageWatch();
    watch.saw(asked('with a hostile query', 'e1'), ANSWERED);
    watch.saw(asked('as documented', 'e2'), failed('refused'));
    expect(watch.reason).toContain('; it stopped answering after GET with a hostile query (e1)');
  });

  it('is told without one where it never answered', () => {
    const watch = new OutageWatch();
    watch.saw(asked('as documented', 'e1'), failed('refused'));
    expect(watch.reason).toBe('the provider cannot be reached: it was refused');
  });

  it('is not the reason where this machine has no open files left', () => {
    const watch = new OutageWatch();
    const error = Object.assign(new Error('connect EMFILE 127.0.0.1:80'), { code: 'EMFILE' });
    const failure = { kind: failureKind(error, 'refused'), message: errorLine(error) };
    for (const id of ['e1', 'e2', 'e3', 'e4', 'e5'])
      watch.saw(asked('as documented', id), { response: null, failure });
    expect(watch.reason).toBeNull();
    expect(failure).toEqual({
      kind: 'not-sent',
      message: expect.stringContaining('this machine allows conform no more open files: raise the limit'),
    });
  });

  it('hides what it was asked after that one, and not that one', () => {
    const watch = new OutageWatch();
    watch.saw(asked('as documented', 'e1'), ANSWERED);
    for (const id of ['e2', 'e3', 'e4', 'e5']) watch.saw(asked('with a hostile query', id), failed('reset'));
    expect(watch.since).toBe('e2');
    expect([['e1'], ['e2'], ['e1', 'e3'], ['e5']].map((ids) => watch.hides(ids))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('is not silent for what is wrong on purpose, which it may have died of all the same', () => {
    const watch = new OutageWatch();
    watch.saw(asked('as documented', 'e1'), ANSWERED);
    for (const id of ['e2', 'e3', 'e4', 'e5', 'e6'])
      watch.saw(asked('without a key', id), { ...failed('closed'), onPurpose: true });
    expect(watch.reason).toBeNull();
    watch.saw(asked('as documented', 'e7'), failed('refused'));
    expect(watch.reason).toContain('; it stopped answering after GET without a key (e2)');
  });
});
