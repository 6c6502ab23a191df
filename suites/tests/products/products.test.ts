import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../harness/base/verdict.ts';
import { loadServices } from '../../../harness/config/load.ts';
import { startProvider } from '../../../harness/engine/provider/start.ts';
import { functional } from '../../catalogue.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { judged } from '../fixtures/judged.ts';

/**
 * Products of Debian and of npm, each started by `start.sh` with the config beside it: `npm run products`. What is
 * found of each stands in `docs/products.md`, confirmed by hand; what does not stand there is silence.
 */
const CONFIG = fileURLToPath(new URL('.', import.meta.url));
const DOCUMENT = new URL('../../../docs/products.md', import.meta.url);

/** Those that answer nothing but WebSocket handshakes where they are reached. */
const WEBSOCKET_ALONE: ReadonlySet<string> = new Set(['nats-websocket']);

/** What starts each product, where that is not its own name; those of npm are where CONFORM_PRODUCTS says. */
const PROGRAMS: Readonly<Record<string, string>> = {
  alertmanager: 'prometheus-alertmanager',
  aria2: 'aria2c',
  influxdb: 'influxd',
  nats: 'nats-server',
  'nats-websocket': 'nats-server',
};

const FOLDER = process.env.CONFORM_PRODUCTS ?? '';

function isInstalled(product: string): boolean {
  const program = PROGRAMS[product] ?? product;
  if (FOLDER !== '' && existsSync(join(FOLDER, 'node_modules', '.bin', program))) return true;
  return spawnSync('which', [program], { stdio: 'ignore' }).status === 0;
}

/** The rows `| product | outcome | check | why |` of the document. */
function documented(product: string): readonly string[] {
  const rows = readFileSync(DOCUMENT, 'utf8').matchAll(/^\| ([\w.-]+) \| (fail|warning) \| `([\w.-]+)` \|/gm);
  return [...rows].flatMap(([, name, outcome, id]) => (name === product ? [`${id} ${outcome}`] : [])).sort();
}

/** The row `| name (`product`) | … | judged | raised |` of the document: how many checks judged it, how many raised something. */
function documentedCounts(product: string): { readonly judged: number; readonly raised: number } {
  const row = new RegExp(`^\\| [^|]+\\(\`${product}\`\\) \\|.*\\| (\\d+) \\| (\\d+) \\|$`, 'm');
  const [, judged, raised] = row.exec(readFileSync(DOCUMENT, 'utf8')) ?? [];
  return { judged: Number(judged), raised: Number(raised) };
}

const { services } = await loadServices({ configDir: CONFIG, env: { CONFORM_PRODUCTS: FOLDER } });
const RAISED: ReadonlySet<Outcome> = new Set(['fail', 'warning', 'error']);
const JUDGED: ReadonlySet<Outcome> = new Set(['pass', ...RAISED]);

describe.each(services.map(({ config }) => config))('$service', (config) => {
  it.runIf(isInstalled(config.service))('has what is known of it, and nothing else', async () => {
    const provider = await startProvider(config);
    try {
      const asked = WEBSOCKET_ALONE.has(config.service) ? [websocket] : [...functional, websocket];
      const { outcomes } = await judged(config, asked, { url: provider.url });
      const found = Object.entries(outcomes).flatMap(([id, outcome]) =>
        RAISED.has(outcome) ? [`${id} ${outcome}`] : [],
      );
      expect(found.sort()).toEqual(documented(config.service));
      const count = Object.values(outcomes).filter((outcome) => JUDGED.has(outcome)).length;
      expect({ judged: count, raised: found.length }).toEqual(documentedCounts(config.service));
    } finally {
      await provider.stop();
    }
  });
});
