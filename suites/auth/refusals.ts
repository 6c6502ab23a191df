import {
  check,
  clause,
  credentialed,
  inAuthorizationField,
  jsonErrors,
  keyInOwnField,
  observation,
  practice,
  rfc,
  rfc9110,
  rfc9111,
  secondKey,
} from '../../harness/engine/check/suite.ts';
import { errorBodyPresent, errorMediaType } from '../json/json.suite.ts';
import { everyExchange, everyRefusal } from '../stimuli/record.ts';
import { sample, sampleAgain } from '../stimuli/sample.ts';
import { unknownPath } from '../stimuli/target.ts';
import { refusalClass, secondKeyServed } from './bad-credentials.ts';
import * as credential from './stimuli/credential.ts';
import { addressFault, metadataAddress, metadataFault, resourceMetadata } from './stimuli/credential.ts';

// RFC 9110 §11.6.1: a 401 carries WWW-Authenticate with at least one challenge.
export const challenge = check('auth.challenge', {
  title: 'sends a well-formed WWW-Authenticate header with 401',
  headline: 'The WWW-Authenticate header of a 401 is not valid: {got}',
  why: 'Clients learn from this header how to sign in. Without it, libraries and browsers give up or never ask for a password.',
  change: 'Add WWW-Authenticate with your scheme to every 401, for example: Bearer realm="api".',
  grounds: [rfc9110('11.6.1', 'MUST')],
  applies: [credentialed],
  uses: [everyExchange],
  judge: ({ expect }) =>
    expect()
      .where(({ response }) => response.status === 401, 'no request was answered 401')
      .toConform('WWW-Authenticate with a challenge', ({ response }) => response.challengeFault),
});

/** What a refusal of a credential says, and what it gives away. */
export const refusalsThemselves = [
  refusalClass,

  challenge,

  // RFC 9110 §15.5.2 asks for a challenge that is applicable; a service may take schemes that nobody configured here.
  check('auth.challenge-scheme', {
    title: 'names in WWW-Authenticate the scheme that it accepts',
    headline: 'WWW-Authenticate names another scheme than the API accepts: {got}',
    why: 'A client that follows the header signs in with a scheme that does not work here.',
    change: 'Name the scheme that the API accepts in WWW-Authenticate.',
    grounds: [practice('a challenge that the client can meet')],
    applies: [inAuthorizationField],
    restsOn: [challenge],
    uses: [credential.withoutCredential],
    judge({ expect, service: { credentials } }) {
      const wanted = credentials.carrier?.word?.toLowerCase() ?? '';
      return expect()
        .where(({ response }) => response.challenges.challenges.length > 0, 'there is no challenge')
        .toConform(`a challenge of the scheme ${wanted}`, ({ response }) => {
          const offered = response.challenges.challenges.map(({ scheme }) => scheme.toLowerCase());
          return offered.includes(wanted) ? null : offered.join(', ');
        });
    },
  }),

  // RFC 6750 §3 and RFC 7617 §2: Bearer comes with a parameter, Basic with a realm.
  check('auth.challenge-parameters', {
    title: 'gives each scheme in WWW-Authenticate the parameters that it needs',
    headline: 'WWW-Authenticate lacks a parameter: {got}',
    why: 'Libraries that look for realm reject the header, and then never ask for a token or a password.',
    change: 'Add the parameters of the scheme, realm above all: Basic realm="api".',
    grounds: [practice('RFC 6750 §3, RFC 7617 §2')],
    applies: [credentialed],
    restsOn: [challenge],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('www-authenticate'), 'no response has WWW-Authenticate')
        .toConform(
          'challenges with their parameters',
          ({ response }) => response.challenges.cautions[0] ?? null,
        ),
  }),

  // RFC 6750 §3.1: an error code is about a credential; to a request that has none it should not be told.
  check('auth.challenge-error', {
    title: 'gives no error code in WWW-Authenticate to a request without a credential',
    headline: 'A request that carried no token is told {got}',
    why: 'The client throws a good token away or fetches a new one, when it only forgot to send it.',
    change: 'Leave error out of WWW-Authenticate when the request had no token.',
    grounds: [practice('RFC 6750 §3.1')],
    applies: [inAuthorizationField],
    uses: [credential.withoutCredential],
    judge: ({ expect }) =>
      expect().toConform('a challenge without an error code', ({ response: { bearerError } }) =>
        bearerError === null ? null : `error="${bearerError}"`,
      ),
  }),

  // RFC 9728 §5.1 and §3: the address of the metadata is an https URL.
  check('auth.metadata-address', {
    title: 'names its metadata by an absolute https URL',
    headline: 'The challenge names metadata by a wrong address: {got}',
    why: 'Clients that find their way to a token by this address give up.',
    change: 'Put the whole https URL of the metadata into resource_metadata.',
    grounds: [rfc(9728, '5.1', 'MUST')],
    applies: [credentialed],
    uses: [metadataAddress, credential.withoutCredential],
    async judge({ probe, expect }) {
      const fault = addressFault(await probe(metadataAddress));
      await expect(credential.withoutCredential).toConform('an absolute https URL', () => fault);
    },
  }),

  // RFC 9728 §3.2: 200 and JSON; §3.3: of this very resource.
  check('auth.resource-metadata', {
    title: 'serves the metadata that its challenge names, for anybody and about itself',
    headline: 'The metadata that the challenge names are not there or wrong: {got}',
    why: 'Clients look there for the server that issues tokens. They refuse metadata about another resource.',
    change: 'Serve the metadata as JSON without a credential, with the URL of this service as resource.',
    grounds: [rfc(9728, '3.2', 'MUST'), rfc(9728, '3.3', 'MUST')],
    applies: [credentialed],
    uses: [resourceMetadata],
    judge: ({ expect }) => expect().toConform('metadata about this service', metadataFault),
  }),

  check('auth.refusal-json', {
    title: 'refuses a credential with a JSON body, like its other errors',
    headline: 'The refusal of a credential is not JSON: {got}',
    why: 'A client that reads every error as JSON fails on the one that it meets first.',
    change: 'Send 401 and 403 in the JSON form of your other errors, also where a gateway answers.',
    grounds: [clause('errors.format')],
    applies: [credentialed, jsonErrors],
    restsOn: [errorMediaType, errorBodyPresent],
    uses: [everyRefusal],
    judge: ({ expect }) => expect().toBeJson(),
  }),

  // Answers are logged and shown to others. The one to TRACE has a check of its own.
  check('auth.key-not-echoed', {
    title: 'never sends a key, or part of one, back',
    headline: 'A response gives away a key that it was sent: {got}',
    why: 'Responses end up in logs, error trackers and screenshots, and the key with them.',
    change: 'Leave the received key out of error texts and headers. Name the problem instead.',
    grounds: [practice('OWASP API8:2023')],
    applies: [credentialed],
    uses: [everyExchange],
    async judge({ service, probe, expect }) {
      const { secret } = service.credentials;
      // A key that is an ordinary word, and stands as well where it was not sent, was not sent back.
      const unsent = (await probe(everyExchange)).all.filter(
        ({ exchange }) => exchange.credential === 'none',
      );
      const places = unsent.flatMap(({ response }) => response.secretPlaces);
      const isLeak = ({ name, part }: (typeof places)[number]) =>
        !part && secret?.name === name && secret.isUnmistakable;
      const words = new Set(places.filter((place) => !isLeak(place)).map(({ name }) => name));
      await expect()
        .where(({ exchange }) => exchange.request.method !== 'TRACE')
        .where(({ response }) => response.secretPlaces.every(({ name }) => !words.has(name)))
        .toHoldNoCredential();
    },
  }),

  // RFC 9111 §3.5: only `public`, `s-maxage` or `must-revalidate` let a shared cache reuse an answer to Authorization.
  check('auth.private-answer', {
    title: 'does not let shared caches give the answer to one user to others',
    headline: 'A shared cache may give this answer to other users: {got}',
    why: 'A proxy or a CDN then shows the data of one customer to the next.',
    change: 'Send Cache-Control: private, or no-store, with answers that need a credential.',
    grounds: [rfc9111('3.5', 'SHOULD'), practice('OWASP API8:2023')],
    applies: [credentialed],
    uses: [sample],
    judge: ({ expect }) =>
      expect().toConform('an answer for its holder alone', ({ response }) =>
        response.cacheControl.sharesAuthorised ? `Cache-Control: ${response.field('cache-control')}` : null,
      ),
  }),

  // Caches guard Authorization alone: to them a key in a field of its own is a field that Vary may name or not.
  check('auth.private-key-answer', {
    title: 'does not let shared caches give to others what a key in its own header has opened',
    headline: 'A cache that does not know the header of the key may share the answer: {got}',
    why: 'Caches protect answers to Authorization alone. What another header has opened they give to anyone.',
    change: 'Send Cache-Control: private or no-store, or name the header of the key in Vary.',
    grounds: [practice('OWASP API8:2023')],
    applies: [keyInOwnField],
    uses: [sample],
    judge({ expect, service: { credentials } }) {
      const keyFields = [credentials.carrier?.name?.toLowerCase(), '*'];
      const wanted = 'an answer that is not fresh for everybody, or the field of the key in Vary';
      return expect().toConform(wanted, ({ response }) => {
        const varies = response.vary.some((name) => keyFields.includes(name));
        const shared = response.cacheControl.sharesUnguarded && !varies;
        return shared ? `Cache-Control: ${response.field('cache-control')}` : null;
      });
    },
  }),

  // RFC 9111 §3.5: what Authorization has opened is not reused for others; a request id is of one answer alone.
  check('auth.answer-of-another', {
    title: 'gives no client the answer that was made for another',
    headline: 'A client gets the answer that was made for another: {got}',
    why: 'One customer sees the data of the next.',
    change: 'Let caches in front of the service tell clients apart, or keep them from storing such answers.',
    grounds: [rfc9111('3.5', 'MUST')],
    applies: [secondKey, inAuthorizationField],
    restsOn: [secondKeyServed],
    uses: [sample, sampleAgain, unknownPath, credential.secondKeySample],
    async judge({ probe, expect, notApplicable }) {
      const mine = await probe(sample);
      const { requestId, cacheControl } = mine.response;
      if (requestId === null) return notApplicable('its answers have no request id to be told apart by');
      // Where a cache has kept the first answer for everybody, the second one is that as well; an error is not.
      const others = [await probe(sampleAgain), await probe(unknownPath)];
      if (others.every(({ response }) => response.requestId?.value === requestId.value))
        return notApplicable('its request ids tell no answer from another');
      if (cacheControl.sharesAuthorised) notApplicable('the answer says itself that caches may share it');
      await expect(credential.secondKeySample).toConform('an answer of its own', ({ response }) =>
        response.requestId?.value === requestId.value
          ? `the request id ${requestId.field} of the first`
          : null,
      );
    },
  }),

  // A refusal that a cache keeps outlives its reason.
  check('auth.refusal-not-cached', {
    title: 'does not let caches keep a refusal',
    headline: 'A cache may keep the refusal of a credential: {got}',
    why: 'A client that has corrected its key still gets the old refusal.',
    change: 'Send Cache-Control: no-store with 401 and 403.',
    grounds: [practice('OWASP API8:2023')],
    applies: [credentialed],
    uses: [everyRefusal],
    judge: ({ expect }) => expect().toBeUncacheable(),
  }),

  // errors.codes does not show which status belongs to which fault.
  observation('auth.refusal-status', {
    title: 'has a status for each kind of bad credential',
    why: 'By the status a client decides whether to renew its key or to give up.',
    grounds: [clause('errors.codes')],
    applies: [credentialed],
    records: 'auth.refusal',
    uses: [
      credential.withoutCredential,
      credential.wrongCredential,
      credential.emptyCredential,
      credential.oversizedCredential,
    ],
    async observe({ probe }) {
      const missing = (await probe(credential.withoutCredential)).response.status;
      const wrong = (await probe(credential.wrongCredential)).response.status;
      const empty = (await probe(credential.emptyCredential)).response.status;
      const oversized = (await probe(credential.oversizedCredential)).response.status;
      return {
        seen: { missing, wrong, empty, oversized },
        note: `missing ${missing}, wrong ${wrong}, empty ${empty}, oversized ${oversized}`,
      };
    },
  }),
];
