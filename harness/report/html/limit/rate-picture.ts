import { grouped } from '../../../base/text.ts';
import { html, type Markup } from '../markup/markup.ts';

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

/** Percent of the width. */
type Across = (atMs: number) => number;

function across({ fromMs, toMs }: TimeStretch): Across {
  return (atMs) => Math.round(((atMs - fromMs) / Math.max(1, toMs - fromMs)) * 10_000) / 100;
}

/** One row: what was admitted in the present window, the plan, what was refused, waits, and what is wrong. */
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
    .map(({ toMs, points: told }) => {
      const points = told.map(({ atMs, n }) => [round(x(atMs) * 10), y(n)] as const);
      // Of the many requests of a burst those that can be told apart.
      const shown = points.filter(
        ([at], index) => index === points.length - 1 || points[index + 1]?.[0] !== at,
      );
      const end = round(x(Math.min(toMs, load.spanned.toMs)) * 10);
      const [first] = points;
      if (first === undefined) return '';
      return `M${first[0]} ${BASE}${shown.map(([at, height]) => `L${at} ${height}`).join('')}H${end}V${BASE}`;
    })
    .join('');
}

/** Places that can be told apart. */
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
