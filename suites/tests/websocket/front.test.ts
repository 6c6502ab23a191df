import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../harness/base/fixtures/folder.ts';
import { loadOrders, shipped } from '../../../harness/config/fixtures/config-folder.ts';
import { mayUse } from '../../../harness/engine/fixtures/system-tools.ts';
import { startProvider } from '../../../harness/engine/provider/start.ts';
import { selfSigned, trusting } from '../../../harness/proof/certificate.ts';
import { echoing, startWsEndpoint } from '../../../harness/wire/fixtures/ws-endpoint.ts';
import { NGINX, startNginx } from '../../limits/stimuli/fixtures/proxies.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { byHand } from '../fixtures/by-hand.ts';
import { ECHO_SERVERS } from '../fixtures/echo-servers.ts';
import { echoConfig, findings, judged, saidOf, withOutcome } from '../fixtures/judged.ts';

describe('a service over TLS, with an authority of its own', () => {
  it('is judged when the config names the authority', async () => {
    const identity = selfSigned('echo.example');
    const { url, stop } = await startWsEndpoint(echoing, identity);
    onTestFinished(stop);
    const config = { ...(await echoConfig()), tls: trusting(identity.cert) };
    const all = await judged(config, [websocket], { url });
    // As `ws` does by itself.
    expect(findings(all)).toEqual(['warning websocket.missing-host']);
    expect(withOutcome(all, 'pass').length).toBeGreaterThan(55);
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
  it('has no other findings than without it, and takes a handshake in HTTP/1.0', async () => {
    const server = await ECHO_SERVERS.ws();
    onTestFinished(server.stop);
    const url = await nginxBefore(server.url);
    const all = await judged(await echoConfig(), [websocket], { url });
    expect(findings(all)).toEqual([]);
    // nginx writes Connection anew, and says who it is.
    expect(saidOf(all, 'websocket.missing-connection')).toMatch(/^skipped: .*nginx/);
    expect(withOutcome(all, 'pass').length).toBeGreaterThan(55);
    // It makes a handshake in HTTP/1.0 one in 1.1.
    const { head } = await byHand(url, { version: '1.0' });
    expect(all.messages['websocket.http-1-0']).toBe(`status ${/^HTTP\/1\.\d (\d+)/.exec(head)?.[1]}`);
  });

  it('conforms when it is the reference provider, credentials included', async () => {
    const config = await shipped('realtime');
    const provider = await startProvider(config);
    onTestFinished(provider.stop);
    const url = await nginxBefore(provider.url);
    expect(findings(await judged(config, [websocket], { url }))).toEqual([]);
  });
});
