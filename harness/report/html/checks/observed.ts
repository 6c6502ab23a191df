import { isDeepStrictEqual } from 'node:util';
import { capitalized, withShortValues } from '../../../base/text.ts';
import type { CheckResult } from '../../results/check-result.ts';
import type { Observation, Results, ServiceResult } from '../../results/results.ts';
import { counted } from '../../results/tally.ts';
import { factInWords, valueInWords } from '../../results/words/words.ts';
import { chevron } from '../markup/icons.ts';
import { html, type Markup } from '../markup/markup.ts';
import { filterable, servicesInWords } from '../markup/row.ts';

interface ObservedFact {
  readonly service: ServiceResult;
  readonly seen: Observation;
  readonly check: CheckResult | undefined;
}

/** Of a value that differs, in UTF-16 units. */
const LONGEST_VALUE = 200;

/** Areas are the first words of keys; those that are no plain words have names. */
const AREAS: ReadonlyMap<string, string> = new Map([
  ['auth', 'Authentication'],
  ['json', 'JSON'],
  ['websocket', 'WebSocket'],
]);

/** What the documents leave open and the services showed: a row for each key, a line for each distinct value. */
export function observed(results: Results): Markup | null {
  const all = results.services.flatMap((service) =>
    service.observations.map((seen) => ({
      service,
      seen,
      check: service.checks.find(({ id }) => id === seen.check),
    })),
  );
  if (all.length === 0) return null;
  const byKey = [...Map.groupBy(all, ({ seen }) => seen.key)].map(([key, of]) => ({
    key,
    of,
    values: distinct(of),
  }));
  const differing = byKey.filter(({ values }) => values.length > 1).length;
  const areas = Map.groupBy(byKey, ({ key }) => key.split('.')[0] ?? key);
  const pins = all.some(({ seen }) => isPinned(seen));
  const drifts = all.filter(({ seen }) => seen.drift !== undefined).length;
  return html`<section id="observed" aria-labelledby="observed-title" data-filtered><details class="part" open data-fold><summary>${chevron()}<h2 id="observed-title">Observed contract <span class="n">${counted(byKey.length, 'fact')}</span></h2><span class="hint">${[
    ...(differing > 0 ? [`${differing} ${differing === 1 ? 'differs' : 'differ'} between services`] : []),
    ...(drifts > 0 ? [`${drifts} drifted`] : []),
  ].join(', ')}</span></summary>
<p class="lead">What the documents leave open. One row for each fact; a bar marks services that differ.</p>
${[...areas]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([area, facts]) => {
    const name = AREAS.get(area) ?? capitalized(area);
    return html`<h3>${name}</h3><div class="facts-of">${facts.map(({ key, of, values }) => fact(key, of, values, results.services.length, pins))}</div>`;
  })}</details></section>`;
}

/** Those with the same value together, in the order of services. */
function distinct(of: readonly ObservedFact[]): readonly (readonly ObservedFact[])[] {
  const values: ObservedFact[][] = [];
  for (const each of of) {
    const same = values.find(([first]) => isDeepStrictEqual(first?.seen.value, each.seen.value));
    if (same) same.push(each);
    else values.push([each]);
  }
  return values;
}

function fact(
  key: string,
  of: readonly ObservedFact[],
  values: readonly (readonly ObservedFact[])[],
  services: number,
  pins: boolean,
): Markup {
  const check = of.find((each) => each.check !== undefined)?.check;
  const title = check?.title ?? key;
  const names = of.map(({ service }) => service.service);
  return html`<div class="fact" ${filterable(of.some(({ seen }) => seen.drift !== undefined) ? 'observed drifted' : 'observed', names)} data-suite="${check?.suite ?? ''}"><p class="name">${capitalized(title)} <code>${key}</code></p>
<ul class="${values.length > 1 && 'differ'}">${values.map((same) => value(same, services))}</ul>${pins && html`<p class="pin">${pinOf(of)}</p>`}</div>`;
}

function value(same: readonly ObservedFact[], services: number): Markup {
  const [{ seen }] = same as [ObservedFact];
  const isPlain = typeof seen.value !== 'object' || seen.value === null;
  return html`<li><span class="value">${factInWords(seen.value)}${!isPlain && html`<details class="raw"><summary>raw</summary><code>${valueInWords(seen.value, 1_000)}</code></details>`}</span><span class="who">${servicesInWords(
    same.map(({ service }) => service.service),
    services,
  )}</span></li>`;
}

/** Whether the values are those that were accepted; only for results that hold accepted ones. */
function pinOf(of: readonly ObservedFact[]): Markup {
  const drifted = of.filter(({ seen }) => seen.drift !== undefined);
  if (drifted.length === 0) return html`${of.every(({ seen }) => isPinned(seen)) ? 'pinned' : 'not pinned'}`;
  return html`<details class="raw drifted"><summary>drifted, ${drifted.map(({ service }) => service.service).join(', ')}</summary>${drifted.map(
    ({ service, seen }) =>
      html`<span>${service.service}: ${withShortValues(seen.drift ?? '', LONGEST_VALUE)}${seen.acceptedAt !== undefined && ` (${seen.acceptedAt})`}</span>`,
  )}</details>`;
}

function isPinned({ accepted, acceptedAt }: Observation): boolean {
  return accepted !== null || acceptedAt !== undefined;
}
