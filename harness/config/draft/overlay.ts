import type { TSchema } from 'typebox';
import { type Place, UsageError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { shapeWithin, traitsOf } from '../shape/loaded.ts';
import {
  type Located,
  type LocatedMap,
  originsOf,
  plainOf,
  withChildren,
  withoutKeys,
} from '../yaml/located.ts';
import { didYouMean } from '../yaml/nearest.ts';
import { faultsOf } from '../yaml/origin.ts';

/** The service under its environment. @throws UsageError for a fault of any environment of the file. */
export function overlaid(
  file: LocatedMap,
  shape: TSchema,
  service: string,
  environment: string | null,
): LocatedMap {
  const environments = environmentsOf(file);
  for (const name of environments.keys()) chainOf(name, environments);
  const base = baseOf(file);
  if (environment === null) return base;
  if (!environments.has(environment)) {
    const known = [...environments.keys()];
    const near = known.length > 0 ? didYouMean(environment, known) : null;
    throw new UsageError(`the service ${service} has no environment ${JSON.stringify(environment)}`, {
      ...placeOf(file.entries.get('environments')?.value ?? file),
      key: 'environments',
      remedy: near ?? 'it has none: add one under `environments:`',
    });
  }
  return chainOf(environment, environments).reduceRight<LocatedMap>((under, name) => {
    const overlay = environments.get(name);
    return overlay ? laidOver(under, stamped(withoutKeys(overlay, 'extends'), name), shape) : under;
  }, base);
}

type Environments = ReadonlyMap<string, LocatedMap>;

function environmentsOf(file: LocatedMap): Environments {
  const block = file.entries.get('environments')?.value;
  const overlays = new Map<string, LocatedMap>();
  if (block?.kind !== 'map') return overlays;
  for (const [name, { value }] of block.entries) if (value.kind === 'map') overlays.set(name, value);
  return overlays;
}

function baseOf(file: LocatedMap): LocatedMap {
  for (const [key, { value }] of file.entries) {
    if (value.kind === 'scalar' && value.value === null)
      throw faultsOf(originsOf(file))(key, 'is empty', 'give it a value, or remove the key');
  }
  return withoutKeys(file, 'environments');
}

export function environmentNames(file: LocatedMap): readonly string[] {
  return [...environmentsOf(file).keys()];
}

/** The environment and those it builds on, nearest first. */
function chainOf(name: string, environments: Environments): readonly string[] {
  const chain = [name];
  for (let at = name; ; ) {
    const parent = environments.get(at)?.entries.get('extends')?.value;
    if (parent?.kind !== 'scalar' || typeof parent.value !== 'string') return chain;
    const fault = { ...placeOf(parent), key: `environments.${at}.extends` };
    if (!environments.has(parent.value)) {
      const others = [...environments.keys()].filter((other) => other !== at);
      const problem = `there is no environment ${JSON.stringify(parent.value)} in this file`;
      throw new UsageError(problem, { ...fault, remedy: didYouMean(parent.value, others) });
    }
    if (chain.includes(parent.value)) {
      const circle = [...chain.slice(chain.indexOf(parent.value)), parent.value].join(' -> ');
      const remedy = 'let one of them stand without `extends`';
      throw new UsageError(`environments extend each other in a circle: ${circle}`, { ...fault, remedy });
    }
    at = parent.value;
    chain.push(at);
  }
}

/** Mappings are merged, unless their shape replaces them. Other values replace; null removes. */
function laidOver(under: LocatedMap, over: LocatedMap, shape: TSchema): LocatedMap {
  const entries = new Map(under.entries);
  for (const [name, entry] of over.entries) {
    const inner = shapeWithin(shape, name);
    const { value } = entry;
    const before = entries.get(name)?.value;
    if (value.kind === 'scalar' && value.value === null) {
      entries.delete(name);
    } else if (value.kind === 'map' && before?.kind === 'map' && !replaces(inner, before, value)) {
      entries.set(name, { ...entry, value: laidOver(before, value, inner) });
    } else {
      entries.set(name, { ...entry, value: value.kind === 'map' ? withoutNulls(value) : value });
    }
  }
  return { ...under, entries };
}

function replaces(shape: TSchema, before: LocatedMap, value: LocatedMap): boolean {
  const [below, above] = [plainOf(before), plainOf(value)];
  return isJsonObject(below) && isJsonObject(above) && (traitsOf(shape).replaces?.(below, above) ?? false);
}

function withoutNulls(map: LocatedMap): LocatedMap {
  return laidOver({ ...map, entries: new Map() }, map, {});
}

/** The same tree, every value of which remembers the environment that set it. */
function stamped<N extends Located>(node: N, environment: string): N {
  const inner = withChildren(node, (_name, child) => stamped(child, environment));
  return node.origin.kind === 'file' ? { ...inner, origin: { ...node.origin, environment } } : inner;
}

function placeOf(node: Located): { readonly place?: Place } {
  return node.origin.kind === 'file' ? { place: node.origin.place } : {};
}
