import type { ServiceConfig } from '../../config/service.ts';
import { openVerifier } from '../../providers/pact/verifier.ts';
import { startProvider } from '../provider/start.ts';
import type { LiveSessionOptions } from '../session/live.ts';
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
    verifier: {
      verify: (order) => clock.outside(() => pact.verify(order)),
      close: () => pact.close(),
    },
    async stop() {
      await pact.close();
      await provider.stop();
      clock.stop();
    },
  };
}
