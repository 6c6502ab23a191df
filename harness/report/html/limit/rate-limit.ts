import { grouped, shortened } from '../../../base/text.ts';
import type { Evidence } from '../../../wire/evidence.ts';
import { inferLimit } from '../../../wire/limit/infer.ts';
import type { LimitObservation } from '../../../wire/limit/observed/observation.ts';
import { faceOf } from '../../../wire/limit/observed/observation.ts';
import { observationsOf } from '../../../wire/limit/observed/observing.ts';
import { countingOnly } from '../../../wire/limit/others.ts';
import { problemOf } from '../../results/causes.ts';
import type { CheckResult } from '../../results/check-result.ts';
import { readableEvidence } from '../../results/evidence/evidence-view.ts';
import type { Results, ServiceResult } from '../../results/results.ts';
import { plainLine } from '../../results/words/plain.ts';
import { duration, wallTime } from '../../results/words/words.ts';
import { slowestOf } from '../fleet/fleet.ts';
import { html, type Markup } from '../markup/markup.ts';
import { isFleet } from '../markup/row.ts';
import { axis, drawRate, type Load, legend, type TimeStretch } from './rate-picture.ts';

/** Checks of this suite say what is wrong with a limit. */
const SUITE = 'limits';
const LONGEST_PROBLEM = 90;

/** Each service's requests against its limit, all on one axis of time; of a fleet those that there is something to tell of. */
export function rateLimits(results: Results): Markup | null {
  const loads = chosen(results).flatMap((service) => loadOf(service) ?? []);
  if (!loads.some(({ met }) => met)) return null;
  const fromMs = Math.min(...loads.map(({ load }) => load.spanned.fromMs));
  const toMs = Math.max(...loads.map(({ load }) => load.spanned.toMs));
  const scale = { fromMs, toMs };
  const waitedMs = Math.max(
    ...loads.map(({ load }) => load.waits.reduce((sum, each) => sum + each.toMs - each.fromMs, 0)),
  );
  return html`<section id="rate" aria-labelledby="rate-title"><div class="heading"><h2 id="rate-title">Rate limit over time</h2><p class="hint">${duration(wallTime(results.run))}${waitedMs > 1_000 && `, of which ${duration(waitedMs)} were waits`}</p></div>
${loads.map(
  ({ service, load, words, problem }) =>
    html`<div class="rate"><div class="text"><b>${service.service}</b>${words.map((each) => html`<span>${each}</span>`)}${problem !== null && html`<span class="problem">${problem}</span>`}</div>
${drawRate(service.service, load, scale, [...words, problem ?? ''].join('. '))}</div>`,
)}
<div class="rate foot"><span></span>${axis(scale)}</div>${legend()}</section>`;
}

function chosen({ services }: Results): readonly ServiceResult[] {
  if (!isFleet(services)) return services;
  const slow = slowestOf(services);
  return services.filter((service) => slow.includes(service) || problemsOf(service).length > 0);
}

function problemsOf({ checks }: ServiceResult): readonly CheckResult[] {
  const rank = ['fail', 'warning'];
  return checks
    .filter(({ suite, outcome }) => suite === SUITE && rank.includes(outcome))
    .sort((a, b) => rank.indexOf(a.outcome) - rank.indexOf(b.outcome));
}

interface DrawnLoad {
  readonly service: ServiceResult;
  readonly load: Load;
  /** What the picture shows, for whoever does not see it. */
  readonly words: readonly string[];
  readonly problem: string | null;
  /** Whether a limit was met, or is stated: otherwise there is no picture worth a page. */
  readonly met: boolean;
}

/** What there is to draw of one service; null when nothing was sent. */
export function loadOf(service: ServiceResult): DrawnLoad | null {
  // What cannot be read back has no place in the picture; the transcripts say so.
  const evidence = readableEvidence(service).map(([, each]) => each);
  const [begun] = evidence;
  if (begun === undefined) return null;
  // Every time of a session is on its own clock; waits and other services are on that of the world.
  const offsetMs = Date.parse(begun.timing.startedAt) - begun.timing.startedMs;
  const { plan } = service;
  const seen = plan === null ? [] : observed(evidence, plan, offsetMs);
  const moments = (
    plan === null ? evidence.flatMap(momentsOf) : seen.map((each) => momentOf(each, plan.requests))
  )
    .map((each) => ({ ...each, atMs: each.atMs + offsetMs }))
    .toSorted((a, b) => a.atMs - b.atMs);
  const [first] = moments;
  const last = moments.at(-1);
  if (first === undefined || last === undefined) return null;
  const admitted = moments.filter(({ fate }) => fate === 'admitted');
  const refused = moments.filter(({ fate }) => fate === 'refused').map(({ atMs }) => atMs);
  const [worst] = problemsOf(service);
  const guilty = worst?.decisive == null ? undefined : evidence.find(({ id }) => id === worst.decisive);
  const problem = worst === undefined ? null : shortened(plainLine(problemOf(worst)), LONGEST_PROBLEM);
  const waits = (service.waits ?? []).map(({ fromMs, untilMs }) => ({ fromMs, toMs: untilMs }));
  const windows = plan === null ? [] : windowsOf(plan, seen, offsetMs, admitted);
  const load: Load = {
    spanned: { fromMs: first.atMs, toMs: Math.max(last.atMs, first.atMs + 1) },
    admitted,
    refused,
    plan: plan?.requests ?? null,
    windows,
    waits: waits.filter(({ toMs }) => toMs > first.atMs),
    wrongAtMs: guilty === undefined ? null : guilty.timing.startedMs + offsetMs,
    problem,
  };
  const words = [
    plan === null
      ? 'no rate is stated'
      : `${grouped(plan.requests)} in ${plan.windowSeconds} s${problem === null && refused.length > 0 ? ': holds' : ''}`,
    refused.length > 0 ? `${grouped(refused.length)} refused` : `none refused in ${grouped(moments.length)}`,
  ];
  return { service, load, words, problem, met: plan !== null || refused.length > 0 };
}

type RatePlan = NonNullable<ServiceResult['plan']>;

/** Windows that explain what was admitted and refused; else of the length of the plan, each begun by a request. */
function windowsOf(
  { requests, windowSeconds }: RatePlan,
  seen: readonly LimitObservation[],
  ownOffsetMs: number,
  admitted: readonly Moment[],
): readonly TimeStretch[] {
  const windowMs = windowSeconds * 1_000;
  const { windows: found } = inferLimit(countingOnly(seen, windowMs), { requests, windowMs }, ownOffsetMs);
  const inferred = found.map(({ fromMs, toMs }) => ({
    fromMs: fromMs + ownOffsetMs,
    toMs: toMs + ownOffsetMs,
  }));
  const windows: TimeStretch[] = [];
  for (const { atMs } of admitted) {
    const open = windows.at(-1);
    if (open !== undefined && atMs < open.toMs) continue;
    const known = inferred.find(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
    windows.push(known ?? { fromMs: atMs, toMs: atMs + windowMs });
  }
  return windows;
}

function observed(
  evidence: readonly Evidence[],
  { requests, windowSeconds }: RatePlan,
  ownOffsetMs: number,
): readonly LimitObservation[] {
  const ids = evidence.flatMap((one) => (one.kind === 'burst' && one.refusal !== null ? [one.refusal] : []));
  const met = evidence.find((one) => one.kind === 'exchange' && ids.includes(one.id));
  const refusal = met?.kind === 'exchange' ? faceOf(met) : null;
  return observationsOf(evidence, { requests, windowMs: windowSeconds * 1_000, ownOffsetMs, refusal });
}

/** What may not have been counted takes none, unless the quota fields of its answer tell how much is used. */
function momentOf({ sentMs, fate, counted, quota }: LimitObservation, limit: number): Moment {
  if (fate !== 'admitted') return { atMs: sentMs, fate: fate === 'refused' ? 'refused' : 'other', takes: 0 };
  const isTold =
    quota !== null && quota.limit === limit && quota.remaining !== null && quota.remaining <= limit;
  const used = isTold ? limit - (quota.remaining ?? 0) : 0;
  return { atMs: sentMs, fate, takes: counted === 'surely' ? 1 : 0, used };
}

/** Times are ms on the session's clock. */
interface Moment {
  readonly atMs: number;
  readonly fate: 'admitted' | 'refused' | 'other';
  /** How many of the quota it takes. */
  readonly takes: number;
  /** How many the service says are used with it; absent where it says nothing. */
  readonly used?: number;
}

function momentsOf(evidence: Evidence): readonly Moment[] {
  // What other credentials, or none, are let through does not count against this quota.
  if (evidence.credential !== 'right') return [];
  switch (evidence.kind) {
    case 'burst':
      return evidence.entries.map(({ sentMs, status }) => momentWith(sentMs, status));
    case 'exchange':
      if (evidence.failure?.kind === 'not-sent') return [];
      return [momentWith(evidence.timing.startedMs, evidence.response?.status ?? null)];
    case 'conversation':
      return [momentWith(evidence.timing.startedMs, evidence.handshake.response?.status ?? null)];
  }
}

function momentWith(atMs: number, status: number | null): Moment {
  if (status === null) return { atMs, fate: 'other', takes: 0 };
  return status === 429 ? { atMs, fate: 'refused', takes: 0 } : { atMs, fate: 'admitted', takes: 1 };
}
