import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../harness/base/fixtures/folder.ts';
import { loadOrders, shipped } from '../../../harness/config/fixtures/config-folder.ts';
import { NGINX, startNginx } from '../../../harness/probe/quota/fixtures/proxies.ts';
import { startProvider } from '../../../harness/provider/start.ts';
import { mayUse } from '../../../harness/run/fixtures/system-tools.ts';
import { selfSigned } from '../../../harness/transport/fixtures/certificate.ts';
import { listen } from '../../../harness/transport/fixtures/loopback.ts';
import { trusting } from '../../../harness/transport/fixtures/setting.ts';
import { echoing, startWsEndpoint } from '../../../harness/transport/fixtures/ws-endpoint.ts';
import { byHand } from '../fixtures/by-hand.ts';
import { ECHO_SERVERS } from '../fixtures/echo-servers.ts';
import { echoConfig, findings, outcomesOf, withOutcome } from '../fixtures/outcomes.ts';

/** An echo by `ws` over TLS, with a certificate that nobody else knows. */
async function tlsEcho() {
  const identity = selfSigned('echo.example');
  const { url, stop } = await startWsEndpoint(echoing, identity);
  onTestFinished(stop);
  return { ca: identity.cert, url };
}

describe('a service over TLS, with an authority of its own', () => {
  it('is judged when the config names the authority', async () => {
    const { ca, url } = await tlsEcho();
    const { judged } = await outcomesOf(url, { ...(await echoConfig()), tls: trusting(ca) });
    // As `ws` does by itself.
    expect(findings(judged)).toEqual(['warning websocket.missing-host']);
    expect(withOutcome(judged, 'pass').length).toBeGreaterThan(55);
  });

  it('is not trusted, and not judged, when it does not', async () => {
    const { url } = await tlsEcho();
    const { judged } = await outcomesOf(url, await echoConfig());
    expect(withOutcome(judged, 'pass')).toEqual([]);
    expect(judged.get('websocket.handshake')).toMatchObject({
      outcome: 'blocked',
      message: expect.stringMatching(/certificate/),
    });
  });

  it('has its authority read from a PEM file beside the config', async () => {
    const file = join(temporaryFolder(), 'ca.pem');
    const service = `service: orders
contract: orders
provider: { url: https://orders.example }
credentials: { scheme: none }
tls: { ca: ${file} }
`;
    await expect(loadOrders(service)).rejects.toThrow(/there is no such file/);
    await writeFile(file, 'nothing of the kind');
    await expect(loadOrders(service)).rejects.toThrow(/no certificate in PEM/);
    const { cert } = selfSigned('authority.example');
    await writeFile(file, `Of our authority:\n${cert}`);
    const { tls } = (await loadOrders(service)).config;
    expect(tls).toMatchObject({ ca: cert.trim(), client: null, insecure: false });
  });
});

/** nginx as its documents show it in front of a WebSocket service. */
async function nginxBefore(url: string): Promise<string> {
  const front = await startNginx({
    http: "map $http_upgrade $connection_upgrade { default upgrade; '' close; }",
    server: `
    location / {
      proxy_pass ${url};
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header Host $http_host;
    }`,
  });
  onTestFinished(front.stop);
  return front.url;
}

describe.runIf(mayUse(NGINX))('a service behind nginx', () => {
  it('has no other findings than without it', async () => {
    const server = await ECHO_SERVERS.ws();
    onTestFinished(server.stop);
    const { judged } = await outcomesOf(await nginxBefore(server.url), await echoConfig());
    expect(findings(judged)).toEqual([]);
    // nginx writes Connection anew, and says who it is.
    expect(judged.get('websocket.missing-connection')).toMatchObject({
      outcome: 'skipped',
      message: expect.stringContaining('nginx'),
    });
    expect(withOutcome(judged, 'pass').length).toBeGreaterThan(55);
  });

  it('conforms when it is the reference provider, credentials included', async () => {
    const config = await shipped('realtime');
    const provider = await startProvider(config);
    onTestFinished(provider.stop);
    const { judged } = await outcomesOf(await nginxBefore(provider.url), config);
    expect(findings(judged)).toEqual([]);
  });

  it('takes a handshake in HTTP/1.0, which nginx makes one in 1.1', async () => {
    const server = await ECHO_SERVERS.ws();
    onTestFinished(server.stop);
    const url = await nginxBefore(server.url);
    const { judged } = await outcomesOf(url, await echoConfig());
    const observed = judged.get('websocket.http-1-0')?.message ?? '';
    const { head } = await byHand(url, { version: '1.0' });
    expect(observed).toBe(`status ${/^HTTP\/1\.\d (\d+)/.exec(head)?.[1]}`);
  });
});

describe('a service that has moved', () => {
  it('is observed to redirect, which no WebSocket client follows', async () => {
    const server = await listen((socket) => {
      socket.on('data', () =>
        socket.end(
          'HTTP/1.1 308 Permanent Redirect\r\nLocation: wss://moved.example/ws\r\nContent-Length: 0\r\n\r\n',
        ),
      );
    });
    const { judged } = await outcomesOf(server.url, await echoConfig());
    expect(judged.get('websocket.redirect')).toMatchObject({
      outcome: 'observed',
      message: expect.stringContaining('to wss://moved.example/ws'),
    });
    expect(withOutcome(judged, 'fail')).toEqual(['websocket.handshake']);
    expect(judged.get('websocket.ping')).toMatchObject({
      outcome: 'blocked',
      message: expect.stringContaining('status 308, to wss://moved.example/ws'),
    });
  });
});
