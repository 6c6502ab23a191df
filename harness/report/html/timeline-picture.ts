import type { ServiceResult } from '../results/results.ts';
import { counted } from '../results/tally.ts';
import { duration } from '../results/words.ts';
import { html, type Markup } from './markup.ts';

/** What becomes of a request, as far as a picture can show it. */
export type Fate = 'served' | 'refused' | 'other' | 'unanswered';

/** Times are ms on the session's monotonic clock. */
export interface Moment {
  readonly atMs: number;
  readonly fate: Fate;
}

export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface TimelineParts {
  /** What the picture spans. */
  readonly scale: Stretch;
  readonly moments: readonly Moment[];
  /** As they were found out, wherever the plan would have them; else the plan's. */
  readonly windows:
    | { readonly kind: 'inferred'; readonly inferred: readonly Stretch[] }
    | { readonly kind: 'planned'; readonly planned: Stretch | null };
  /** What the quota fields told, in the order of the answers. */
  readonly quota: readonly { readonly atMs: number; readonly remaining: number }[];
  readonly waits: readonly (Stretch & { readonly reason: string })[];
}

const LANES: readonly { readonly fate: Fate; readonly name: string }[] = [
  { fate: 'served', name: 'served' },
  { fate: 'refused', name: 'refused (429)' },
  { fate: 'other', name: 'other answers' },
  { fate: 'unanswered', name: 'no answer' },
];

const WIDTH = 1_000;
const LEFT = 110;
const RIGHT = 20;
const TOP = 30;
const LANE = 44;
/** What a lane's bars leave free above them. */
const AIR = 14;
const WAIT_LANE = 24;
const BIN = 5;
/** About as wide as the words in a window; a narrower one goes without. */
const WORDS_WIDTH = 120;

type Across = (ms: number) => number;

/** The picture with a sentence that says the same. */
export function drawTimeline(service: ServiceResult, parts: TimelineParts): Markup {
  const { scale, moments, windows, quota, waits } = parts;
  const lanes = LANES.filter(({ fate }) => moments.some((moment) => moment.fate === fate));
  const quotaBase = TOP + (lanes.length + 1) * LANE;
  const waitBase = TOP + (lanes.length + (quota.length > 0 ? 1 : 0)) * LANE + WAIT_LANE;
  const height = waitBase + (waits.length > 0 ? 0 : -WAIT_LANE) + 26;
  const x: Across = (ms) =>
    LEFT + ((ms - scale.fromMs) / (scale.toMs - scale.fromMs)) * (WIDTH - LEFT - RIGHT);
  const id = `timeline-${service.service.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  const words = describe(service, moments, scale);
  const marks =
    windows.kind === 'inferred'
      ? windows.inferred.map((window) => windowMark(window, 'inferred window', x, height))
      : windows.planned && windowMark(windows.planned, planWords(service), x, height);
  return html`<figure class="timeline"><div class="scroll" tabindex="0" role="group" aria-label="Timeline of ${service.service}"><svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${id}-title">
<title id="${id}-title">Requests to ${service.service} over time. ${words}</title>
<defs><pattern id="${id}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="refused" width="6" height="6"/><line class="hatch" x1="0" y1="0" x2="0" y2="6" stroke-width="2"/></pattern></defs>
${marks}
${lanes.map(({ fate, name }, index) => lane(fate, name, TOP + (index + 1) * LANE, moments, x, id))}
${quota.length > 0 ? quotaLane(quota, quotaBase, x) : null}
${waits.length > 0 ? waitLane(waits, waitBase, x) : null}
${axis(scale, x, height)}
</svg></div><figcaption>${words}${waitWords(waits)}</figcaption></figure>`;
}

function planWords({ plan }: ServiceResult): string {
  return `one window of the plan: ${plan?.requests} requests in ${plan?.windowSeconds} s`;
}

function windowMark(window: Stretch, name: string, x: Across, height: number): Markup {
  const left = x(window.fromMs);
  const width = x(window.toMs) - left;
  return html`<rect class="window" x="${round(left)}" y="8" width="${round(width)}" height="${height - 34}" rx="4"/>
${width < WORDS_WIDTH ? null : html`<text class="window-name" x="${round(left + 8)}" y="24">${name}</text>`}`;
}

function lane(
  fate: Fate,
  name: string,
  base: number,
  moments: readonly Moment[],
  x: Across,
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
    const tall = Math.max(4, (n / most) * (LANE - AIR));
    const fill = fate === 'refused' ? html` fill="url(#${id}-hatch)"` : html` class="${fate}"`;
    return html`<rect${fill} x="${bin * BIN}" y="${round(base - tall)}" width="${BIN - 1}" height="${round(tall)}"/>`;
  });
  return html`${laneName(name, base)}${bars}`;
}

function laneName(name: string, base: number): Markup {
  return html`<text x="0" y="${base - 4}">${name}</text><line class="rule" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${base}" y2="${base}"/>`;
}

/** The remaining quota from answer to answer, as its fields told it. */
function quotaLane(told: TimelineParts['quota'], base: number, x: Across): Markup {
  const most = Math.max(1, ...told.map(({ remaining }) => remaining));
  const points = told.map(({ atMs, remaining }) => ({
    x: round(x(atMs)),
    y: round(base - (Math.max(0, remaining) / most) * (LANE - AIR)),
  }));
  // Of the many answers of a burst those that can be told apart.
  const shown = points.filter((point, at) => {
    const [before, after] = [points[at - 1], points[at + 1]];
    return before?.x !== point.x || after?.x !== point.x;
  });
  const line = shown
    .map((point, at) => (at === 0 ? `M${point.x} ${point.y}` : `H${point.x}V${point.y}`))
    .join('');
  return html`${laneName('quota left, as told', base)}<path class="quota" d="${line}"/>`;
}

function waitLane(waits: TimelineParts['waits'], base: number, x: Across): Markup {
  const bars = waits.map(({ fromMs, toMs, reason }) => {
    const left = x(fromMs);
    const width = Math.max(1, x(toMs) - left - 1);
    return html`<rect class="waiting" x="${round(left)}" y="${base - 10}" width="${round(width)}" height="6" rx="2"><title>${duration(toMs - fromMs)}: ${reason}</title></rect>`;
  });
  return html`${laneName('waiting', base)}${bars}`;
}

function waitWords(waits: TimelineParts['waits']): Markup | null {
  if (waits.length === 0) return null;
  return html`<ul>${waits.map(({ fromMs, toMs, reason }) => html`<li>Waited ${duration(toMs - fromMs)}: ${reason}</li>`)}</ul>`;
}

const STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600];

function axis(scale: Stretch, x: Across, height: number): Markup {
  const seconds = (scale.toMs - scale.fromMs) / 1_000;
  const step = STEPS_S.find((candidate) => seconds / candidate <= 10) ?? Math.ceil(seconds / 10);
  const ticks = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step);
  return html`${ticks.map((at) => html`<text x="${round(x(scale.fromMs + at * 1_000))}" y="${height - 6}" text-anchor="middle">${Number(at.toFixed(1))} s</text>`)}`;
}

function describe(service: ServiceResult, moments: readonly Moment[], scale: Stretch): string {
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
