import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { THROUGHOUT } from '../../harness/check/reading.ts';
import { credentialed, inAuthorizationField, keyInOwnField } from '../../harness/check/requirement.ts';
import { clause, practice, rfc9110, rfc9111 } from '../../harness/contract/ground.ts';
import type { Reply } from '../../harness/evidence/exchange/reply.ts';
import { visible } from '../../harness/evidence/octets/visible.ts';
import { everyReply, refusals } from '../../harness/probe/gathered.ts';
import * as credential from '../../harness/probe/request/credential.ts';
import { sample } from '../../harness/probe/request/sample.ts';

/** What a refusal of a credential says, and what it gives away. */
export const refusalsThemselves: readonly CheckDefinition[] = [
  check(
    'auth.refusal-class',
    {
      title: 'answers a bad credential with a client error: never 2xx, a redirect or 5xx',
      grounds: [clause('auth.scheme'), clause('responses.status-codes')],
      applies: [credentialed],
      provenBy: ['refusal-is-500', 'refusal-redirects-to-login', 'refusal-is-200'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(refusals))).toHaveStatusClass(4);
    },
  ),

  // RFC 9110 §11.6.1: a 401 carries WWW-Authenticate with at least one challenge.
  check(
    'auth.challenge',
    {
      title: 'sends a well-formed challenge with 401',
      grounds: [rfc9110('11.6.1', 'MUST')],
      applies: [credentialed],
      provenBy: ['refusal-without-challenge', 'malformed-challenge'],
    },
    async ({ probe, expect, notApplicable }) => {
      const unauthorised = (await probe(refusals)).filter(({ response }) => response.status === 401);
      if (unauthorised.length === 0) return notApplicable('no request was answered 401');
      expect(...unauthorised).toConform('WWW-Authenticate with a challenge', ({ response }) => {
        const { challenges, faults } = response.challenges;
        return faults[0] ?? (challenges.length > 0 ? null : 'none');
      });
    },
  ),

  // RFC 9110 §15.5.2 asks for a challenge that is applicable; a service may take schemes that nobody configured here.
  check(
    'auth.challenge-scheme',
    {
      title: 'challenges for the scheme that it takes',
      grounds: [practice('a challenge that the client can meet')],
      applies: [inAuthorizationField],
      provenBy: ['challenge-names-other-scheme'],
    },
    async ({ probe, expect, service, notApplicable }) => {
      const reply = await probe(credential.withoutCredential);
      const offered = reply.response.challenges.challenges.map(({ scheme }) => scheme.toLowerCase());
      if (offered.length === 0) return notApplicable('there is no challenge');
      const scheme = service.credentials.carrier?.word?.toLowerCase() ?? '';
      expect(reply).toConform(`a challenge of the scheme ${scheme}`, () =>
        offered.includes(scheme) ? null : offered.join(', '),
      );
    },
  ),

  // RFC 6750 §3 and RFC 7617 §2: Bearer comes with a parameter, Basic with a realm.
  check(
    'auth.challenge-parameters',
    {
      title: 'gives its challenges the parameters that their schemes ask for',
      grounds: [practice('RFC 6750 §3, RFC 7617 §2')],
      applies: [credentialed],
      provenBy: ['challenge-without-parameters'],
    },
    async ({ probe, expect }) => {
      expect(await probe(credential.withoutCredential)).toConform(
        'challenges with their parameters',
        ({ response }) => response.challenges.cautions[0] ?? null,
      );
    },
  ),

  // RFC 6750 §3.1: an error code is about a credential; to a request that has none it should not be told.
  check(
    'auth.challenge-error',
    {
      title: 'tells no error code in its challenge to a request without a credential',
      grounds: [practice('RFC 6750 §3.1')],
      applies: [inAuthorizationField],
      provenBy: ['challenge-error-without-credential'],
    },
    async ({ probe, expect }) => {
      expect(await probe(credential.withoutCredential)).toConform(
        'a challenge without an error code',
        ({ response: { bearerError } }) =>
          bearerError === null ? null : `error="${visible(bearerError, 60)}"`,
      );
    },
  ),

  check(
    'auth.refusal-json',
    {
      title: 'refuses with a JSON body, like its other errors',
      grounds: [clause('errors.format')],
      applies: [credentialed],
      provenBy: ['refusal-is-html', 'errors-are-plain-text'],
    },
    async ({ probe, expect }) => {
      const always = [await probe(credential.withoutCredential), await probe(credential.wrongCredential)];
      expect(...new Set([...always, ...forTheCredential(await probe(refusals))])).toBeJson();
    },
  ),

  check(
    'auth.key-not-echoed',
    {
      title: 'never sends a key, or part of one, back',
      grounds: [practice('OWASP API8:2023')],
      applies: [credentialed],
      provenBy: ['echoes-key-in-refusal', 'echoes-request-in-404'],
    },
    async ({ probe, expect }) => {
      // The answer to TRACE has a check of its own.
      const replies = (await probe(everyReply)).filter(({ exchange }) => exchange.request.method !== 'TRACE');
      expect(...replies).toConform(
        'no credential in the response',
        ({ response }) => {
          const place = response.credentialTrace;
          return place === null ? null : `one in ${place}`;
        },
        THROUGHOUT,
      );
    },
  ),

  // RFC 9111 §3.5: only `public`, `s-maxage` or `must-revalidate` let a shared cache reuse an answer to Authorization.
  check(
    'auth.private-answer',
    {
      title: 'does not let shared caches reuse an authorised answer',
      grounds: [rfc9111('3.5', 'SHOULD'), practice('OWASP API8:2023')],
      applies: [credentialed],
      provenBy: ['public-cache', 'shared-cache-by-must-revalidate'],
    },
    async ({ probe, expect }) => {
      expect(await probe(sample)).toConform('an answer for its holder alone', ({ response }) =>
        response.cacheControl.sharesAuthorised ? `Cache-Control: ${response.field('cache-control')}` : null,
      );
    },
  ),

  // Caches guard Authorization alone: to them a key in a field of its own is a field that Vary may name or not.
  check(
    'auth.private-key-answer',
    {
      title: 'does not let shared caches reuse for others what a key in a field of its own has opened',
      grounds: [practice('OWASP API8:2023')],
      applies: [keyInOwnField],
      provenBy: ['key-field-answer-cacheable'],
    },
    async ({ probe, expect, service: { credentials } }) => {
      const keyFields = [credentials.carrier?.name?.toLowerCase(), '*'];
      expect(await probe(sample)).toConform(
        'an answer that is not fresh for everybody, or the field of the key in Vary',
        ({ response }) => {
          const varies = response.vary.some((name) => keyFields.includes(name));
          const shared = response.cacheControl.sharesUnguarded && !varies;
          return shared ? `Cache-Control: ${response.field('cache-control')}` : null;
        },
      );
    },
  ),

  check(
    'auth.refusal-not-cached',
    {
      title: 'does not let a refusal be cached',
      grounds: [practice('OWASP API8:2023')],
      applies: [credentialed],
      provenBy: ['refusal-cacheable'],
    },
    async ({ probe, expect }) => {
      const always = [await probe(credential.withoutCredential), await probe(credential.wrongCredential)];
      expect(...new Set([...always, ...forTheCredential(await probe(refusals))])).toBeUncacheable();
    },
  ),

  observation(
    'auth.refusal-status',
    {
      title: 'refuses each kind of bad credential with one status',
      grounds: [clause('errors.codes')],
      applies: [credentialed],
      shownBy: ['refuses-403-for-wrong-key', 'wrong-key-is-500'],
    },
    async ({ probe, observe, note }) => {
      const missing = (await probe(credential.withoutCredential)).response.status;
      const wrong = (await probe(credential.wrongCredential)).response.status;
      const empty = (await probe(credential.emptyCredential)).response.status;
      const oversized = (await probe(credential.oversizedCredential)).response.status;
      observe('auth.refusal', { missing, wrong, empty, oversized });
      note(`missing ${missing}, wrong ${wrong}, empty ${empty}, oversized ${oversized}`);
    },
  ),
];

/** Whatever is refused as a bad request may have been refused by an HTTP server that knows no credentials. */
function forTheCredential(refused: readonly Reply[]): readonly Reply[] {
  return refused.filter(({ exchange }) => [401, 403].includes(exchange.response?.status ?? 0));
}
