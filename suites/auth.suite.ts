import { suite } from '../harness/check/suite.ts';
import { badCredentials } from './auth/bad-credentials.ts';
import { keyPlaces } from './auth/key-places.ts';
import { refusalsThemselves } from './auth/refusals.ts';
import { signatures } from './auth/signatures.ts';
import { waysAround } from './auth/ways-around.ts';

/** Every refusal is paired with the sample: the same request with the right credential must be served. */
export const auth = suite('auth', 'Authentication', [
  ...badCredentials,
  ...waysAround,
  ...refusalsThemselves,
  ...keyPlaces,
  ...signatures,
]);
