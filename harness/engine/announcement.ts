import type { ServiceConfig } from '../config/service.ts';
import type { PlannedCheck } from '../report/results/check-result.ts';
import type { JournalEvent } from '../report/results/fold/events.ts';
import type { ListedPact } from '../report/results/results.ts';
import type { Suite } from './check/check.ts';
import { applicabilityOf } from './check/judge.ts';
import { notLookedAt } from './not-looked-at.ts';
import type { Selection } from './selection/selection.ts';
import { INTERACTION } from './session/pact/verification.ts';

type Announcement = Omit<Extract<JournalEvent, { type: 'service-started' }>, 'type' | 'provider'>;

/** The judging of a service before it begins. `redact` removes secrets from paths. */
export function announcementOf(
  config: ServiceConfig,
  selection: Selection,
  redact: (text: string) => string,
): Announcement {
  const planned = plan(config, selection.selected(config));
  const pacts = listedPacts(config, new Set(planned.map(({ id }) => id)));
  const cautions = cautionsOf(config);
  const unseen = notLookedAt(config, selection.selected(config));
  const documentRemarks = (config.documentRemarks ?? []).map(({ place, text }) => ({
    place: redact(place),
    text: redact(text),
  }));
  const operations = [...new Set(config.operations.map(({ template }) => redact(template)))];
  return {
    service: config.service,
    contract: config.contract.name,
    environment: config.environment,
    plan: config.plan && { requests: config.plan.requests, windowSeconds: config.plan.windowMs / 1000 },
    planned,
    catalogue: selection.catalogue(config),
    rules: config.rules,
    outside: selection.outside(config),
    ...(unseen.length > 0 ? { notLookedAt: unseen } : {}),
    ...(documentRemarks.length > 0 ? { documentRemarks } : {}),
    ...(config.coverage && { coverageFloor: config.coverage }),
    ...(cautions.length > 0 ? { cautions } : {}),
    ...(pacts.length > 0 ? { pacts } : {}),
    ...(operations.length > 0 ? { operations } : {}),
  };
}

/** Reasons in the config that weaken every verdict on a service. */
function cautionsOf({ tls }: ServiceConfig): readonly string[] {
  return tls?.insecure ? ['certificates were not verified (tls.insecure), so anybody may have answered'] : [];
}

/** The pacts to verify, with their checks. */
function listedPacts({ pacts }: ServiceConfig, planned: ReadonlySet<string>): readonly ListedPact[] {
  const found = (pacts?.interactions ?? []).flatMap(({ id, consumer, origins }) => {
    const check = `${INTERACTION}.${id}`;
    return planned.has(check)
      ? origins.map(({ source, brokerId }) => ({ source, consumer, check, brokerId }))
      : [];
  });
  return [...Map.groupBy(found, ({ source }) => source)].map(([source, inside]) => ({
    consumer: inside[0]?.consumer ?? '',
    source,
    interactions: inside.map(({ check, brokerId }) => ({ check, brokerId })),
  }));
}

function plan(config: ServiceConfig, suites: readonly Suite[]): readonly PlannedCheck[] {
  return suites.flatMap((suite) =>
    suite.checks.map((check) => {
      const { id, title, why, change, records } = check;
      const { level, grounds } = applicabilityOf(check, config);
      const remedy = change === undefined ? {} : { change };
      const key = records === null ? {} : { records };
      return { id, suite: suite.name, title, why, ...remedy, ...key, level, grounds };
    }),
  );
}
