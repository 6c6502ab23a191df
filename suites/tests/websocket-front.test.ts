import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadOrders } from '../../harness/config/fixtures/config-folder.ts';
import { NGINX, running } from '../../harness/probe/quota/fixtures/proxy-limiters.ts';
import { startProvider } from '../../harness/provider/start.ts';
import { mayUse } from '../../harness/run/fixtures/system-tools.ts';
import { selfSigned } from '../../harness/transport/fixtures/certificate.ts';
import { listen } from '../../harness/transport/fixtures/loopback.ts';
import { trusting } from '../../harness/transport/fixtures/setting.ts';
import { echoing, startWsEndpoint } from '../../harness/transport/fixtures/ws-endpoint.ts';
import { byHand } from './fixtures/by-hand.ts';
import { ECHO_SERVERS } from './fixtures/echo-servers.ts';
import { echoConfig, findings, outcomesOf, shipped, withOutcome } from './fixtures/outcomes.ts';

const ending: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

/** An echo by `ws` over TLS, with a certificate that nobody else knows. */
async function tlsEcho() {
  const identity = selfSigned('echo.example');
  const { url, stop } = await startWsEndpoint(echoing, identity);
  ending.push(stop);
  return { ca: identity.cert, url };
}

describe('a service over TLS, with an authority of its own', () => {
  it('is judged when the config names the authority', async () => {
    const { ca, url } = await tlsEcho();
    const { judged } = await outcomesOf(url, { ...(await echoConfig()), tls: trusting(ca) });
    expect(findings(judged)).toEqual([]);
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
    const folder = await mkdtemp(join(tmpdir(), 'conform-tls-'));
    ending.push(() => rm(folder, { recursive: true }));
    const file = join(folder, 'ca.pem');
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
  const front = await running(
    NGINX,
    (file) => ['-c', file],
    (port, folder) => `
daemon off; master_process off; pid ${folder}/pid; error_log stderr error;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  map $http_upgrade $connection_upgrade { default upgrade; '' close; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${url};
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header Host $http_host;
    }
  }
}`,
  );
  ending.push(front.stop);
  return front.url;
}

describe.runIf(mayUse(NGINX))('a service behind nginx', () => {
  it('has no other findings than without it', async () => {
    const server = await ECHO_SERVERS.ws();
    ending.push(server.close);
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
    const config = await shipped();
    const provider = await startProvider(config);
    ending.push(provider.stop);
    const { judged } = await outcomesOf(await nginxBefore(provider.url), config);
    expect(findings(judged)).toEqual([]);
  });

  it('takes a handshake in HTTP/1.0, which nginx makes one in 1.1', async () => {
    const server = await ECHO_SERVERS.ws();
    ending.push(server.close);
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
