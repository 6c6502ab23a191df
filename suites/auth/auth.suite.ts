import {
  check,
  clause,
  credentialDemanded,
  inAuthorizationField,
  keyAndApp,
  keyed,
  keyInField,
  noQueryKey,
  observation,
  practice,
  suite,
} from '../../harness/engine/check/suite.ts';
import { sample } from '../stimuli/sample.ts';
import { badCredentials, missingCredential } from './bad-credentials.ts';
import { refusalsThemselves } from './refusals.ts';
import { signatures, tokens } from './signatures.ts';
import * as credential from './stimuli/credential.ts';
import { fieldsTaken, parametersTaken } from './stimuli/key-place.ts';
import { signedInstead } from './stimuli/signature.ts';
import { tokenEndpoint } from './token-endpoint.ts';
import { browsers, waysAround } from './ways-around.ts';

/** Where else the credential is taken from: the documents leave header or query open. */
const keyPlaces = [
  // auth.credential-name does not show where a key may stand.
  observation('auth.location', {
    title: 'accepts the key in other headers or query parameters too, or in its own place alone',
    why: 'Each further place is one more where a key can leak, and one more to guard.',
    varies: 'order',
    grounds: [clause('auth.credential-name')],
    applies: [keyed, credentialDemanded],
    uses: [parametersTaken, fieldsTaken],
    async observe({ probe, service: { credentials } }) {
      const { scheme, carrier } = credentials;
      const configured = carrier?.word === null ? `${scheme.name} ${carrier.name}` : scheme.name;
      const { accepted: parameters } = await probe(parametersTaken);
      const { accepted: fields } = await probe(fieldsTaken);
      const others = [...parameters.map((each) => `query ${each}`), ...fields.map((each) => `field ${each}`)];
      return {
        seen: { configured, parameters, fields },
        note: `${configured}${others.length === 0 ? ' only' : `, also ${others.join(', ')}`}`,
      };
    },
  }),

  // Queries end up in logs, histories and Referer fields.
  check('auth.key-in-query', {
    title: 'does not accept the key in the query where the header works',
    headline: 'The key works in the query of the URL as well',
    why: 'URLs end up in server logs, browser histories and Referer headers, and the key with them.',
    change: 'Read the key from its header alone. Ignore or refuse it in the query.',
    grounds: [practice('OWASP API2:2023')],
    applies: [keyInField, noQueryKey, credentialDemanded],
    restsOn: [missingCredential],
    uses: [parametersTaken],
    async judge({ probe, violated }) {
      const { reply, accepted } = await probe(parametersTaken);
      if (!reply.served) return;
      const where = accepted.length === 0 ? 'one of several parameters' : accepted.join(', ');
      violated(
        'the key to open from the header alone',
        `it served in the query as well, as ${where}`,
        reply.evidence,
      );
    },
  }),

  // auth.usage does not show which of two credentials counts.
  observation('auth.two-credentials', {
    title: 'picks one of two Authorization headers, or refuses both',
    why: 'A proxy and a service that pick different ones can be played against each other.',
    grounds: [clause('auth.usage')],
    applies: [inAuthorizationField],
    uses: [credential.rightThenWrong, credential.wrongThenRight],
    async observe({ probe }) {
      const rightFirst = (await probe(credential.rightThenWrong)).response.status;
      const wrongFirst = (await probe(credential.wrongThenRight)).response.status;
      return {
        seen: { rightFirst, wrongFirst },
        note: `the right one first: ${rightFirst}, the wrong one first: ${wrongFirst}`,
      };
    },
  }),

  // The sample shows a bearer key, the scheme has three credentials: which of the two opens is found out.
  observation('auth.schemes', {
    title: 'accepts the key, a signature by the application, or both',
    why: 'The documents leave open which of them a client needs.',
    grounds: [clause('auth.usage')],
    applies: [keyAndApp],
    uses: [sample, signedInstead],
    async observe({
      probe,
      service: {
        credentials: { scheme },
      },
    }) {
      const byKey = (await probe(sample)).served;
      const signed = (await probe(signedInstead)).served;
      const told = (served: boolean) => (served ? 'served' : 'refused');
      return {
        seen: { [scheme.name]: byKey, signed },
        note: `${scheme.name}: ${told(byKey)}, signed: ${told(signed)}`,
      };
    },
  }),
];

/** Every refusal is paired with the sample: the same request with the right credential must be served. */
export const auth = suite('auth', 'Authentication', [
  ...badCredentials,
  ...tokens,
  ...waysAround,
  ...browsers,
  ...refusalsThemselves,
  ...keyPlaces,
  ...signatures,
  ...tokenEndpoint,
]);
