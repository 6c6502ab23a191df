import { suite } from '../../harness/engine/check/suite.ts';
import { badCredentials } from './bad-credentials.ts';
import { browsers } from './browsers.ts';
import { keyPlaces } from './key-places.ts';
import { refusalsThemselves } from './refusals.ts';
import { signatures, tokens } from './signatures.ts';
import { waysAround } from './ways-around.ts';

/** Every refusal is paired with the sample: the same request with the right credential must be served. */
export const auth = suite('auth', 'Authentication', [
  ...badCredentials,
  ...tokens,
  ...waysAround,
  ...browsers,
  ...refusalsThemselves,
  ...keyPlaces,
  ...signatures,
]);
