import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { loadOnly } from '../../config/fixtures/config-folder.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import { createRedaction } from '../../wire/redaction/redaction.ts';
import { loadSuites, SUITES_URL } from '../selection/selection.ts';
import { judgeTraffic } from './judge-traffic.ts';
import { recordOfHar } from './read-har.ts';

const API = 'https://api.example';
const LIST = { type: 'array', items: { type: 'object' } };
const ERROR = { type: 'object', required: ['message'] };
const json = (schema: object) => ({ description: 'so', content: { 'application/json': { schema } } });
const DOCUMENT = {
  openapi: '3.1.0',
  paths: { '/parcels': { get: { operationId: 'list', responses: { 200: json(LIST), 404: json(ERROR) } } } },
};

interface Entry {
  readonly url: string;
  readonly method?: string;
  readonly status?: number;
  readonly type?: string;
  readonly coding?: string;
  readonly body: string;
}

const entryOf = ({ url, method = 'GET', status = 200, type = 'application/json', coding, body }: Entry) => ({
  startedDateTime: '2026-11-26T04:00:00.000Z',
  time: 5,
  request: { method, url, headers: [{ name: 'Accept', value: '*/*' }] },
  response: {
    status,
    headers: [
      { name: 'Content-Type', value: type },
      ...(coding === undefined ? [] : [{ name: 'Content-Encoding', value: coding }]),
    ],
    content: { text: body, size: body.length },
  },
});

/** The outcomes, findings and remarks on these entries of a browser. */
async function told(...entries: readonly Entry[]) {
  const yaml = `service: orders\ncontract: search\ncredentials: { scheme: none }\nprovider: { url: '${API}' }\nopenapi: ../openapi/api.json\n`;
  const folder = { 'services/orders.yaml': yaml, 'openapi/api.json': JSON.stringify(DOCUMENT) };
  const { config } = await loadOnly(temporaryFolder(folder));
  const text = JSON.stringify({ log: { creator: { name: 'Firefox' }, entries: entries.map(entryOf) } });
  const harness = { name: 'conform', version: '1', node: 'v24' };
  const redaction = createRedaction([]);
  const { services } = recordOfHar(text, { file: 'a.har', service: 'orders', harness, redaction });
  const events: JournalEvent[] = [];
  const [recorded] = services;
  if (recorded === undefined) throw new Error('the file has no service');
  await judgeTraffic(recorded, config, {
    suites: await loadSuites(SUITES_URL),
    strict: false,
    redact: (each) => each,
    record: (event) => void events.push(event),
  });
  const outcomes = events.flatMap((event) => (event.type === 'outcome' ? [event] : []));
  return {
    outcomes: Object.fromEntries(outcomes.map(({ id, outcome }) => [id, outcome])),
    messages: Object.fromEntries(outcomes.map(({ id, message }) => [id, message])),
    remarks: events.flatMap((event) => (event.type === 'remark' ? [event.text] : [])),
  };
}

describe('the traffic of another client', () => {
  it('is held to the document, whatever its coding', async () => {
    const { outcomes } = await told(
      { url: `${API}/parcels`, body: '[{}]', coding: 'gzip' },
      { url: `${API}/parcels`, status: 404, body: '{"message":"no"}' },
    );
    expect(outcomes).toEqual({
      'operations.answer-status': 'pass',
      'operations.undocumented-refusal': 'pass',
      'operations.response-time': 'skipped',
      'operations.content-type': 'pass',
      'operations.answer-headers': 'skipped',
      'operations.schema': 'pass',
    });
  });

  it('has findings that name the entry', async () => {
    const { outcomes, messages } = await told(
      { url: `${API}/parcels?page=1`, body: '[]' },
      { url: `${API}/parcels?page=2`, body: '{"no":"list"}', coding: 'br' },
      { url: `${API}/parcels`, status: 418, body: '{}' },
    );
    expect(outcomes).toMatchObject({ 'operations.schema': 'fail', 'operations.answer-status': 'fail' });
    expect(messages['operations.schema']).toContain('must be array (type) for GET /parcels in entry 2 [');
    expect(messages['operations.answer-status']).toContain('status 418 instead of 200 or 404');
  });

  it('leaves out other hosts and files, and lists operations without a document', async () => {
    const { outcomes, remarks } = await told(
      { url: `${API}/unknown`, body: '{}' },
      { url: `${API}/parcels`, method: 'DELETE', body: '{}' },
      { url: `${API}/app.js`, type: 'text/javascript', body: 'x' },
      { url: 'https://cdn.example/parcels', body: '"no"' },
    );
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['skipped']));
    expect(remarks).toEqual([
      'not documented: GET /unknown (1), DELETE /parcels (1)',
      '1 entry of other hosts',
    ]);
  });
});
