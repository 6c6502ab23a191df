import {
  type CheckDefinition,
  check,
  clause,
  credentialed,
  inAuthorizationField,
  jsonErrors,
  keyInOwnField,
  observation,
  practice,
  rfc9110,
  rfc9111,
} from '../../harness/check/suite.ts';
import { refusals, refusalsForTheCredential, repliesThatMayEcho } from '../../harness/probe/every-reply.ts';
import * as credential from '../../harness/probe/request/credential.ts';
import { sample } from '../../harness/probe/request/sample.ts';
import { errorBodyPresent, errorMediaType } from '../json.suite.ts';
import { refusalClass } from './bad-credentials.ts';

// RFC 9110 §11.6.1: a 401 carries WWW-Authenticate with at least one challenge.
const challenge = check('auth.challenge', {
  title: 'sends a well-formed challenge with 401',
  grounds: [rfc9110('11.6.1', 'MUST')],
  applies: [credentialed],
  judge: ({ expect }) =>
    expect(refusals)
      .where(({ response }) => response.status === 401, 'no request was answered 401')
      .toConform('WWW-Authenticate with a challenge', ({ response }) => response.challengeFault),
});

/** What a refusal of a credential says, and what it gives away. */
export const refusalsThemselves: readonly CheckDefinition[] = [
  refusalClass,

  challenge,

  // RFC 9110 §15.5.2 asks for a challenge that is applicable; a service may take schemes that nobody configured here.
  check('auth.challenge-scheme', {
    title: 'challenges for the scheme that it takes',
    grounds: [practice('a challenge that the client can meet')],
    applies: [inAuthorizationField],
    judge({ expect, service: { credentials } }) {
      const wanted = credentials.carrier?.word?.toLowerCase() ?? '';
      return expect(credential.withoutCredential)
        .where(({ response }) => response.challenges.challenges.length > 0, 'there is no challenge')
        .toConform(`a challenge of the scheme ${wanted}`, ({ response }) => {
          const offered = response.challenges.challenges.map(({ scheme }) => scheme.toLowerCase());
          return offered.includes(wanted) ? null : offered.join(', ');
        });
    },
  }),

  // RFC 6750 §3 and RFC 7617 §2: Bearer comes with a parameter, Basic with a realm.
  check('auth.challenge-parameters', {
    title: 'gives its challenges the parameters that their schemes ask for',
    grounds: [practice('RFC 6750 §3, RFC 7617 §2')],
    applies: [credentialed],
    restsOn: [challenge],
    judge: ({ expect }) =>
      expect(credential.withoutCredential).toConform(
        'challenges with their parameters',
        ({ response }) => response.challenges.cautions[0] ?? null,
      ),
  }),

  // RFC 6750 §3.1: an error code is about a credential; to a request that has none it should not be told.
  check('auth.challenge-error', {
    title: 'tells no error code in its challenge to a request without a credential',
    grounds: [practice('RFC 6750 §3.1')],
    applies: [inAuthorizationField],
    judge: ({ expect }) =>
      expect(credential.withoutCredential).toConform(
        'a challenge without an error code',
        ({ response: { bearerError } }) => (bearerError === null ? null : `error="${bearerError}"`),
      ),
  }),

  // errors.format: a refusal is an error like others.
  check('auth.refusal-json', {
    title: 'refuses with a JSON body, like its other errors',
    grounds: [clause('errors.format')],
    applies: [credentialed, jsonErrors],
    restsOn: [errorMediaType, errorBodyPresent],
    judge: ({ expect }) => expect(refusalsForTheCredential).toBeJson(),
  }),

  // Answers are logged and shown to others. The one to TRACE has a check of its own.
  check('auth.key-not-echoed', {
    title: 'never sends a key, or part of one, back',
    grounds: [practice('OWASP API8:2023')],
    applies: [credentialed],
    judge: ({ expect }) =>
      expect(repliesThatMayEcho)
        .where(({ exchange }) => exchange.request.method !== 'TRACE')
        .toHoldNoCredential(),
  }),

  // RFC 9111 §3.5: only `public`, `s-maxage` or `must-revalidate` let a shared cache reuse an answer to Authorization.
  check('auth.private-answer', {
    title: 'does not let shared caches reuse an authorised answer',
    grounds: [rfc9111('3.5', 'SHOULD'), practice('OWASP API8:2023')],
    applies: [credentialed],
    judge: ({ expect }) =>
      expect(sample).toConform('an answer for its holder alone', ({ response }) =>
        response.cacheControl.sharesAuthorised ? `Cache-Control: ${response.field('cache-control')}` : null,
      ),
  }),

  // Caches guard Authorization alone: to them a key in a field of its own is a field that Vary may name or not.
  check('auth.private-key-answer', {
    title: 'does not let shared caches reuse for others what a key in a field of its own has opened',
    grounds: [practice('OWASP API8:2023')],
    applies: [keyInOwnField],
    judge({ expect, service: { credentials } }) {
      const keyFields = [credentials.carrier?.name?.toLowerCase(), '*'];
      const wanted = 'an answer that is not fresh for everybody, or the field of the key in Vary';
      return expect(sample).toConform(wanted, ({ response }) => {
        const varies = response.vary.some((name) => keyFields.includes(name));
        const shared = response.cacheControl.sharesUnguarded && !varies;
        return shared ? `Cache-Control: ${response.field('cache-control')}` : null;
      });
    },
  }),

  // A refusal that a cache keeps outlives its reason.
  check('auth.refusal-not-cached', {
    title: 'does not let a refusal be cached',
    grounds: [practice('OWASP API8:2023')],
    applies: [credentialed],
    judge: ({ expect }) => expect(refusalsForTheCredential).toBeUncacheable(),
  }),

  // errors.codes does not show which status belongs to which fault.
  observation('auth.refusal-status', {
    title: 'refuses each kind of bad credential with one status',
    grounds: [clause('errors.codes')],
    applies: [credentialed],
    records: 'auth.refusal',
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
