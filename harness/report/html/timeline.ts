import type { Evidence } from '../../evidence/evidence.ts';
import { evidenceFromJson } from '../../evidence/json.ts';
import { inferLimit } from '../../evidence/limit/infer.ts';
import { observationsOf } from '../../evidence/limit/observing.ts';
import type { ServiceResult } from '../results.ts';
import { counted } from '../tally.ts';
import { duration } from '../words.ts';
import { html, type Markup } from './markup.ts';

/**
 * A still picture of a service's requests over time around a rate limit: what was served, what was refused, and
 * the plan's window drawn over it. Only for services with a burst among their evidence.
 */
export function timeline(service: ServiceResult): Markup | null {
  const evidence = readable(service);
  const bursts = evidence.filter((one) => one.kind === 'burst');
  const moments = evidence.flatMap(momentsOf).sort((a, b) => a.atMs - b.atMs);
  const first = moments[0];
  const burst = bursts[0];
  if (!first || !burst) return null;
  const windowMs = service.plan === null ? null : service.plan.windowSeconds * 1_000;
  const window = windowMs === null ? null : windowBefore(moments, burst.timing.startedMs, windowMs);
  const end = Math.max(...moments.map(({ atMs }) => atMs), window?.toMs ?? 0, first.atMs + 1);
  const scale: Scale = { fromMs: first.atMs, toMs: end };
  return draw(service, moments, { plan: window, inferred: inferredWindows(service, evidence, scale) }, scale);
}

/** The windows that explain what was admitted and refused, as far as they lie in the picture. */
function inferredWindows(
  service: ServiceResult,
  evidence: readonly Evidence[],
  scale: Scale,
): readonly Window[] {
  const [first] = evidence;
  if (first === undefined || service.plan === null) return [];
  const { requests, windowSeconds } = service.plan;
  const windowMs = windowSeconds * 1_000;
  const ownOffsetMs = Date.parse(first.timing.startedAt) - first.timing.startedMs;
  const refusal = evidence.find((one) => one.kind === 'burst' && one.refusal !== null);
  const met =
    refusal?.kind === 'burst' ? refusal.entries.findLast(({ status }) => (status ?? 0) >= 400) : undefined;
  const reading = { windowMs, ownOffsetMs, refusedStatus: met?.status ?? 429 };
  const { windows } = inferLimit(observationsOf(evidence, reading), { requests, windowMs }, ownOffsetMs);
  return windows
    .map(({ fromMs, toMs }) => ({ fromMs: Math.max(fromMs, scale.fromMs), toMs: Math.min(toMs, scale.toMs) }))
    .filter(({ fromMs, toMs }) => toMs > fromMs);
}

type Fate = 'served' | 'refused' | 'other' | 'unanswered';

interface Moment {
  /** On the session's monotonic clock. */
  readonly atMs: number;
  readonly fate: Fate;
}

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Scale {
  readonly fromMs: number;
  readonly toMs: number;
}

const LANES: readonly { readonly fate: Fate; readonly name: string }[] = [
  { fate: 'served', name: 'served' },
  { fate: 'refused', name: 'refused (429)' },
  { fate: 'other', name: 'other answers' },
  { fate: 'unanswered', name: 'no answer' },
];

/** Evidence that cannot be read back has no place in the picture; the transcripts say so. */
function readable(service: ServiceResult): readonly Evidence[] {
  return Object.values(service.evidence).flatMap((value) => {
    try {
      return [evidenceFromJson(value)];
    } catch {
      return [];
    }
  });
}

function momentsOf(evidence: Evidence): readonly Moment[] {
  switch (evidence.kind) {
    case 'burst':
      return evidence.entries.map(({ sentMs, status }) => ({ atMs: sentMs, fate: fateOf(status) }));
    case 'exchange':
      if (evidence.failure?.kind === 'not-sent') return [];
      return [{ atMs: evidence.timing.startedMs, fate: fateOf(evidence.response?.status ?? null) }];
    case 'conversation':
      return [{ atMs: evidence.timing.startedMs, fate: fateOf(evidence.handshake.response?.status ?? null) }];
  }
}

function fateOf(status: number | null): Fate {
  if (status === null) return 'unanswered';
  if (status === 429) return 'refused';
  return status < 400 ? 'served' : 'other';
}

/** One window of the plan, from the earliest request that still counted when the burst began. */
function windowBefore(moments: readonly Moment[], burstMs: number, windowMs: number): Window {
  const counted = moments.find(({ atMs, fate }) => fate === 'served' && atMs > burstMs - windowMs);
  const fromMs = Math.min(counted?.atMs ?? burstMs, burstMs);
  return { fromMs, toMs: fromMs + windowMs };
}

const WIDTH = 1_000;
const LEFT = 110;
const RIGHT = 20;
const TOP = 30;
const LANE = 44;
const BIN = 5;

function draw(
  service: ServiceResult,
  moments: readonly Moment[],
  windows: { readonly plan: Window | null; readonly inferred: readonly Window[] },
  scale: Scale,
): Markup {
  const lanes = LANES.filter(({ fate }) => moments.some((moment) => moment.fate === fate));
  const height = TOP + lanes.length * LANE + 26;
  const x = (ms: number) =>
    LEFT + ((ms - scale.fromMs) / (scale.toMs - scale.fromMs)) * (WIDTH - LEFT - RIGHT);
  const id = `timeline-${service.service.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  const words = describe(service, moments, scale);
  return html`<figure class="timeline"><div class="scroll" tabindex="0" role="group" aria-label="Timeline of ${service.service}"><svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${id}-title">
<title id="${id}-title">Requests to ${service.service} over time. ${words}</title>
<defs><pattern id="${id}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="refused" width="6" height="6"/><line class="hatch" x1="0" y1="0" x2="0" y2="6" stroke-width="2"/></pattern></defs>
${windows.inferred.length > 0 ? windows.inferred.map((window) => inferredMark(window, x, height)) : windows.plan === null ? null : windowMark(windows.plan, x, height, service)}
${lanes.map(({ fate, name }, index) => lane(fate, name, TOP + (index + 1) * LANE, moments, x, id))}
${axis(scale, x, height)}
</svg></div><figcaption>${words}</figcaption></figure>`;
}

function windowMark(
  window: Window,
  x: (ms: number) => number,
  height: number,
  service: ServiceResult,
): Markup {
  const left = x(window.fromMs);
  const name = `one window of the plan: ${service.plan?.requests} requests in ${service.plan?.windowSeconds} s`;
  return html`<rect class="window" x="${round(left)}" y="8" width="${round(x(window.toMs) - left)}" height="${height - 34}" rx="4"/>
<text class="window-name" x="${round(left + 8)}" y="24">${name}</text>`;
}

/** A window as it was found out, wherever the plan would have it. */
function inferredMark(window: Window, x: (ms: number) => number, height: number): Markup {
  const left = x(window.fromMs);
  return html`<rect class="window" x="${round(left)}" y="8" width="${round(x(window.toMs) - left)}" height="${height - 34}" rx="4"/>
<text class="window-name" x="${round(left + 8)}" y="24">inferred window</text>`;
}

function lane(
  fate: Fate,
  name: string,
  base: number,
  moments: readonly Moment[],
  x: (ms: number) => number,
  id: string,
): Markup {
  const bins = new Map<number, number>();
  for (const { atMs, fate: other } of moments) {
    if (other !== fate) continue;
    const bin = Math.floor(x(atMs) / BIN);
    bins.set(bin, (bins.get(bin) ?? 0) + 1);
  }
  const most = Math.max(...bins.values());
  const bars = [...bins].map(([bin, n]) => {
    const tall = Math.max(4, (n / most) * (LANE - 14));
    const fill = fate === 'refused' ? html` fill="url(#${id}-hatch)"` : html` class="${fate}"`;
    return html`<rect${fill} x="${bin * BIN}" y="${round(base - tall)}" width="${BIN - 1}" height="${round(tall)}"/>`;
  });
  return html`<text x="0" y="${base - 4}">${name}</text><line class="rule" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${base}" y2="${base}"/>${bars}`;
}

const STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600];

function axis(scale: Scale, x: (ms: number) => number, height: number): Markup {
  const seconds = (scale.toMs - scale.fromMs) / 1_000;
  const step = STEPS_S.find((candidate) => seconds / candidate <= 10) ?? Math.ceil(seconds / 10);
  const ticks = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step);
  return html`${ticks.map((at) => html`<text x="${round(x(scale.fromMs + at * 1_000))}" y="${height - 6}" text-anchor="middle">${Number(at.toFixed(1))} s</text>`)}`;
}

function describe(service: ServiceResult, moments: readonly Moment[], scale: Scale): string {
  const counts = LANES.map(({ fate, name }) => ({
    name,
    n: moments.filter((moment) => moment.fate === fate).length,
  }))
    .filter(({ n }) => n > 0)
    .map(({ name, n }) => `${n} ${name}`);
  const refusal = moments.find(({ fate }) => fate === 'refused');
  const met =
    refusal === undefined
      ? 'None was refused.'
      : `The first refusal came ${duration(refusal.atMs - scale.fromMs)} after the first request.`;
  const plan =
    service.plan === null
      ? ''
      : ` The plan grants ${counted(service.plan.requests, 'request')} in ${service.plan.windowSeconds} s.`;
  return `${counted(moments.length, 'request')}: ${counts.join(', ')}. ${met}${plan}`;
}

function round(n: number): number {
  return Math.round(n * 10) / 10;
}
