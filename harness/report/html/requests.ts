import { type Evidence, evidenceFromJson } from '../../evidence/evidence.ts';
import { inferLimit } from '../../evidence/limit/infer.ts';
import type { LimitObservation } from '../../evidence/limit/observation.ts';
import { observationsOf } from '../../evidence/limit/observing.ts';
import { countingOnly } from '../../evidence/limit/others.ts';
import { faceOf } from '../../evidence/limit/refusal-face.ts';
import type { Results, ServiceResult } from '../results/results.ts';
import { requestsInWords } from '../results/words.ts';
import { html, type Markup } from './markup.ts';
import { drawTimeline, type Fate, type Moment, type Stretch } from './timeline-picture.ts';

/** What each request was for, service by service, and a picture of the rate limit where one was met. */
export function requests(results: Results): Markup | null {
  const services = results.services.filter(({ ledger }) => ledger.length > 0);
  if (services.length === 0) return null;
  return html`<section id="requests" aria-labelledby="requests-title"><h2 id="requests-title">Requests</h2>
<p class="lead">What each was for, in the order sent. One answer feeds many checks.</p>
${services.map(ledger)}</section>`;
}

function ledger(service: ServiceResult): Markup {
  return html`<h3>${service.service} <span class="of">${requestsInWords([service])}</span></h3>
${timeline(service)}
<details class="ledger"><summary>Ledger of ${service.service}</summary><div class="scroll" tabindex="0" role="group" aria-label="Ledger of ${service.service}"><table><caption>Requests of ${service.service} in the order sent</caption>
<thead><tr><th scope="col">Evidence</th><th scope="col">Purpose</th><th scope="col" class="number">Requests</th></tr></thead>
<tbody>${service.ledger.map(
    ({ evidence, purpose, requests: n }) =>
      html`<tr><th scope="row"><code>${evidence}</code></th><td>${purpose}</td><td class="number">${n}</td></tr>`,
  )}</tbody></table></div></details>`;
}

/**
 * A still picture of a service's requests over time around a rate limit: what was served, what was refused, what the
 * quota fields told, what was waited for, and the window drawn over it. Only for services with a burst among their
 * evidence.
 */
export function timeline(service: ServiceResult): Markup | null {
  const evidence = readable(service);
  const moments = evidence.flatMap(momentsOf).sort((a, b) => a.atMs - b.atMs);
  const [first] = moments;
  const [begun] = evidence;
  const burst = evidence.find(({ kind }) => kind === 'burst');
  if (!first || !burst || !begun) return null;
  const ownOffsetMs = Date.parse(begun.timing.startedAt) - begun.timing.startedMs;
  const seen = observed(service, evidence, ownOffsetMs);
  const planned = plannedWindow(service, moments, burst.timing.startedMs);
  const toMs = Math.max(...moments.map(({ atMs }) => atMs), planned?.toMs ?? 0, first.atMs + 1);
  const scale: Stretch = { fromMs: first.atMs, toMs };
  const inferred = inferredWindows(service, seen, ownOffsetMs).flatMap((window) => within(window, scale));
  return drawTimeline(service, {
    scale,
    moments,
    windows: inferred.length > 0 ? { kind: 'inferred', inferred } : { kind: 'planned', planned },
    quota: seen.flatMap(({ finishedMs, quota }) =>
      quota?.remaining == null ? [] : [{ atMs: finishedMs, remaining: quota.remaining }],
    ),
    waits: (service.waits ?? []).flatMap(({ reason, fromMs, untilMs }) =>
      within({ fromMs: fromMs - ownOffsetMs, toMs: untilMs - ownOffsetMs }, scale).map((stretch) => ({
        ...stretch,
        reason,
      })),
    ),
  });
}

function observed(
  { plan }: ServiceResult,
  evidence: readonly Evidence[],
  ownOffsetMs: number,
): readonly LimitObservation[] {
  if (plan === null) return [];
  const windowMs = plan.windowSeconds * 1_000;
  const ids = evidence.flatMap((one) => (one.kind === 'burst' && one.refusal !== null ? [one.refusal] : []));
  const met = evidence.find((one) => one.kind === 'exchange' && ids.includes(one.id));
  const refusal = met?.kind === 'exchange' ? faceOf(met) : null;
  return observationsOf(evidence, { windowMs, ownOffsetMs, refusal });
}

/** The windows that explain what was admitted and refused. */
function inferredWindows(
  { plan }: ServiceResult,
  seen: readonly LimitObservation[],
  ownOffsetMs: number,
): readonly Stretch[] {
  if (plan === null) return [];
  const documented = { requests: plan.requests, windowMs: plan.windowSeconds * 1_000 };
  return inferLimit(countingOnly(seen, documented.windowMs), documented, ownOffsetMs).windows;
}

/** The part that lies in the picture, if any does. */
function within(stretch: Stretch, scale: Stretch): readonly Stretch[] {
  const fromMs = Math.max(stretch.fromMs, scale.fromMs);
  const toMs = Math.min(stretch.toMs, scale.toMs);
  return toMs > fromMs ? [{ fromMs, toMs }] : [];
}

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
function plannedWindow({ plan }: ServiceResult, moments: readonly Moment[], burstMs: number): Stretch | null {
  if (plan === null) return null;
  const windowMs = plan.windowSeconds * 1_000;
  const counted = moments.find(({ atMs, fate }) => fate === 'served' && atMs > burstMs - windowMs);
  const fromMs = Math.min(counted?.atMs ?? burstMs, burstMs);
  return { fromMs, toMs: fromMs + windowMs };
}
