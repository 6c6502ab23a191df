import { HarnessError } from '../../base/exit.ts';
import { datedRules, ruleSet, setOf } from '../../config/blocks/rules.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { CheckDefinition, Suite } from '../../engine/check/check.ts';
import { applicabilityOf } from '../../engine/check/judge.ts';
import { loadSuites, SUITES_URL, selectChecks } from '../../engine/selection/selection.ts';

export interface ListOptions {
  readonly json: boolean;
  readonly service?: string;
  readonly rules?: string;
  readonly environment?: string;
  readonly config: string;
}

/** `conform list`: every check, and how it applies to the named service. */
export async function list(options: ListOptions): Promise<number> {
  const service = options.service === undefined ? null : await loadOne(options.service, options);
  const suites = await loadSuites(SUITES_URL, service === null ? [] : [service]);
  const set = service === null && options.rules !== undefined ? ruleSet(datedRules(options.rules)) : null;
  const shown = service === null ? suites : selectChecks(suites, ALL, [service]).selected(service);
  const rows = shown.flatMap((suite) =>
    suite.checks.filter(({ id }) => set?.has(id) ?? true).map((check) => row(suite, check, service)),
  );
  process.stdout.write(options.json ? `${JSON.stringify(rows, null, 2)}\n` : `${table(rows)}\n`);
  return 0;
}

/** No option that leaves a check of the rule set out. */
const ALL = { suites: [], checks: [] };

interface ListedCheck {
  readonly id: string;
  readonly suite: string;
  readonly title: string;
  /** The smallest rule set that has it; null for a check of the user's own. */
  readonly rules: string | null;
  readonly grounds: readonly string[];
  /** MUST, SHOULD or NONE for the named service; null if none is named. */
  readonly level: string | null;
  /** Why it is not judged there; null if it is. */
  readonly notJudged: string | null;
}

async function loadOne(name: string, options: ListOptions): Promise<ServiceConfig> {
  const { loadServices } = await import('../../config/load.ts');
  const { services } = await loadServices({
    configDir: options.config,
    services: [name],
    rules: options.rules,
    environment: options.environment,
    env: process.env,
  });
  const [loaded] = services;
  if (loaded === undefined) throw new HarnessError(`no service ${name} was loaded`);
  return loaded.config;
}

function row(suite: Suite, check: CheckDefinition, service: ServiceConfig | null): ListedCheck {
  const applied = service && applicabilityOf(check, service);
  return {
    id: check.id,
    suite: suite.name,
    title: check.title,
    rules: setOf(check.partOf ?? check.id),
    grounds: check.grounds.map((ground) => (ground.kind === 'clause' ? ground.key : ground.ref)),
    level: applied?.level ?? null,
    notJudged: applied?.reasonNot ?? applied?.missing ?? null,
  };
}

function table(rows: readonly ListedCheck[]): string {
  const width = Math.max(0, ...rows.map(({ id }) => id.length));
  const suites = Map.groupBy(rows, ({ suite }) => suite);
  const blocks = [...suites].map(([suite, inside]) => {
    const lines = inside.map(({ id, level, notJudged, title, rules, grounds }) => {
      const weight = level === null ? '' : (notJudged === null ? level : 'not judged').padEnd(12);
      const why = notJudged === null ? `[${grounds.join('; ')}]` : `(${notJudged})`;
      return `  ${id.padEnd(width)}  ${(rules ?? '').padEnd(8)}${weight}${title}  ${why}`;
    });
    return [suite, ...lines].join('\n');
  });
  return [...blocks, `${rows.length} checks`].join('\n\n');
}
