import { nearestHint } from '../../config/yaml/nearest.ts';
import { withExitCode } from '../results/fold/fold.ts';
import type { ListedObservation, Observation, Results, ServiceResult } from '../results/results.ts';
import { driftOf } from './drift.ts';

/**
 * The results with each accepted observation that is another now told as drift, and each entry of a list under which
 * nothing is observed.
 */
export function withDrift(results: Results): Results {
  const isWhole = results.run.selection === undefined;
  const services = results.services.map((service) => {
    const seen = { ...service, observations: service.observations.map(held) };
    const { accepted } = seen;
    return accepted === undefined
      ? seen
      : { ...seen, accepted: accepted.map((entry) => stated(entry, seen, isWhole)) };
  });
  return withExitCode({ ...results, services });
}

function held(observation: Observation): Observation {
  const { value, accepted, acceptedAt, varies = 'never' } = observation;
  if (acceptedAt === undefined) return observation;
  const drift = driftOf(accepted, value, varies);
  return drift === null ? observation : { ...observation, drift };
}

function stated(
  entry: ListedObservation,
  { checks, observations }: ServiceResult,
  isWhole: boolean,
): ListedObservation {
  const { key } = entry;
  const seen = observations.find((each) => each.key === key);
  if (seen !== undefined) return { ...entry, state: seen.drift === undefined ? 'held' : 'drifted' };
  // A record of an older version does not tell them.
  const keys = checks.flatMap(({ records }) => records ?? []);
  if (!isWhole || keys.length === 0 || keys.includes(key)) return entry;
  return {
    ...entry,
    state: 'unmatched',
    note: `nothing is observed under this key${nearestHint(key, keys)}`,
  };
}
