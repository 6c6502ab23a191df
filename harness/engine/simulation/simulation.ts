import { isBuiltIn } from '../../config/provider/provider.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { openVerifier } from '../../providers/pact/verifier.ts';
import { startProvider } from '../provider/start.ts';
import { SUITES_URL } from '../selection/selection.ts';
import type { LiveSessionOptions } from '../session/session.ts';

/** The parts of a session in simulated time. */
export interface Simulation extends Required<Pick<LiveSessionOptions, 'providerUrl' | 'clock' | 'verifier'>> {
  stop(): Promise<void>;
}

/** Starts the built-in provider of a config in this process, in simulated time. */
export async function simulate(config: ServiceConfig): Promise<Simulation> {
  // A process that only asks whether time is simulated need not load this.
  const { simulatedClock } = await import('./clock.ts');
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
  readonly realTime?: boolean;
  readonly suitesUrl?: string;
}

/**
 * Whether a service and its clients share simulated time: if its provider is built in and all clients live in the
 * same process. Pact is outside, in real time. The waits of other suites are unknown.
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
