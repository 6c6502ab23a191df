import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listening } from '../../base/loopback.ts';
import { BUILT, build } from '../fixtures/benchmark/built.ts';
import { median } from '../fixtures/benchmark/measured.ts';

/**
 * `npm run benchmark:start`: what a start of the built package costs, in turn with a Node that does nothing. Time and
 * processor time are medians, and ratios to that Node; memory is the most that the processes of one run ever held, added
 * up: what they have for themselves, and once what they share, most of which is Node itself. Linux alone tells them apart.
 */
const ROUNDS = 5;
const OPERATIONS = 5_000;
const folder = mkdtempSync(join(tmpdir(), 'conform-benchmark-'));
/** Each process of a run keeps a file there: its processor time in ms, and in KiB the memory of its own and of files. */
const usage = join(folder, 'usage');
const HOOK = `data:text/javascript,${encodeURIComponent(
  `import { readFileSync, writeFileSync } from 'node:fs';
const most = { RssAnon: 0, RssFile: 0 };
const tell = () => {
  const status = readFileSync('/proc/self/status', 'latin1');
  for (const name in most) most[name] = Math.max(most[name], Number(status.match(name + ':[^0-9]*([0-9]+)')[1]));
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const cpuMs = (userCPUTime + systemCPUTime) / 1000;
  writeFileSync(${JSON.stringify(`${usage}/`)} + process.pid, [cpuMs, ...Object.values(most)].join(' '));
};
setInterval(tell, 25).unref();
process.on('exit', tell);`,
)}`;

interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
  readonly mebibytes: number;
}

/** One that needs no time. */
const server = createServer((_, response) =>
  response.setHeader('content-type', 'application/json').end('{"results":[]}'),
);
const port = await listening(server);
const service = (name: string, more: string) =>
  `service: ${name}\ncontract: search\nprovider: { url: "http://127.0.0.1:${port}" }\ncredentials: { scheme: bearer, key: example-benchmark-key }\n${more}`;
const answer = {
  description: 'The item.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } },
};
const openapi = {
  openapi: '3.1.0',
  info: { title: 'Many', version: '1' },
  paths: Object.fromEntries(
    Array.from({ length: OPERATIONS }, (_, kind) => [
      `/v1/items-${kind}`,
      { get: { operationId: `items-${kind}`, responses: { 200: answer } } },
    ]),
  ),
  components: { schemas: { Item: { type: 'object', properties: { id: { type: 'string' } } } } },
};

try {
  build();
  const config = join(folder, 'config');
  mkdirSync(join(config, 'services'), { recursive: true });
  writeFileSync(join(config, 'services/one.yaml'), service('one', ''));
  writeFileSync(join(config, 'services/many.yaml'), service('many', 'openapi: ../openapi.json\n'));
  writeFileSync(join(config, 'openapi.json'), JSON.stringify(openapi));
  const at = ['--config', config];
  const commands: Readonly<Record<string, readonly string[]>> = {
    'node -e 0': ['-e', '0'],
    'conform --help': [BUILT, '--help'],
    'conform list': [BUILT, 'list'],
    'conform run, one check': [
      ...[BUILT, 'run', 'one', '--check', 'status.sample', ...at],
      ...['--reports', join(folder, 'reports')],
    ],
    [`conform list, of a service with ${OPERATIONS} operations`]: [BUILT, 'list', '--service', 'many', ...at],
  };
  const costs = new Map<string, Cost[]>(Object.keys(commands).map((name) => [name, []]));
  // The first round fills the caches.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, args] of Object.entries(commands)) {
      const cost = await costOf(args);
      if (round > 0) costs.get(name)?.push(cost);
    }
  }
  const least = medians(costs.get('node -e 0') ?? []);
  const widest = Math.max(...Object.keys(commands).map((name) => name.length));
  for (const [name, all] of costs) {
    const { ms, cpuMs, mebibytes } = medians(all);
    const cells = [
      `${(ms / 1000).toFixed(2)} s`.padStart(8),
      `${(ms / least.ms).toFixed(1)} nodes`.padStart(12),
      `${(cpuMs / 1000).toFixed(2)} s of processor`.padStart(22),
      `${(cpuMs / least.cpuMs).toFixed(1)} nodes`.padStart(12),
      `${mebibytes.toFixed(0)} MiB`.padStart(10),
    ];
    process.stdout.write(`${name.padEnd(widest)}${cells.join('')}\n`);
  }
} finally {
  server.close();
  rmSync(folder, { recursive: true, force: true });
}

async function costOf(args: readonly string[]): Promise<Cost> {
  rmSync(usage, { recursive: true, force: true });
  mkdirSync(usage);
  const beganMs = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: `--import=${HOOK}` },
  });
  let said = '';
  child.stderr.on('data', (octets: Buffer) => {
    said += octets;
  });
  const [code] = await once(child, 'close');
  const ms = performance.now() - beganMs;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${said}`);
  const processes = readdirSync(usage).map((pid) => figuresIn(readFileSync(join(usage, pid), 'utf8')));
  const sum = (figures: readonly number[]) => figures.reduce((total, each) => total + each, 0);
  return {
    ms,
    cpuMs: sum(processes.map(([cpuMs]) => cpuMs)),
    mebibytes:
      (sum(processes.map(([, own]) => own)) + Math.max(...processes.map(([, , shared]) => shared))) / 1024,
  };
}

function figuresIn(text: string): readonly [cpuMs: number, ownKiB: number, sharedKiB: number] {
  const [cpuMs = 0, own = 0, shared = 0] = text.split(' ').map(Number);
  return [cpuMs, own, shared];
}

function medians(costs: readonly Cost[]): Cost {
  return {
    ms: median(costs.map(({ ms }) => ms)),
    cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
    mebibytes: median(costs.map(({ mebibytes }) => mebibytes)),
  };
}
