import { loadServices } from '../../config/load.ts';
import { effectiveConfig } from '../../config/written/effective.ts';
import { holdProviders } from '../../engine/provider/start.ts';

/** `conform config`: validates, and prints the effective config with the origin of each value. */
export async function showConfig(
  service: string | undefined,
  options: { readonly environment?: string; readonly config: string },
): Promise<number> {
  const { services } = await loadServices({
    configDir: options.config,
    services: service === undefined ? [] : [service],
    environment: options.environment,
    env: process.env,
  });
  await holdProviders(services);
  process.stdout.write(services.map(effectiveConfig).join('\n'));
  return 0;
}
