import type { Ground, ResolvedGround } from '../../base/authority.ts';
import { findClause } from '../../base/clause.ts';
import { UsageError } from '../../base/exit.ts';
import { filledIn } from '../../base/finding.ts';
import { loadServices } from '../../config/load.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { didYouMean } from '../../config/yaml/nearest.ts';
import { type CheckDefinition, type Suite, suitesFor } from '../../engine/check/check.ts';
import { applicabilityOf } from '../../engine/check/judge.ts';
import { loadSuites, SUITES_URL } from '../../engine/selection/selection.ts';
import { type Configs, type ProofCase, proofCases, proofConfigs } from '../../proof/cases.ts';
import { settingNamed } from '../../proof/settings.ts';
import { listDefects, listVariants } from '../../reference/catalogue.ts';
import { groundInWords, valueInWords } from '../../report/results/words/words.ts';
import { complain } from '../process.ts';

/** `conform explain`: why a check exists, how it applies to each configured service, and its proof. */
export async function explain(id: string, options: { readonly config: string }): Promise<number> {
  const configs = await configured(options.config);
  const suites = await loadSuites(SUITES_URL, configs);
  const shipped = await loadSuites(SUITES_URL);
  const { suite, check } = find([...shipped, ...configs.flatMap((config) => suitesFor(suites, config))], id);
  const lines = [
    `${check.id} (${suite.name})`,
    `The service ${check.title}.`,
    ...notes(check),
    '',
    'Grounds',
    ...(configs.length > 0
      ? configs.flatMap((config) => inService(check, config))
      : check.grounds.map((ground) => `  ${unweighed(ground)}`)),
    '',
    'Proven by',
    ...(await proof(check)),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

/** The texts of a finding, without values. */
function notes({ headline, why, change }: CheckDefinition): readonly string[] {
  return [
    ...(headline === undefined ? [] : ['', 'When it fails', `  ${filledIn(headline)}.`]),
    '',
    'Why it matters',
    `  ${why}`,
    ...(change === undefined ? [] : ['', 'What to change', `  ${change}`]),
  ];
}

/** A check can be explained without a service: a config that does not load only gives a message. */
async function configured(configDir: string): Promise<readonly ServiceConfig[]> {
  try {
    const { services } = await loadServices({ configDir, services: [], env: process.env });
    return services.map(({ config }) => config);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    complain(`cannot show how it applies to your services: ${error.message}`);
    return [];
  }
}

const WEIGHT = {
  MUST: 'a violation fails',
  SHOULD: 'a violation warns (fails with --strict)',
  NONE: 'observed, never a failure',
} as const;

function inService(check: CheckDefinition, config: ServiceConfig): readonly string[] {
  const { level, grounds, reasonNot, missing } = applicabilityOf(check, config);
  const verdict = reasonNot ?? missing;
  return [
    `  ${config.service}: ${verdict === null ? WEIGHT[level] : `not judged, ${verdict}`}`,
    ...grounds.map((ground) => `    ${groundInWords(ground)}${said(ground, config)}`),
  ];
}

/** The value of the clause; a fact of the config has priority. */
function said({ kind, ref }: ResolvedGround, { contract, facts }: ServiceConfig): string {
  if (kind !== 'clause') return '';
  const value = facts[ref]?.value ?? findClause(contract, ref)?.value ?? null;
  return value === null ? '' : ` = ${valueInWords(value, 200)}`;
}

function unweighed(ground: Ground): string {
  if (ground.kind === 'clause') return `clause ${ground.key}, where the contract states it`;
  if (ground.kind === 'clients') return `clients rely on it: ${ground.ref}`;
  if (ground.kind === 'own') return `a rule of your own: ${ground.ref}`;
  return ground.kind === 'standard' ? `${ground.ref} (${ground.word})` : `good practice: ${ground.ref}`;
}

/** The defects that prove it, the effect of each, and the commands that show the failure. */
async function proof(check: CheckDefinition): Promise<readonly string[]> {
  if (check.own !== undefined) return ownProof(check.own, check.observes);
  const configs = await proofConfigs();
  const { id, observes, partOf = id } = check;
  const silent = '  It only records an observation, so no defect has to prove it.';
  const claiming = proofCases().filter(({ fails, changes }) => (observes ? changes : fails).includes(partOf));
  // On the first service that can have it.
  const shown = claiming.filter((each, at) => claiming.findIndex(({ name }) => name === each.name) === at);
  if (shown.length === 0) return [silent];
  return [
    ...(observes ? [silent, '  It records another value for:'] : []),
    ...shown.flatMap(deviation),
    '',
    `To see it${observes ? '' : ' fail'}, with the address that \`conform serve\` prints`,
    ...new Set(shown.flatMap((each) => howToSee(check, each, configs))),
  ];
}

function ownProof(
  { file, defects }: NonNullable<CheckDefinition['own']>,
  isUnproven: boolean,
): readonly string[] {
  const named = defects.length > 0 ? defects.map((each) => `  ${each}, in ${file}`) : ['  nothing'];
  return isUnproven ? [...named, '  It is only observed until `conform prove` has seen it fail.'] : named;
}

function deviation({ kind, name, service }: ProofCase): readonly string[] {
  const isNamed = (each: { readonly name: string }) => each.name === name;
  const effect =
    kind === 'defect'
      ? filledIn(listDefects().find(isNamed)?.cause ?? '')
      : listVariants().find(isNamed)?.summary;
  return [`  ${name}: ${effect}`, `    conform serve ${service} --${kind} ${name}`];
}

function howToSee(
  check: CheckDefinition,
  { service, setting }: ProofCase,
  configs: Configs,
): readonly string[] {
  const { id } = check;
  const otherwise = [
    settingNamed(setting).words,
    id.startsWith('operations.') ? 'openapi: ../openapi/search.yaml' : null,
    ...permissions(check, configs.shipped.get(service)),
  ].filter((each) => each !== null);
  return [
    `  conform run ${service} --url http://127.0.0.1:PORT --check ${id}`,
    ...otherwise.map((each) => `    config/services/${service}.yaml needs ${each}`),
  ];
}

/** Permissions that the config of a remote service needs: the reference provider has them all. */
function permissions({ applies }: CheckDefinition, config: ServiceConfig | undefined): readonly string[] {
  if (config === undefined) return [];
  const safety = { ...config.safety, exceedRateLimit: false, unsafeMethods: false, findSizeLimits: false };
  const reasons = applies.flatMap((reasonAgainst) => reasonAgainst({ ...config, safety }) ?? []);
  return reasons.flatMap((reason) => /"(safety: \{[^"]+\})"/.exec(reason)?.[1] ?? []);
}

function find(suites: readonly Suite[], id: string): { suite: Suite; check: CheckDefinition } {
  const all = suites.flatMap((suite) => suite.checks.map((check) => ({ suite, check })));
  const found = all.find(({ check }) => check.id === id);
  if (found) return found;
  throw new UsageError(`no check is called ${JSON.stringify(id)}`, {
    remedy: didYouMean(id, [...new Set(all.map(({ check }) => check.id as string))]),
  });
}
