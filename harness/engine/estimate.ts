import { documentedSample } from '../base/clause.ts';
import { addressOf, isBuiltIn } from '../config/provider/provider.ts';
import type { ServiceConfig } from '../config/service.ts';
import { exercisedOf } from '../report/results/run-verdict.ts';
import { counted } from '../report/results/tally.ts';
import type { Estimate } from '../report/terminal/estimate.ts';
import { keptRate } from '../wire/pace/weighing.ts';
import { type Suite, suitesFor } from './check/check.ts';
import { applicabilityOf } from './check/judge.ts';
import { planOf, type SessionPlan } from './check/plan.ts';
import {
  closureOf,
  costOf,
  neededBy,
  neededIn,
  type Probe,
  type Risk,
  usualCostOf,
} from './session/probe.ts';

/** Milliseconds assumed for a response. */
const ANSWER_MS = 20;

interface SelectedSuites {
  readonly suites: readonly Suite[];
  /** Number of checks of a whole run. */
  readonly catalogue: number;
}

interface ProbeCost {
  /** Name of the first suite that asks for it. */
  readonly suite: string;
  readonly probe: Probe<unknown>;
  readonly requests: number;
  /** If no response is a reason for more. */
  readonly usual: number;
}

/** The load of a run on the service at most: sums over the plan. Nothing is sent. */
export function estimate(config: ServiceConfig, { suites, catalogue }: SelectedSuites): Estimate {
  const { service, provider, pacts } = config;
  const chosen = suitesFor(suites, config);
  const selected = new Set(chosen.flatMap(({ checks }) => checks.map(({ id }) => id)));
  const costs = costsOf(planOf(chosen, config, selected), config);
  let left = config.safety.maxRequests;
  const bySuite = chosen.map(({ name, checks }) => {
    const requests = Math.min(requestsIn(costs.filter(({ suite }) => suite === name)), left);
    left -= requests;
    const applying = checks.filter((check) => applicabilityOf(check, config).reasonNot === null).length;
    return { name, checks: checks.length, applying, requests };
  });
  const requests = config.safety.maxRequests - left;
  const usual = Math.min(requests, usualIn(costs));
  const answersMs = requests * ANSWER_MS;
  const durationMs = Math.max(usual * ANSWER_MS, waitsMs(costs.filter(isCounted), config));
  const untoldMs = isBuiltIn(provider) ? 0 : answersMs + waitsMs(costs, config);
  const coverage = costs.flatMap(({ probe }) => probe.covers?.(config) ?? []);
  return {
    service,
    at: `to ${addressOf(provider) ?? `a ${provider.kind} that is started for it`}`,
    requests,
    usual,
    durationMs,
    longestMs: Math.max(durationMs, untoldMs),
    suites: bySuite,
    catalogue,
    exercised: exercisedOf(coverage, 'would be'),
    risks: risksIn(costs, config),
    gaps: pacts === undefined ? [] : pacts.unread,
  };
}

/** Each probe that may be asked for, once. */
function costsOf({ before, from, last }: SessionPlan, config: ServiceConfig): readonly ProbeCost[] {
  const steps = [...before, ...from, ...last];
  const seen = new Set<Probe<unknown>>();
  const judged = steps.filter(({ kind, probes }) => kind === 'judge' && probes.length > 0);
  const used = neededBy(
    judged.flatMap(({ check }) => neededIn(check.uses, config)),
    config,
  );
  const hasSample = documentedSample(config.contract) !== null;
  const isUsual = (probe: Probe<unknown>) =>
    used.has(probe) && (hasSample || ![...neededBy([probe], config)].some(({ wantsSample }) => wantsSample));
  return steps.flatMap(({ suite, probes }) => {
    const fresh = [...closureOf(probes, config)].filter((probe) => !seen.has(probe));
    for (const probe of fresh) seen.add(probe);
    return fresh.map((probe) => {
      const requests = costOf(probe, config);
      const usual = isUsual(probe) ? Math.min(requests, usualCostOf(probe, config)) : 0;
      return { suite: suite.name, probe, requests, usual };
    });
  });
}

function usualIn(costs: readonly ProbeCost[]): number {
  return costs.reduce((sum, { usual }) => sum + usual, 0);
}

function requestsIn(costs: readonly ProbeCost[]): number {
  return costs.reduce((sum, { requests }) => sum + requests, 0);
}

/** Whether it usually counts against the quota of the key. */
function isCounted({ probe: { credential, risks } }: ProbeCost): boolean {
  return credential === 'right' && !risks.includes('connection');
}

/** Milliseconds to send these at the permitted rate and to meet the limit. */
function waitsMs(costs: readonly ProbeCost[], { plan }: ServiceConfig): number {
  const rate = keptRate(plan);
  const isBurst = ({ probe, requests }: ProbeCost) => probe.risks.includes('burst') && requests > 0;
  const ordinary = usualIn(costs.filter((each) => !isBurst(each)));
  const windows = Math.floor(Math.max(0, ordinary - 1) / rate.requests) + (costs.some(isBurst) ? 1 : 0);
  return windows * rate.windowMs;
}

/** A line for each risk. */
function risksIn(costs: readonly ProbeCost[], { safety }: ServiceConfig): readonly string[] {
  const sentWith = (isMeant: (probe: Probe<unknown>) => boolean) =>
    costs.filter(({ probe, requests }) => requests > 0 && isMeant(probe));
  const withRisk = (risk: Risk) => sentWith(({ risks }) => risks.includes(risk));
  const line = (those: readonly ProbeCost[], words: (n: string) => string) =>
    those.length === 0 ? [] : [words(counted(requestsIn(those), 'request'))];
  const connections = withRisk('connection');
  const broken = connections.filter(({ probe }) => probe.place === 'late');
  const together = Math.min(safety.maxConnections, Math.max(...connections.map(({ requests }) => requests)));
  const spoilt = broken.length === 0 ? '' : `, ${requestsIn(broken)} of them broken on purpose`;
  const bursts = withRisk('burst');
  return [
    ...line(withRisk('change'), (n) => `${n} that may change something`),
    ...line(
      sentWith(({ credential }) => credential === 'wrong'),
      (n) => `${n} with a wrong credential, which may lock an account`,
    ),
    ...line(withRisk('long-head'), (n) => `${n} with a head of more than 8 KiB`),
    ...(bursts.length === 0
      ? []
      : [
          `${counted(bursts.length, 'burst')} past the plan until the service refuses, many at the same time`,
        ]),
    ...(connections.length === 0
      ? []
      : [
          `${counted(requestsIn(connections), 'WebSocket connection')}, up to ${together} at the same time${spoilt}`,
        ]),
  ];
}
