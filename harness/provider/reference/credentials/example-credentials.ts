import type { Credentials, ReferenceName } from '../../../config/service.ts';
import { Secret } from '../../../credential/secret.ts';

/** What every built-in credential begins with, so that nobody takes one for a real secret. */
export const EXAMPLE_PREFIX = 'example-';

/** Credentials for a reference provider that is started without a service config. */
export function exampleCredentials(service: ReferenceName): Credentials {
  const upper = service.toUpperCase();
  return {
    scheme: 'bearer',
    key: new Secret(`${upper}_API_KEY`, `${EXAMPLE_PREFIX}${service}-key-not-secret`),
    secondKey: new Secret(`${upper}_API_KEY_2`, `${EXAMPLE_PREFIX}${service}-second-key-not-secret`),
    app:
      service === 'realtime'
        ? {
            id: '1001',
            key: `${EXAMPLE_PREFIX}app-key`,
            secret: new Secret('REALTIME_APP_SECRET', `${EXAMPLE_PREFIX}app-secret`),
          }
        : null,
  };
}
