import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Results } from '../../report/results/results.ts';
import { createProgress } from '../../report/terminal/progress.ts';
import { runConformance } from '../../run/run.ts';
import { HARNESS, terminalOf } from '../process.ts';

/**
 * `npm run benchmark`: what a verdict costs, for plans of N requests in a window W: requests as a ratio to N, time as
 * a ratio to W. The plans are run side by side, first the rate-limit suite alone, then all suites.
 */
const WINDOW_MS = 60_000;
const PLANS = [20, 100, 1000] as const;

const folder = await mkdtemp(join(tmpdir(), 'conform-benchmark-'));
try {
  await mkdir(join(folder, 'services'));
  for (const requests of PLANS) {
    const lines = [
      `service: plan-${requests}`,
      'contract: search',
      'provider: { reference: search }',
      'credentials: { scheme: bearer, key: example-benchmark-key, secondKey: example-benchmark-second-key }',
      `plan: { requests: ${requests}, window: ${WINDOW_MS / 1000}s }`,
      'safety: { exceedRateLimit: true, maxRequests: 5000 }',
    ];
    await writeFile(join(folder, `services/plan-${requests}.yaml`), `${lines.join('\n')}\n`);
  }
  report('the rate-limit suite', await measured(['limits']));
  report('all suites', await measured([]));
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measured(suites: readonly string[]): Promise<Results> {
  const { isTTY, color } = terminalOf(process.stderr);
  const { results } = await runConformance({
    configDir: folder,
    services: [],
    environment: null,
    providerUrl: null,
    suites,
    checks: [],
    strict: false,
    bail: false,
    realTime: true,
    concurrency: PLANS.length,
    reportsDir: join(folder, 'reports'),
    env: {},
    progress: createProgress({ stream: process.stderr, isTTY, color, quiet: !isTTY }),
    harness: HARNESS,
  });
  return results;
}

function report(what: string, { services, run }: Results): void {
  const rows = PLANS.map((requests) => {
    const service = services.find((each) => each.service === `plan-${requests}`);
    if (service === undefined || run.interrupted) throw new Error(`the run of plan-${requests} did not end`);
    const perRequest = (service.requestsSent / requests).toFixed(2);
    const perWindow = (service.durationMs / WINDOW_MS).toFixed(2);
    const { passed, others } = outcomesOf(service);
    const cells = [
      `N = ${requests}`.padEnd(9),
      `${service.requestsSent} requests`.padStart(14),
      `${perRequest} N`.padStart(8),
      `${perWindow} W`.padStart(8),
      `  ${passed} passed${others}`,
    ];
    return `  ${cells.join('')}`;
  });
  process.stdout.write(`${what}, W = ${WINDOW_MS / 1000} s\n${rows.join('\n')}\n`);
}

/** A measurement of something that failed measures nothing: told beside the numbers. */
function outcomesOf({ checks }: Results['services'][number]): { passed: number; others: string } {
  const of = (outcome: string) => checks.filter((check) => check.outcome === outcome).length;
  const others = ['fail', 'warning', 'blocked', 'error'].filter((outcome) => of(outcome) > 0);
  return { passed: of('pass'), others: others.map((outcome) => `, ${of(outcome)} ${outcome}`).join('') };
}
