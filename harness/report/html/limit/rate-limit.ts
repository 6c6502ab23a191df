import { grouped, shortened } from '../../../base/text.ts';
import type { Evidence } from '../../../wire/evidence.ts';
import { inferLimit } from '../../../wire/limit/infer.ts';
import { faceOf, type LimitObservation } from '../../../wire/limit/observed/observation.ts';
import { observationsOf } from '../../../wire/limit/observed/observing.ts';
import { countingOnly } from '../../../wire/limit/pacing.ts';
import { problemOf } from '../../results/causes.ts';
import type { CheckResult } from '../../results/check-result.ts';
import { readableEvidence } from '../../results/evidence/evidence-view.ts';
import type { Results, ServiceResult } from '../../results/results.ts';
import { plainLine } from '../../results/words/plain.ts';
import { duration } from '../../results/words/words.ts';
import { slowestOf } from '../fleet/fleet.ts';
import { html, type Markup } from '../markup/markup.ts';
import { isFleet } from '../markup/row.ts';

/** Checks of this suite find the faults of a limit. */
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
  return html`<section id="rate" aria-labelledby="rate-title"><div class="heading"><h2 id="rate-title">Rate limit over time</h2><p class="hint">${duration(toMs - fromMs)}${waitedMs > 1_000 && `, of which ${duration(waitedMs)} were waits`}</p></div>
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
  /** The picture in words, for readers who do not see it. */
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
  const own = plan ? seen.map((each) => momentOf(each, plan.requests)) : evidence.flatMap(momentsOf);
  const moments = own
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

/** Windows that explain which requests were admitted and refused; else of the length of the plan, each begun by a request. */
function windowsOf(
  { requests, windowSeconds }: RatePlan,
  seen: readonly LimitObservation[],
  ownOffsetMs: number,
  admitted: readonly Moment[],
): readonly TimeStretch[] {
  const windowMs = windowSeconds * 1_000;
  const { windows: found } = inferLimit(countingOnly(seen, windowMs), { requests, windowMs }, ownOffsetMs);
  const inferred = found.map(({ fromMs, toMs }) => {
    return { fromMs: fromMs + ownOffsetMs, toMs: toMs + ownOffsetMs };
  });
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
  const isReported =
    quota !== null && quota.limit === limit && quota.remaining !== null && quota.remaining <= limit;
  const used = isReported ? limit - (quota.remaining ?? 0) : 0;
  return { atMs: sentMs, fate, takes: counted === 'surely' ? 1 : 0, used };
}

/** Times are ms on the session's clock. */
interface Moment {
  readonly atMs: number;
  readonly fate: 'admitted' | 'refused' | 'other';
  readonly takes: number;
  /** How many the service says are used with it; absent where it says nothing. */
  readonly used?: number;
}

function momentsOf(evidence: Evidence): readonly Moment[] {
  // What other credentials, or none, are let through does not count against this quota.
  if (evidence.credential !== 'right') return [];
  if (evidence.kind === 'burst')
    return evidence.entries.map(({ sentMs, status }) => momentWith(sentMs, status));
  if (evidence.kind === 'exchange' && evidence.failure?.kind === 'not-sent') return [];
  const { response } = evidence.kind === 'exchange' ? evidence : evidence.handshake;
  return [momentWith(evidence.timing.startedMs, response?.status ?? null)];
}

function momentWith(atMs: number, status: number | null): Moment {
  if (status === null) return { atMs, fate: 'other', takes: 0 };
  return status === 429 ? { atMs, fate: 'refused', takes: 0 } : { atMs, fate: 'admitted', takes: 1 };
}

/** Times are Unix time in ms. */
export interface TimeStretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a service was sent, and what it let through. */
export interface Load {
  readonly spanned: TimeStretch;
  readonly admitted: readonly { readonly atMs: number; readonly takes: number; readonly used?: number }[];
  readonly refused: readonly number[];
  /** Requests that a window admits by the plan; null where none is stated. */
  readonly plan: number | null;
  /** Windows that are counted in, one after the other; none where there is no plan. */
  readonly windows: readonly TimeStretch[];
  readonly waits: readonly TimeStretch[];
  /** When that happened which is wrong; null when nothing is. */
  readonly wrongAtMs: number | null;
  readonly problem: string | null;
}

/** Of a path, which is stretched to the width that there is; all else stands at a share of that width. */
const WIDTH = 1_000;
const HEIGHT = 72;
const TOP = 18;
const BASE = 62;
const BAND = 5;

type Across = (atMs: number) => number;

function across({ fromMs, toMs }: TimeStretch): Across {
  return (atMs) => Math.round(((atMs - fromMs) / Math.max(1, toMs - fromMs)) * 10_000) / 100;
}

/** One row: requests admitted in the present window, the plan, refusals, waits, and the fault. */
export function drawRate(service: string, load: Load, scale: TimeStretch, words: string): Markup {
  const x = across(scale);
  const most = curvesOf(load)
    .flatMap(({ points }) => points)
    .reduce((so, { n }) => Math.max(so, n), Math.max(1, load.plan ?? 0));
  const y = (n: number) => Math.round((BASE - (n / most) * (BASE - TOP)) * 10) / 10;
  const line = pathOf(load, x, y);
  const id = `rate-${service.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  return html`<svg class="picture" role="img" aria-label="${service}: ${words}">
<defs><pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>
<line class="base" x1="0" x2="100%" y1="${BASE}" y2="${BASE}"/>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="100%" height="${HEIGHT}" preserveAspectRatio="none">${line !== '' && html`<path class="area" d="${line}"/><path class="load" d="${line}"/>`}</svg>
${load.plan !== null && html`<line class="plan" x1="0" x2="100%" y1="${y(load.plan)}" y2="${y(load.plan)}"/><text class="most" x="100%" y="${y(load.plan) - 5}" text-anchor="end">${grouped(load.plan)}</text>`}
${load.waits.map(({ fromMs, toMs }) => html`<rect fill="url(#${id})" x="${x(fromMs)}%" y="${BASE}" width="${Math.max(0.1, x(toMs) - x(fromMs)).toFixed(2)}%" height="${BAND}"/>`)}
${apart(load.refused.map(x)).map((at) => html`<line class="refused" x1="${at}%" x2="${at}%" y1="3" y2="12"/>`)}
${load.wrongAtMs !== null && wrong(load.problem ?? '', x(load.wrongAtMs))}</svg>`;
}

function wrong(problem: string, at: number): Markup {
  const isLate = at > 50;
  return html`<line class="wrong" x1="${at}%" x2="${at}%" y1="10" y2="${BASE}"/><text class="wrong" x="${at}%" dx="${isLate ? -6 : 6}" y="${BASE - 20}" text-anchor="${isLate ? 'end' : 'start'}">${problem}</text>`;
}

/** How many were used with each admitted request, window by window. */
function curvesOf({ admitted, windows, spanned }: Load): readonly {
  readonly toMs: number;
  readonly points: readonly { readonly atMs: number; readonly n: number }[];
}[] {
  const stretches = windows.length > 0 ? windows : [{ fromMs: spanned.fromMs, toMs: spanned.toMs + 1 }];
  return stretches.map(({ fromMs, toMs }) => {
    let n = 0;
    const points = admitted
      .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
      .map(({ atMs, takes, used = 0 }) => {
        n = Math.max(n + takes, used);
        return { atMs, n };
      });
    return { toMs, points };
  });
}

/** Rises with each request that is let through, and falls to nothing where a window ends. */
function pathOf(load: Load, x: Across, y: (n: number) => number): string {
  return curvesOf(load)
    .map(({ toMs, points: used }) => {
      const points = used.map(({ atMs, n }) => [round(x(atMs) * 10), y(n)] as const);
      // Of the many requests of a burst those that can be distinguished.
      const shown = points.filter(([at], index) => points[index + 1]?.[0] !== at);
      const end = round(x(Math.min(toMs, load.spanned.toMs)) * 10);
      const [first] = points;
      if (first === undefined) return '';
      return `M${first[0]} ${BASE}${shown.map(([at, height]) => `L${at} ${height}`).join('')}H${end}V${BASE}`;
    })
    .join('');
}

function apart(places: readonly number[]): readonly number[] {
  return [...new Set(places.map((at) => Math.round(at * 2.5) / 2.5))];
}

function round(n: number): number {
  return Math.round(n * 10) / 10;
}

const STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600];

/** Seconds from the first request of all. */
export function axis(scale: TimeStretch): Markup {
  const seconds = (scale.toMs - scale.fromMs) / 1_000;
  const step = STEPS_S.find((candidate) => seconds / candidate <= 8) ?? Math.ceil(seconds / 8);
  const ticks = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step);
  const x = across(scale);
  return html`<svg class="axis" aria-hidden="true">${ticks.map((at) => {
    const place = x(scale.fromMs + at * 1_000);
    const anchor = place < 2 ? 'start' : place > 98 ? 'end' : 'middle';
    return html`<text x="${place}%" y="11" text-anchor="${anchor}">${Number(at.toFixed(1))}${at === 0 && ' s'}</text>`;
  })}</svg>`;
}

export function legend(): Markup {
  return html`<p class="legend" aria-hidden="true"><span><svg class="key" viewBox="0 0 24 12"><path class="area" d="M0 11 8 3H24V11Z"/><path class="load" d="M0 11 8 3H24"/></svg>admitted in this window</span>
<span><svg class="key" viewBox="0 0 24 12"><path class="refused" d="M7 1v10M12 1v10M17 1v10"/></svg>refused (429)</span>
<span><svg class="key" viewBox="0 0 24 12"><path class="plan" d="M0 6H24"/></svg>the plan</span>
<span><svg class="key" viewBox="0 0 24 12"><path class="hatch" d="m1 9 5-6m1 6 5-6m1 6 5-6"/></svg>waiting for the plan</span></p>`;
}
