import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../harness/base/fixtures/folder.ts';
import { loadOnly } from '../../harness/config/fixtures/config-folder.ts';
import { selectChecks } from '../../harness/engine/selection/selection.ts';
import { simulatedClock } from '../../harness/engine/simulation/clock.ts';
import { suites } from '../catalogue.ts';
import { JSON_SERVER_DOCUMENT, jsonServerStore } from './fixtures/item-stores/json-server-store.ts';
import { ROW_DOCUMENT, rowsServer, TABLE_DOCUMENT } from './fixtures/item-stores/rows-server.ts';
import { SQLITE_DOCUMENT, sqliteStore } from './fixtures/item-stores/sqlite-store.ts';
import { judged, KEY, raised } from './fixtures/judged.ts';

/** Items behind a database. Every finding is listed, and true. */
const STORES = {
  'a table of SQLite': { start: sqliteStore, document: SQLITE_DOCUMENT, isWritten: true, findings: {} },
  'rows behind a gateway': { start: rowsServer, document: ROW_DOCUMENT, isWritten: true, findings: {} },
  // Rows are chosen by filters alone, so that the run has no way to name those of its own.
  'rows by filters': { start: rowsServer, document: TABLE_DOCUMENT, isWritten: false, findings: {} },
  'json-server': {
    start: jsonServerStore,
    document: JSON_SERVER_DOCUMENT,
    isWritten: true,
    findings: {
      // It stores whatever it is sent, and nothing where there is no body.
      'operations.negative-type': 'fail',
      'operations.negative-missing': 'fail',
      'operations.schema': 'fail',
      'operations.body-empty': 'blocked',
      // Its parser answers 500 in plain text to a body that is no JSON, or is too large.
      'operations.body-malformed': 'fail',
      'operations.body-large': 'fail',
      'operations.body-odd-json': 'blocked',
      'operations.body-foreign-type': 'blocked',
      'json.error-media-type': 'fail',
      // HEAD of a collection is answered 400.
      'status.head': 'warning',
      // The proxy knows neither browsers nor versions.
      'auth.preflight': 'warning',
      'versioning.without-prefix': 'warning',
    },
  },
} as const;

afterEach(() => vi.restoreAllMocks());

describe('a run that may write leaves the items as they were, and finds nothing but what is true', () => {
  it.for(Object.entries(STORES))('of %s', async ([, { start, document, isWritten, findings }]) => {
    // json-server prints each error that it meets.
    vi.spyOn(console, 'error').mockReturnValue();
    const clock = simulatedClock();
    const { url, stop, kept, created } = await start();
    onTestFinished(async () => {
      await stop();
      clock.stop();
    });
    const service = `service: items
contract: search
provider: { url: "${url}" }
credentials: { scheme: bearer, key: ${KEY} }
openapi: ../openapi/items.json
plan: { requests: 10000, window: 60s }
rules: api
safety: { unsafeMethods: true }
`;
    const files = { 'services/items.yaml': service, 'openapi/items.json': JSON.stringify(document) };
    const { config } = await loadOnly(temporaryFolder(files));
    const { selected } = selectChecks(suites, { suites: [], checks: [] }, [config]);
    const [before, count] = [kept(), created()];
    const ran = await judged(config, selected(config), { url, clock });
    expect(raised(ran)).toEqual(findings);
    expect(kept()).toBe(before);
    expect(created() > count).toBe(isWritten);
  });
});
