import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Ajv } from 'ajv';
import { default as addFormats } from 'ajv-formats';
import fetchHar from 'fetch-har';
import { describe, expect, it } from 'vitest';
import { served } from '../../base/fixtures/server.ts';
import { HOSTILE } from '../fixtures/sample-evidence.ts';
import { conformingService, resultsOf, SAMPLE_RUNS, sampleResults } from '../fixtures/sample-results.ts';
import { wholeText } from '../fixtures/whole-text.ts';
import { DEFAULT_CHOICES } from '../format.ts';
import type { Results, ServiceResult } from '../results/results.ts';
import { har } from './har.ts';

const { schemas }: { schemas: Record<string, object> } = JSON.parse(
  readFileSync(new URL('../fixtures/schemas/har-1.2.schema.json', import.meta.url), 'utf8'),
);
const ajv = new Ajv({ strict: false });
addFormats.default(ajv);
for (const schema of Object.values(schemas)) ajv.addSchema(schema);
const isValid = ajv.compile({ $ref: 'har.json#' });

function archives(results: Results): ReadonlyMap<string, string> {
  const files = har.render(results, DEFAULT_CHOICES)['har/SERVICE.har'];
  if (!(files instanceof Map)) throw new Error('there is a file for each service');
  return new Map([...files].map(([service, text]) => [service, wholeText(text)]));
}

function withUrl(service: ServiceResult, url: string): ServiceResult {
  return JSON.parse(JSON.stringify(service).replaceAll(/https?:\/\/[a-z0-9.:]+(?=[/"])/g, url));
}

describe('HAR', () => {
  it.each(Object.entries({ ...SAMPLE_RUNS, ordinary: sampleResults() }))(
    'is valid against its schema: %s',
    (_, results) => {
      for (const text of archives(results).values()) {
        expect(isValid(JSON.parse(text)), JSON.stringify(isValid.errors)).toBe(true);
      }
    },
  );

  it('has an entry for each exchange and each connection, with its messages', () => {
    const service = conformingService();
    const kinds = Object.values(service.evidence).map((each) => Object(each).kind);
    const [text = ''] = archives(resultsOf([service])).values();
    const { entries } = JSON.parse(text).log;
    expect(entries).toHaveLength(kinds.filter((kind) => kind !== 'burst').length);
    const sockets = entries.filter((entry: object) => '_webSocketMessages' in entry);
    expect(sockets).toHaveLength(kinds.filter((kind) => kind === 'conversation').length);
  });

  it('takes whatever a provider says', () => {
    const hostile = JSON.stringify(HOSTILE).slice(1, -1);
    const said = JSON.stringify(conformingService()).replaceAll('application/json', () => hostile);
    const texts = [...archives(resultsOf([JSON.parse(said)])).values()];
    expect(texts.join()).toContain('pwned');
    for (const text of texts) expect(isValid(JSON.parse(text))).toBe(true);
  });

  it('is read by a program of others, which sends the same request', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.end();
    });
    const url = await served(server);
    const [text = ''] = archives(resultsOf([withUrl(conformingService(), url)])).values();
    const { log } = JSON.parse(text);
    const exchanges = log.entries.filter(
      ({ request }: { request: { method: string } }) => request.method === 'GET',
    );
    await fetchHar({ log: { ...log, entries: exchanges.slice(0, 1) } });
    const [{ request }] = exchanges;
    const { pathname, search } = new URL(request.url);
    expect(seen).toEqual([expect.stringContaining(`GET ${pathname}${search} `)]);
  });
});
