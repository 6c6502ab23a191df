import { suite } from '../harness/check/check.ts';
import { badCredentials } from './authentication/bad-credentials.ts';
import { keyPlaces } from './authentication/key-places.ts';
import { refusalsThemselves } from './authentication/refusals.ts';
import { signatures } from './authentication/signatures.ts';
import { waysAround } from './authentication/ways-around.ts';

/** Every refusal is paired with the sample: the same request with the right credential must be served. */
export const authentication = suite('authentication', 'Authentication', [
  ...badCredentials,
  ...waysAround,
  ...refusalsThemselves,
  ...keyPlaces,
  ...signatures,
]);
