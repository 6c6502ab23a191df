import { isBuiltIn } from '../../config/provider/provider.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { SUITES_URL } from '../selection/selection.ts';

interface SimulationOptions {
  /** Built-in providers are waited for like any other. */
  readonly realTime?: boolean;
  /** URL of the module with the suites. */
  readonly suitesUrl?: string;
}

/**
 * Whether a service and whoever asks it share a clock that leaps over waits. They can where the provider is built in and
 * whoever else has a part lives in the same process. Pact does not: time passes as it needs while it is at work. What
 * foreign suites wait for is not known.
 */
export function isSimulated(
  { provider, credentials, webhooks }: ServiceConfig,
  { realTime = false, suitesUrl = SUITES_URL }: SimulationOptions,
): boolean {
  return (
    !realTime &&
    suitesUrl === SUITES_URL &&
    isBuiltIn(provider) &&
    !credentials.isLentElsewhere &&
    (webhooks?.url ?? null) === null
  );
}
