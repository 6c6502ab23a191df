import { describe, expect, it, onTestFinished } from 'vitest';
import { selfSigned, trusting } from '../../proof/certificate.ts';
import type { ServerIdentity } from '../../reference/front.ts';
import { getOnce, inEachWay } from '../fixtures/each-way.ts';
import { answerEach, listen } from '../fixtures/loopback.ts';
import { startProxy, type TestProxy } from '../fixtures/proxy.ts';
import { about, GET, impatient, OK, setting } from '../fixtures/setting.ts';
import { openHttp } from '../http/http-client.ts';
import { sendRaw } from '../http/raw.ts';
import type { TransportOptions } from './options.ts';
import { proxiesOf } from './proxies.ts';

const identity = selfSigned('api.example');

/** The settings of a service that only the proxy knows the way to. */
function through(proxy: TestProxy, login = '', more: Partial<TransportOptions> = {}): TransportOptions {
  const url = proxy.url.replace('://', `://${login}`);
  return setting('https://api.example', {
    tls: trusting(identity.cert),
    proxies: proxiesOf({ HTTPS_PROXY: url, HTTP_PROXY: url }),
    ...more,
  });
}

/** A proxy with a service behind it that answers so, and the heads of what the service was asked. */
async function proxied(service: { readonly by?: ServerIdentity | null; readonly answer?: string } = {}) {
  const { by = identity, answer = OK } = service;
  const seen: string[] = [];
  const handler = answerEach(answer, (head) => seen.push(head));
  const { port } = await (by === null ? listen(handler) : listen(handler, by));
  const proxy = await startProxy({ behind: { 'api.example:443': port, 'api.example:80': port } });
  return { proxy, port, seen };
}

const get = (options: TransportOptions) => getOnce(options, { credential: 'right' });

describe('through a proxy', () => {
  it('HTTP, the raw socket and a WebSocket reach a name that only it resolves', async () => {
    const { proxy, seen } = await proxied();
    const answers = await inEachWay(through(proxy));
    expect(answers).toMatchObject(Array(3).fill({ failure: null, response: { status: 200 } }));
    expect(proxy.asked).toEqual(
      Array(3).fill('CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\n\r\n'),
    );
    expect(seen.map((head) => /^Host: (.*)\r$/im.exec(head)?.[1])).toEqual(Array(3).fill('api.example'));
  });

  it('plain http takes a tunnel too, so that no octet is another', async () => {
    const { proxy, seen } = await proxied({ by: null });
    const options = through(proxy, '', { baseUrl: 'http://api.example', plainHttp: true });
    expect(await get(options)).toMatchObject({ failure: null, response: { status: 200 } });
    expect(proxy.asked[0]).toMatch(/^CONNECT api\.example:80 /);
    expect(seen[0]).toMatch(/^GET \/ HTTP\/1\.1\r\n/);
  });

  it('a kept-alive connection is one tunnel', async () => {
    const { proxy } = await proxied();
    const http = openHttp(through(proxy));
    onTestFinished(() => http.close());
    for (const reused of [false, true]) {
      const exchange = await http.send(GET, { ...about(), onKept: true });
      expect(exchange).toMatchObject({ failure: null, connection: { reused } });
    }
    expect(proxy.asked).toHaveLength(1);
  });

  it('it is spoken to over TLS, where its URL says so, with the authorities of the config', async () => {
    const { port } = await proxied();
    const own = selfSigned('proxy.example');
    const proxy = await startProxy({ behind: { 'api.example:443': port }, identity: own });
    const tls = trusting(`${identity.cert}\n${own.cert}`);
    expect(await get(through(proxy, '', { tls }))).toMatchObject({ response: { status: 200 } });
    expect(await get(through(proxy))).toMatchObject({
      failure: { kind: 'proxy', message: expect.stringMatching(/cannot be reached: .*certificate/) },
    });
  });

  it('the certificate is held to the service, by name and by address, and never to the proxy', async () => {
    const byAddress = selfSigned('localhost', '192.0.2.7');
    const service = await listen(answerEach(OK), byAddress);
    const proxy = await startProxy({
      behind: {
        '192.0.2.7:443': service.port,
        '192.0.2.8:443': service.port,
        'api.example:443': service.port,
      },
    });
    const tls = trusting(byAddress.cert);
    const asked = async (baseUrl: string) => (await get(through(proxy, '', { tls, baseUrl }))).failure?.kind;
    expect(await asked('https://192.0.2.7')).toBeUndefined();
    expect(await asked('https://192.0.2.8')).toBe('tls');
    expect(await asked('https://api.example')).toBe('tls');
  });

  it('user and password of its URL are sent to it, and to nobody else', async () => {
    const { proxy, seen } = await proxied();
    const exchange = await get(through(proxy, 'jo:pass%20word@'));
    const basic = Buffer.from('jo:pass word').toString('base64');
    expect(proxy.asked[0]).toContain(`\r\nProxy-Authorization: Basic ${basic}\r\n`);
    expect(JSON.stringify([exchange, seen])).not.toMatch(/proxy-authorization|pass word/i);
  });

  it('what the service says at once is not lost', async () => {
    const proxy = await startProxy({
      behind: { 'api.example:80': (await listen(() => undefined)).port },
      established: `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n${OK}`,
    });
    const options = through(proxy, '', { baseUrl: 'http://api.example' });
    expect(await sendRaw(options, GET, {}, about())).toMatchObject({ response: { status: 200 } });
  });
});

describe('what a proxy says for itself', () => {
  const REFUSED = 'HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="p"\r\nContent-Length: 2\r\n\r\nno';
  it.each<[string, string, string, RegExp]>([
    [
      'it wants a login',
      REFUSED,
      '',
      /wants a user and a password \(it answered 407 Who\): write them into HTTPS_PROXY/,
    ],
    [
      'it refuses the login',
      REFUSED,
      'jo:password@',
      /refuses the user and the password that HTTPS_PROXY has/,
    ],
    [
      'it wants a login of another kind',
      'HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n\r\n',
      '',
      /without Negotiate or NTLM \(it answered 407 No\), and only Basic is known/,
    ],
    [
      'it does not reach the service',
      'HTTP/1.1 503 Away\r\n\r\nfor long',
      '',
      /could not reach api\.example:443: it answered 503 Away/,
    ],
    [
      'it does not let anybody there',
      'HTTP/1.0 403 Filtered\r\n\r\n',
      '',
      /refuses a tunnel to api\.example:443: it answered 403 Filtered$/,
    ],
    ['it is no proxy', 'SSH-2.0-OpenSSH\r\n', '', /did not answer when asked for a tunnel/],
    ['it goes away', '', '', /did not answer when asked for a tunnel/],
  ])('%s: is told as the proxy’s, and is no answer of the service', async (_case, answer, login, message) => {
    const proxy = await startProxy({ answer });
    const { response, failure } = await get(through(proxy, login));
    expect({ response, failure }).toEqual({
      response: null,
      failure: { kind: 'proxy', message: expect.stringMatching(message) },
    });
    expect(failure?.message).toContain(`the proxy ${proxy.url} (HTTPS_PROXY)`);
  });

  it('that plain http takes a tunnel is told where none is given', async () => {
    const proxy = await startProxy({ answer: 'HTTP/1.1 403 Forbidden\r\n\r\n' });
    const { failure } = await get(through(proxy, '', { baseUrl: 'http://api.example', plainHttp: true }));
    expect(failure?.message).toMatch(/refuses a tunnel to api\.example:80: .*CONNECT.*NO_PROXY/);
  });

  it('nobody there, and silence, are the proxy’s as well', async () => {
    const gone = await startProxy({});
    await gone.stop();
    expect((await get(through(gone))).failure).toMatchObject({
      kind: 'proxy',
      message: expect.stringMatching(/cannot be reached: .*ECONNREFUSED/),
    });
    const silent = await listen(() => undefined);
    const waits = impatient({ connectMs: 100, responseMs: 100 });
    expect((await get(through({ ...silent, asked: [] }, '', waits))).failure).toMatchObject({
      kind: 'proxy',
      message: expect.stringMatching(/gave no tunnel to api\.example within 100 ms \(tunnel is awaited\)/),
    });
  });

  const inside = (head: string) => `HTTP/1.1 ${head}\r\nContent-Length: 2\r\n\r\nno`;
  it.each<[string, string, RegExp | null]>([
    [
      'that it wants a login',
      inside('407 Who\r\nProxy-Authenticate: Basic realm="p"'),
      /answered 407 inside the tunnel: that is no answer of the service$/,
    ],
    [
      'its trouble, in the words of RFC 9209',
      inside('502 Bad\r\nProxy-Status: edge.corp; error=dns_error; rcode=NXDOMAIN'),
      /answered 502 inside the tunnel \(Proxy-Status: edge\.corp; error=dns_error; rcode=NXDOMAIN\)/,
    ],
    [
      'its trouble, as squid does',
      inside('503 Away\r\nX-Squid-Error: ERR_CONNECT_FAIL 111'),
      /answered 503 inside the tunnel \(X-Squid-Error: ERR_CONNECT_FAIL 111\)/,
    ],
    ['nothing: what the service says without a trace of a proxy is its own', inside('502 Bad'), null],
    [
      'nothing: a proxy that had no trouble',
      inside('502 Bad\r\nProxy-Status: edge.corp; received-status=502'),
      null,
    ],
    ['nothing: a refusal that is none of a proxy', inside('404 No\r\nProxy-Status: cdn; error=x'), null],
  ])('where it has opened TLS, and says for itself: %s', async (_case, answer, message) => {
    const { proxy } = await proxied({ answer });
    const answers = await inEachWay(through(proxy));
    const expected = message && { kind: 'proxy', message: expect.stringMatching(message) };
    expect(answers.map(({ failure }) => failure)).toEqual([expected, expected, expected]);
  });

  it('where it opens TLS with an authority that nobody knows, what to write is told', async () => {
    const { proxy } = await proxied({ by: selfSigned('api.example') });
    const { failure } = await get(through(proxy));
    expect(failure).toEqual({
      kind: 'tls',
      message: expect.stringMatching(
        /self.signed certificate.*inside the tunnel of the proxy \S+ \(HTTPS_PROXY\): if it opens TLS itself, tls\.ca has to name its authority/,
      ),
    });
  });

  it('the same words without a proxy are the service’s', async () => {
    const service = await listen(answerEach(inside('503 Away\r\nX-Squid-Error: ERR_CONNECT_FAIL 111')));
    expect(await get(setting(service.url))).toMatchObject({ failure: null, response: { status: 503 } });
  });

  it('without end is not read to its end', async () => {
    const endless = await listen((socket) => {
      const pour = () => {
        while (socket.write('X-Endless: 1\r\n'.repeat(1000)));
      };
      socket.on('drain', pour);
      socket.write('HTTP/1.1 200 OK\r\n', pour);
    });
    expect((await get(through({ ...endless, asked: [] }))).failure).toMatchObject({ kind: 'proxy' });
  });
});
