import { describe, expect, it } from 'vitest';
import { selfSigned } from '../../proof/certificate.ts';
import { answerEach, listen } from '../../wire/fixtures/loopback.ts';
import { startProxy } from '../../wire/fixtures/proxy.ts';
import { conformOver, unbroken } from '../fixtures/conform-process.ts';

/** Whole runs of one check, over the networks that people have. */

const JSON_OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
const FILES = ['results.json', 'junit.xml', 'index.html', 'summary.md', 'ctrf.json'];

interface Setting {
  /** Lines of the service file, beside its name, contract and provider. */
  readonly block?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `conform run` of one check of a service at this URL: how it ended, and its reports by name. */
async function runOf(url: string, { block = '', files = {}, args = [], env = {} }: Setting = {}) {
  const credentials = block.includes('credentials:') ? '' : 'credentials: { scheme: none }\n';
  const service = `service: orders\ncontract: search\nprovider: { url: ${url} }\n${credentials}${block}\n`;
  const beside = Object.entries(files).map(([name, content]) => [`services/${name}`, content]);
  const written = { 'services/orders.yaml': service, ...Object.fromEntries(beside) };
  return conformOver(written, ['--check', 'status.sample', ...args], env);
}

describe('a certificate that nobody vouches for', () => {
  const identity = selfSigned('localhost');

  it('ends the run with what to do about it, which then works', async () => {
    const { url } = await listen(answerEach(JSON_OK), identity);
    const refused = await runOf(url);
    expect(refused.code).toBe(3);
    expect(unbroken(refused.stdout)).toContain(
      'name the file of its authority in the config of the service: tls: { ca: PATH }',
    );
    const trusted = await runOf(url, { block: 'tls: { ca: ca.pem }', files: { 'ca.pem': identity.cert } });
    expect([trusted.code, trusted.stderr]).toEqual([0, expect.not.stringContaining('beware')]);
  });

  it('is taken where the config says so, which every report and every form of output tells', async () => {
    const { url } = await listen(answerEach(JSON_OK), identity);
    const block = 'tls: { insecure: true }';
    const { code, stdout, stderr, report } = await runOf(url, { block });
    expect(code).toBe(0);
    const warning = /certificates were not verified \(tls\.insecure\)/;
    expect(stderr).toMatch(warning);
    expect(unbroken(stdout)).toMatch(warning);
    for (const name of FILES) expect(report(name), name).toMatch(/certificates were not verified/);
    const quiet = await runOf(url, { block, args: ['--quiet'] });
    expect(unbroken(quiet.stdout)).toMatch(warning);
  });

  it('is never taken by a strict run, which sends nothing', async () => {
    const server = await listen(answerEach(JSON_OK), identity);
    const { code, stderr } = await runOf(server.url, {
      block: 'tls: { insecure: true }',
      args: ['--strict'],
    });
    expect([code, server.accepted()]).toEqual([2, 0]);
    expect(stderr).toMatch(/orders\.yaml:5:18: tls\.insecure: a strict run decides.*tls\.ca/s);
  });
});

describe('headers of one’s own', () => {
  it('go with every request, and their secrets into no report', async () => {
    const heads: string[] = [];
    const { url } = await listen(answerEach(JSON_OK, (head) => heads.push(head)));
    const secret = 'gateway-key-of-a-test';
    const { code, stdout, stderr, report } = await runOf(url, {
      block: `headers: { X-Tenant: acme, X-Gateway-Key: "\${env:GATEWAY_KEY}" }`,
      args: ['--check', 'framing.two-hosts', '--check', 'headers.date'],
      env: { GATEWAY_KEY: secret },
    });
    expect(code).not.toBe(70);
    expect(heads.length).toBeGreaterThan(1);
    for (const head of heads)
      expect(head).toMatch(/\r\nX-Tenant: acme\r\nX-Gateway-Key: gateway-key-of-a-test\r\n/);
    for (const said of [stdout, stderr, ...FILES.map(report)]) expect(said).not.toContain(secret);
    expect(report('results.json')).toContain('[redacted:GATEWAY_KEY]');
  });
});

describe('a service that only a proxy reaches', () => {
  it('is judged through it, which the reports tell without its password', async () => {
    const identity = selfSigned('api.example');
    const service = await listen(answerEach(JSON_OK), identity);
    const proxy = await startProxy({ behind: { 'api.example:443': service.port } });
    const { code, stderr, stdout, report } = await runOf('https://api.example', {
      block: 'tls: { ca: ca.pem }',
      files: { 'ca.pem': identity.cert },
      env: { HTTPS_PROXY: proxy.url.replace('://', '://jo:password-of-a-test@') },
    });
    expect([code, service.accepted()]).toEqual([0, 1]);
    expect(stderr).toContain(`through the proxy ${proxy.url}`);
    for (const name of ['results.json', 'junit.xml', 'index.html']) {
      expect(report(name), name).toContain(proxy.url.replace('http://', ''));
    }
    for (const said of [stdout, stderr, ...FILES.map(report)])
      expect(said).not.toContain('password-of-a-test');
  });

  it('is out of reach, and not wrong, where the proxy says no', async () => {
    const proxy = await startProxy({ answer: 'HTTP/1.1 403 Filtered\r\n\r\n' });
    const { code, stdout } = await runOf('https://api.example', { env: { HTTPS_PROXY: proxy.url } });
    expect(code).toBe(3);
    expect(unbroken(stdout)).toMatch(
      /the provider cannot be reached: the proxy \S+ \(HTTPS_PROXY\) refuses a tunnel/,
    );
  });
});
