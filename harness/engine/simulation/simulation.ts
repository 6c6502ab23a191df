import { isBuiltIn } from '../../config/provider/provider.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { openVerifier } from '../../providers/pact/verifier.ts';
import { startProvider } from '../provider/start.ts';
import { SUITES_URL } from '../selection/selection.ts';
import type { LiveSessionOptions } from '../session/session.ts';
import { simulatedClock } from './clock.ts';

/** What a session has of a simulation. */
export interface Simulation extends Required<Pick<LiveSessionOptions, 'providerUrl' | 'clock' | 'verifier'>> {
  stop(): Promise<void>;
}

/** Starts the built-in provider of a config, in this process and in a time that leaps over waits. */
export async function simulate(config: ServiceConfig): Promise<Simulation> {
  const clock = simulatedClock();
  const provider = await startProvider(config, { clock });
  const pact = openVerifier();
  return {
    providerUrl: provider.url,
    clock,
    verifier: { verify: (order) => clock.outside(() => pact.verify(order)), close: () => pact.close() },
    async stop() {
      await pact.close();
      await provider.stop();
      clock.stop();
    },
  };
}

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
