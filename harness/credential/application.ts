import type { Secret } from './secret.ts';

/** The three credentials of an application: identifier and key are public, the secret is not. */
export interface AppCredentials {
  readonly id: string;
  readonly key: string;
  readonly secret: Secret;
}
