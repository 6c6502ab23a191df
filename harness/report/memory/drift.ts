import { isJsonObject, type JsonObject } from '../../base/json-text.ts';
import type { Variation } from '../../base/verdict.ts';
import { nearestHint } from '../../config/yaml/nearest.ts';
import { withExitCode } from '../results/fold/fold.ts';
import type { ListedObservation, Observation, Results, ServiceResult } from '../results/results.ts';
import { valueInWords } from '../results/words/words.ts';

const DEEPEST = 40;
/** Longest text of a value in a message, in UTF-16 units. */
const LONGEST_VALUE = 120;

/** What of a value is accepted from now on: `downwards`, the most that is still the same; else the value itself. */
export function acceptable(seen: unknown, varies: Variation): unknown {
  return varies === 'downwards' ? withNumbers(seen, roomy) : seen;
}

/** A difference beyond the variation, `refused: was 429, is 503`; null for none. */
export function driftOf(accepted: unknown, seen: unknown, varies: Variation): string | null {
  return drift(accepted, seen, { varies, path: '', depth: 0 });
}

interface At {
  readonly varies: Variation;
  /** `fields.0`, empty for the value itself. */
  readonly path: string;
  readonly depth: number;
}

function drift(was: unknown, is: unknown, at: At): string | null {
  const { varies, depth } = at;
  if (Object.is(was, is) || depth > DEEPEST) return null;
  if (varies === 'shape' && isShape(was) && isShape(is)) return shapeDrift(was, is, at);
  if (isJsonObject(was) && isJsonObject(is)) return membersDrift(was, is, at);
  if (Array.isArray(was) && Array.isArray(is) && varies === 'order') return setDrift(was, is, at);
  if (Array.isArray(was) && Array.isArray(is) && was.length === is.length)
    return first(was.map((item, index) => drift(item, is[index], within(at, String(index)))));
  return isWithin(was, is, varies) ? null : changed(was, is, at);
}

function membersDrift(was: JsonObject, is: JsonObject, at: At): string | null {
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return first(
    names.map((name) => {
      const [before, after] = [memberOf(was, name), memberOf(is, name)];
      const inner = within(at, name);
      if (before !== undefined && after !== undefined) return drift(before, after, inner);
      // Of several shapes, each by its name, not every one is seen each day.
      if (at.varies === 'shape' && isShape(before ?? after)) return null;
      return changed(before, after, inner);
    }),
  );
}

function setDrift(was: readonly unknown[], is: readonly unknown[], at: At): string | null {
  const missingIn = (some: readonly unknown[], others: readonly unknown[]) =>
    some.filter((item) => !others.some((other) => drift(item, other, within(at, '[]')) === null));
  const [gone, come] = [missingIn(was, is), missingIn(is, was)];
  if (gone.length === 0 && come.length === 0) return null;
  const parts = [
    ...(gone.length > 0 ? [`without ${gone.map(inWords).join(', ')}`] : []),
    ...(come.length > 0 ? [`with ${come.map(inWords).join(', ')}`] : []),
  ];
  return `${headOf(at)}${parts.join(' and ')} now`;
}

function shapeDrift(was: ObservedShape, is: ObservedShape, at: At): string | null {
  const [types, now] = [typesOf(was), typesOf(is)];
  const fresh = now.filter((type) => !types.includes(type));
  // null is the absence of a value, and says nothing of its type.
  if (types.length > 0 && !types.every(isNull) && !fresh.every(isNull)) return changed(types, now, at);
  const required = was.required ?? [];
  const lost = is.required === undefined ? undefined : required.find((name) => !is.required?.includes(name));
  if (lost !== undefined) return `${headOf(within(at, lost))}was always there, and is not now`;
  const [before, after] = [was.properties ?? {}, is.properties ?? {}];
  return first([
    ...Object.keys(before).map((name) => {
      const [one, other] = [memberOf(before, name), memberOf(after, name)];
      return one === undefined || other === undefined ? null : drift(one, other, within(at, name));
    }),
    was.items && is.items ? drift(was.items, is.items, within(at, '[]')) : null,
  ]);
}

/** As `evidence/json/shape.ts` writes it. */
interface ObservedShape {
  readonly type: string | readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly items?: unknown;
}

const TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'];

function isShape(value: unknown): value is ObservedShape {
  if (!isJsonObject(value)) return false;
  const types = [value.type].flat();
  return types.length > 0 && types.every((type) => typeof type === 'string' && TYPES.includes(type));
}

function typesOf({ type }: ObservedShape): readonly string[] {
  return [type].flat();
}

function isNull(type: string): boolean {
  return type === 'null';
}

/** Part of the least that was seen which is still as much. */
const AS_MUCH = 0.8;

function isWithin(was: unknown, is: unknown, varies: Variation): boolean {
  // Without an end: nothing is more.
  if (varies === 'upwards' && is === null) return true;
  if (varies === 'text') return typeof was === 'string' && typeof is === 'string';
  if (typeof was !== 'number' || typeof is !== 'number') return false;
  if (varies === 'upwards') return is >= was * AS_MUCH;
  if (varies === 'downwards') return is <= was;
  return varies === 'count' && was > 0 === is > 0;
}

/** The most that is still the same: five times as much, in round numbers, and never less than 100. */
function roomy(value: number): number {
  const most = Math.max(100, value * 5);
  const step = 10 ** Math.floor(Math.log10(most));
  return Math.ceil(most / step) * step;
}

function withNumbers(value: unknown, change: (number: number) => number): unknown {
  if (typeof value === 'number') return change(value);
  if (Array.isArray(value)) return value.map((item) => withNumbers(item, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withNumbers(inner, change)]));
}

function changed(was: unknown, is: unknown, at: At): string {
  return `${headOf(at)}was ${inWords(was)}, is ${inWords(is)}`;
}

function headOf({ path }: At): string {
  return path === '' ? '' : `${path}: `;
}

function inWords(value: unknown): string {
  return value === undefined ? 'not there' : valueInWords(value, LONGEST_VALUE);
}

function within({ varies, path, depth }: At, name: string): At {
  return { varies, path: path === '' ? name : `${path}.${name}`, depth: depth + 1 };
}

function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function first(drifts: readonly (string | null)[]): string | null {
  return drifts.find((each) => each !== null) ?? null;
}

/** The results with drifts of accepted observations, and with unmatched entries of lists. */
export function withDrift(results: Results): Results {
  const isWhole = results.run.selection === undefined;
  const services = results.services.map((service) => {
    const seen = { ...service, observations: service.observations.map(held) };
    const accepted = seen.accepted?.map((entry) => stated(entry, seen, isWhole));
    return accepted === undefined ? seen : { ...seen, accepted };
  });
  return withExitCode({ ...results, services });
}

function held(observation: Observation): Observation {
  const { value, accepted, acceptedAt, varies = 'never' } = observation;
  if (acceptedAt === undefined) return observation;
  const drift = driftOf(accepted, value, varies);
  return drift === null ? observation : { ...observation, drift };
}

function stated(entry: ListedObservation, service: ServiceResult, isWhole: boolean): ListedObservation {
  const { key } = entry;
  const { checks, observations } = service;
  const seen = observations.find((each) => each.key === key);
  if (seen !== undefined) return { ...entry, state: seen.drift === undefined ? 'held' : 'drifted' };
  // A record of an older version does not tell them.
  const keys = checks.flatMap(({ records }) => records ?? []);
  if (!isWhole || keys.length === 0 || keys.includes(key)) return entry;
  const note = `nothing is observed under this key${nearestHint(key, keys)}`;
  return { ...entry, state: 'unmatched', note };
}
