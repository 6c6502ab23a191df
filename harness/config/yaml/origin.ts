import { formatPlace, type Place, UsageError } from '../../base/exit.ts';

/** Where a value of the effective config comes from. */
export type Origin =
  | {
      readonly kind: 'file';
      readonly place: Place;
      /** The environment whose overlay set it; null for the service's own part. */
      readonly environment: string | null;
      /** What the value was read through: `env SEARCH_API_KEY`, `file key.txt`, `exec`; null when it stands there itself. */
      readonly reference: string | null;
    }
  /** An option of the command line, e.g. `--url`. */
  | { readonly kind: 'option'; readonly option: string }
  | { readonly kind: 'contract'; readonly place: string }
  | { readonly kind: 'default' };

/** Dotted config key (`plan.window`, `operations.0.path`) to the origin of its value. */
export type Origins = ReadonlyMap<string, Origin>;

/** For a person, in one line: `config/services/search.yaml:12:7, environment staging, env SEARCH_API_KEY`. */
export function formatOrigin(origin: Origin): string {
  if (origin.kind === 'default') return 'default';
  if (origin.kind === 'option') return origin.option;
  if (origin.kind === 'contract') return `contract: ${origin.place}`;
  const { place, environment, reference } = origin;
  const parts = [formatPlace(place), environment && `environment ${environment}`, reference];
  return parts.filter((part) => part !== null).join(', ');
}

/** The origin of a key, or of the nearest block around it that is written somewhere. */
export function originAround(origins: Origins, key: string): Origin | undefined {
  for (let at = key; ; at = at.slice(0, at.lastIndexOf('.'))) {
    const origin = origins.get(at);
    if (origin && origin.kind !== 'default') return origin;
    if (!at.includes('.')) return origins.get('');
  }
}

/** Builds the error for a value of the effective config, at the place where it is written. */
export type FaultAt = (key: string, problem: string, remedy: string) => UsageError;

/** Makes errors that name the place of a key in its file, or the option that it was given by. */
export function faultsOf(origins: Origins): FaultAt {
  return (key, problem, remedy) => {
    const origin = originAround(origins, key);
    if (origin?.kind === 'option') return new UsageError(`${origin.option}: ${problem}`, { key, remedy });
    const place = origin?.kind === 'file' ? { place: origin.place } : {};
    return new UsageError(problem, { key, remedy, ...place });
  };
}
