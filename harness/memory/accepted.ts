import { withExitCode } from '../report/results/fold/fold.ts';
import type { Observation, Results } from '../report/results/results.ts';
import { driftOf } from './drift.ts';

/** The results with each accepted observation that is another now told as drift. */
export function withDrift(results: Results): Results {
  const services = results.services.map((service) => ({
    ...service,
    observations: service.observations.map(held),
  }));
  return withExitCode({ ...results, services });
}

function held(observation: Observation): Observation {
  const { value, accepted, acceptedAt, varies = 'never' } = observation;
  if (acceptedAt === undefined) return observation;
  const drift = driftOf(accepted, value, varies);
  return drift === null ? observation : { ...observation, drift };
}
