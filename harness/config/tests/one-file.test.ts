import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageErrors } from '../../base/exit.ts';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { baselineFile, withEntries, withoutEntries } from '../baseline.ts';
import { loadOnly, thrownBy } from '../fixtures/config-folder.ts';
import { loadServices } from '../load.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Orders API, version: '1' }
security: [{ key: [] }]
components: { securitySchemes: { key: { type: http, scheme: bearer } } }
paths:
  /v1/orders:
    get:
      responses:
        '200': { description: all, content: { application/json: {} } }
        '401': { description: no key, content: { application/problem+json: {} } }
`;

const FILE = `service: orders
rules: api@2026-11
provider: { url: 'https://orders.example' }
credentials: { scheme: bearer, key: '\${env:ORDERS_KEY}' }
openapi: openapi.yaml
`;
const ENV = { ORDERS_KEY: 'key-for-tests' };

const folderWith = (text: string) => temporaryFolder({ 'conform.yaml': text, 'openapi.yaml': DOCUMENT });

describe('conform.yaml', () => {
  it('is a service that keeps its document, with the line of each clause', async () => {
    const folder = folderWith(FILE);
    const { config } = await loadOnly(join(folder, 'conform.yaml'), { env: ENV });
    expect(config.service).toBe('orders');
    expect(config.operations.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /v1/orders']);
    expect(config.contract.title).toBe('Orders API');
    const lines = config.contract.clauses.map(({ key, line }) => `${key} ${line?.replace(`${folder}/`, '')}`);
    expect(lines).toEqual([
      'endpoint.sample openapi.yaml:8',
      'versioning.prefix openapi.yaml:8',
      'responses.format openapi.yaml:8',
      'errors.format openapi.yaml:8',
      'errors.codes openapi.yaml:8',
    ]);
  });

  it('has clauses in place of those of the document, and known failures, for its environments too', async () => {
    const folder = folderWith(`${FILE}clauses:
  - { key: errors.format, standing: not-shown }
  - { key: limits.rate, standing: stated, value: { requests: 100, window: 60s } }
known:
  - { check: headers.date, got: [none], reason: later, owner: us, until: 2027-01-31, environment: staging }
environments:
  staging: { provider: { url: 'https://staging.example' } }
`);
    const config = join(folder, 'conform.yaml');
    const staging = await loadOnly(config, { env: ENV, environment: 'staging' });
    const { clauses } = staging.config.contract;
    expect(clauses.find(({ key }) => key === 'errors.format')).toMatchObject({
      standing: 'not-shown',
      line: `${config}:7`,
    });
    expect(staging.config.plan).toMatchObject({ requests: 100, windowMs: 60_000 });
    expect(staging.known).toMatchObject([{ check: 'headers.date', place: `${config}:10` }]);
    expect((await loadOnly(config, { env: ENV })).known).toEqual([]);
  });

  it('is refused with all its faults at once, each at its line with a remedy', async () => {
    const folder = folderWith(`service: orders
contract: orders
provider: { url: 'https://orders.example' }
credentials: { scheme: bearer, key: '\${env:ORDERS_KEY}' }
clauses:
  - { key: limits.rate, standing: stated, value: often }
  - { key: errors.formt, standing: stated, value: JSON }
known:
  - { check: headers.date, got: [none], reason: later, owner: us }
`);
    const loading = loadServices({ configDir: join(folder, 'conform.yaml'), env: ENV });
    const error = await thrownBy(loading);
    const faults = error instanceof UsageErrors ? error.faults : [error];
    expect(faults.map(({ place, key, remedy }) => [place?.line, key, remedy !== undefined])).toEqual([
      [2, 'contract', true],
      [7, 'clauses.1.key', true],
      [9, 'known.0.until', true],
    ]);
  });

  it('is refused for a value that does not fit its clause', async () => {
    const folder = folderWith(
      `${FILE}clauses: [{ key: limits.rate, standing: stated, value: often }, { key: limits.rate, standing: advised }]\n`,
    );
    const error = await thrownBy(loadServices({ configDir: join(folder, 'conform.yaml'), env: ENV }));
    expect(error.message).toMatch(/conform\.yaml:6:\d+: clauses\.0\.value: limits\.rate: the value/);
    expect(error.message).toMatch(/clauses\.1\.key: clause 1 has the key limits\.rate already/);
  });

  it('keeps all else as it is written when a list changes', () => {
    const rest = 'provider:   {url: x}  # as written\n';
    const folder = temporaryFolder({ 'conform.yaml': `service: orders\n${rest}` });
    const config = join(folder, 'conform.yaml');
    const list = baselineFile(config, 'known', 'orders');
    const entry = { check: 'headers.date', got: ['none'] };
    const added = list.with(withEntries(list.text, { folder: 'known', key: 'check' }, [entry]));
    const known = 'known:\n  - check: headers.date\n    got:\n      - none\n';
    expect(added).toBe(`service: orders\n${rest}\n${known}`);
    const before = temporaryFolder({ 'conform.yaml': `service: orders\n${known}\n# below\n${rest}` });
    const again = baselineFile(join(before, 'conform.yaml'), 'known', 'orders');
    const { text, removed } = withoutEntries(again.text, 'known', [entry]);
    expect(removed).toBe(1);
    expect(again.with(text)).toBe(`service: orders\nknown: []\n\n# below\n${rest}`);
  });
});
