import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NGINX, startNginx } from '../../../suites/limits/stimuli/fixtures/proxies.ts';
import { temporaryFolder, writeInto } from '../../base/fixtures/folder.ts';
import { freePort } from '../../base/loopback.ts';
import { selfSigned } from '../../proof/certificate.ts';
import { pactOf, startStubBroker } from '../../providers/pact/fixtures/stub-broker.ts';
import { answerEach, listen } from '../../wire/fixtures/loopback.ts';
import { startProxy } from '../../wire/fixtures/proxy.ts';
import { CLIENT_ID, CLIENT_SECRET, startAuthorizationServer } from '../fixtures/authorization-server.ts';
import { conformOver } from '../fixtures/conform-process.ts';
import { SQUID, startSquid, startTinyproxy, TINYPROXY } from '../fixtures/forward-proxies.ts';
import { startProtectedService } from '../fixtures/protected-service.ts';
import { mayUse } from '../fixtures/system-tools.ts';

/** Runs over proxies and servers of others, with what these have written down of them. */

const REPORTS = ['results.json', 'journal.ndjson', 'junit.xml', 'index.html', 'summary.md', 'ctrf.json'];

async function run(
  service: string,
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
) {
  const beside = Object.entries(files).map(([name, content]) => [`services/${name}`, content]);
  const all = { 'services/orders.yaml': service, ...Object.fromEntries(beside) };
  const checks = ['status.sample', 'framing.one-message', 'websocket.handshake', 'pact.*'];
  const ran = await conformOver(all, ['--check', ...checks], env);
  const written = [ran.stdout, ran.stderr, ...REPORTS.map(ran.report)].join('\n');
  return { code: ran.code, results: JSON.parse(ran.report('results.json')), written };
}

/** nginx with a server of its own for each name, which asks every client for this certificate. */
async function startGateway(behind: Readonly<Record<string, number>>, client: string) {
  const identities = Object.entries(behind).map(([name, to]) => ({ name, to, ...selfSigned(name) }));
  const folder = temporaryFolder({ 'client.pem': client });
  for (const { name, cert, key } of identities)
    writeInto(folder, { [`${name}.pem`]: cert, [`${name}.key`]: key });
  const port = await freePort();
  const http = `
  log_format seen '$host $request_method $uri certificate=$ssl_client_verify gateway=$http_x_gateway_key';
  map $http_upgrade $connection_upgrade { default upgrade; '' close; }
  ssl_verify_client on; ssl_client_certificate ${folder}/client.pem;
  ${identities
    .map(
      ({ name, to }) => `
  server {
    listen 127.0.0.1:${port} ssl; server_name ${name}; access_log ${folder}/access.log seen;
    ssl_certificate ${folder}/${name}.pem; ssl_certificate_key ${folder}/${name}.key;
    location / {
      proxy_pass http://127.0.0.1:${to}; proxy_http_version 1.1; proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-Proto https;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
    }
  }`,
    )
    .join('')}`;
  const { stop } = await startNginx({ http, server: 'return 404;' });
  onTestFinished(stop);
  return {
    port,
    authorities: identities.map(({ cert }) => cert).join(''),
    log: () => readFileSync(join(folder, 'access.log'), 'utf8').trim().split('\n'),
  };
}

describe.runIf(mayUse(SQUID) && mayUse(NGINX))('behind squid, which alone knows the names', () => {
  it('service, token endpoint and broker are reached with one TLS and proxy setting', async () => {
    const [api, login, broker] = ['api.conform.test', 'login.conform.test', 'broker.conform.test'];
    const client = selfSigned('client.conform.test');
    const issuer = await startAuthorizationServer();
    const service = await startProtectedService(issuer);
    const pacts = await startStubBroker({ token: 'broker-token-of-a-test' });
    pacts.add(pactOf('shop'));
    const nginx = await startGateway(
      { [api]: service.port, [login]: issuer.port, [broker]: Number(new URL(pacts.url).port) },
      client.cert,
    );
    const squid = await startSquid([api, login, broker], 'jo:proxy-password-of-a-test');
    const config = `service: orders
contract: search
provider: { url: "https://${api}:${nginx.port}" }
credentials:
  scheme: oauth2
  tokenUrl: https://${login}:${nginx.port}/token
  clientId: ${CLIENT_ID}
  clientSecret: \${env:CLIENT_SECRET}
headers: { X-Gateway-Key: "\${env:GATEWAY_KEY}" }
tls: { ca: authorities.pem, cert: client.pem, key: key.pem }
websocket: { url: /ws, echo: true }
pacts: { provider: search, broker: { url: "https://${broker}:${nginx.port}", token: "\${env:BROKER_TOKEN}" } }
`;
    const files = { 'authorities.pem': nginx.authorities, 'client.pem': client.cert, 'key.pem': client.key };
    const secrets = {
      CLIENT_SECRET,
      GATEWAY_KEY: 'gateway-key-of-a-test',
      BROKER_TOKEN: 'broker-token-of-a-test',
    };
    const proxy = squid.url.replace('://', '://jo:proxy-password-of-a-test@');
    const through = await run(config, files, { ...secrets, HTTPS_PROXY: proxy });

    const judged = Object.fromEntries(
      through.results.services[0].checks.map(({ id, outcome }: { id: string; outcome: string }) => [
        id,
        outcome,
      ]),
    );
    expect(judged).toEqual({
      'status.sample': 'pass',
      'framing.one-message': 'pass',
      'websocket.handshake': 'pass',
      'pact.interaction.shop.a-list': 'pass',
    });
    const tunnels = [...squid.log().matchAll(/(\S+) \d+ CONNECT (\S+):\d+ (\S+) /g)].map(
      ([, how, to, who]) => [how, to, who],
    );
    expect(new Set(tunnels.map(String))).toEqual(
      new Set([api, login, broker].map((name) => `TCP_TUNNEL/200,${name},jo`)),
    );
    // Every request came with the certificate, and what is meant for the service went to nobody else.
    const seen = nginx.log();
    const lines = (host: string) => seen.filter((line) => line.startsWith(host));
    for (const line of seen) expect(line).toContain('certificate=SUCCESS');
    expect(lines(login)).toEqual([`${login} POST /token certificate=SUCCESS gateway=-`]);
    expect(lines(broker).length).toBeGreaterThan(0);
    for (const line of lines(broker)) expect(line).toMatch(/gateway=-$/);
    expect(lines(api).map((line) => line.split(' ')[2])).toEqual(
      expect.arrayContaining(['/v1/resources', '/ws']),
    );
    for (const line of lines(api)) expect(line).toMatch(/gateway=gateway-key-of-a-test$/);
    for (const secret of [
      ...Object.values(secrets),
      ...service.tokens,
      'proxy-password-of-a-test',
      'PRIVATE KEY',
    ]) {
      expect(through.written).not.toContain(secret);
    }

    // Whoever repeats a request does it the same way.
    const [{ reproduce }] = through.results.services[0].checks;
    const shell = { PATH: process.env.PATH, HTTPS_PROXY: proxy, ACCESS_TOKEN: service.tokens[0], ...secrets };
    const repeated = await promisify(execFile)('sh', ['-c', reproduce], { env: shell });
    expect(repeated.stdout).toMatch(/^HTTP\/1\.1 200 OK\r$/m);

    // Nothing of it is there without the proxy.
    const alone = await run(config, files, secrets);
    expect(alone.code).toBe(3);
    expect(alone.results.services[0].trouble ?? alone.written).toMatch(/ENOTFOUND|EAI_AGAIN/);
    const refused = await run(config, files, { ...secrets, HTTPS_PROXY: squid.url });
    expect(refused.code).toBe(3);
    expect(refused.written).toMatch(/wants a user and a password \(it answered 407/);
  });

  it('what it cannot reach is told in its words, and judged as nothing of the service', async () => {
    const squid = await startSquid(['api.conform.test'], 'jo:proxy-password-of-a-test');
    const config = `service: orders\ncontract: search\nprovider: { url: "https://api.conform.test:${await freePort()}" }\ncredentials: { scheme: none }\n`;
    const proxy = squid.url.replace('://', '://jo:proxy-password-of-a-test@');
    const { code, results } = await run(config, {}, { HTTPS_PROXY: proxy });
    expect(code).toBe(3);
    expect(results.services[0].trouble).toMatch(
      /the proxy \S+ \(HTTPS_PROXY\) could not reach api\.conform\.test:\d+: it answered 503/,
    );
    expect(results.totals.fail).toBe(0);
  });
});

describe.runIf(mayUse(TINYPROXY))('behind tinyproxy, and another proxy behind that', () => {
  it('plain http takes a tunnel through both', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
    const heads: string[] = [];
    const service = await listen(answerEach(answer, (head) => heads.push(head)));
    const further = await startProxy({ behind: { 'api.conform.test:80': service.port } });
    const tinyproxy = await startTinyproxy(further.url);
    const config =
      'service: orders\ncontract: search\nprovider: { url: "http://api.conform.test" }\ncredentials: { scheme: none }\n';
    const { code, results } = await run(config, {}, { http_proxy: tinyproxy.url });
    expect([code, results.totals.fail]).toEqual([0, 0]);
    expect(results.services[0].provider.proxy).toBe(tinyproxy.url);
    expect(tinyproxy.log()).toMatch(/CONNECT api\.conform\.test:80 HTTP\/1\.1/);
    expect(further.asked.every((head) => head.startsWith('CONNECT api.conform.test:80 '))).toBe(true);
    // No proxy has put a word of its own into what the service got.
    for (const head of heads) expect(head).not.toMatch(/^(?:via|proxy-connection|x-tinyproxy):/im);
  });
});
