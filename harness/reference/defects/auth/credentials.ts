import { createHmac, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../../base/json-text.ts';
import { type Defect, EVERY, REST, tableOf } from '../../behavior/deviation.ts';
import { isPlain } from '../../behavior/patches/instances.ts';
import { isPreflight } from '../../behavior/patches/pages.ts';
import { admitting, matchingKeys, onAuthentication } from '../../behavior/patches/parts.ts';
import {
  aroundHandling,
  beforehand,
  onAnswer,
  onFinished,
  type Patch,
} from '../../behavior/patches/patch.ts';
import { allowingOrigin, METADATA_PATH, namingMetadata } from '../../behavior/patches/requests.ts';
import { bare, CREDENTIAL_REFUSALS, type HttpAnswer, problem } from '../../http/answer.ts';
import { asProblem, failed, having, holding, withContent } from '../../http/answer-changes.ts';
import { fieldValue, queryParameters, type ReceivedRequest, sending, withField } from '../../http/message.ts';

const takingFor = (...values: readonly string[]): Patch =>
  matchingKeys((presented) => values.includes(presented));

const lastOf = (text: string): string => text.slice(-8);

interface PresentedToken {
  readonly header: JsonObject;
  readonly claims: string;
  readonly input: string;
  readonly signature: string;
}

function presentedToken(text: string): PresentedToken | null {
  const [header = '', claims = '', signature, ...more] = text.split('.');
  const head = parseJsonObject(Buffer.from(header, 'base64url').toString('utf8'));
  if (head === null || signature === undefined || more.length > 0) return null;
  return { header: head, claims, input: `${header}.${claims}`, signature };
}

/** Lets a token in that says what the right one says, where its signature is good enough. */
const trustingTokens = (trusts: (token: PresentedToken, known: PresentedToken) => boolean): Patch =>
  matchingKeys((presented, key) => {
    const [token, known] = [presentedToken(presented), presentedToken(key)];
    return token !== null && known !== null && trusts(token, known);
  });

function isSelfCertified({ header: { jwk }, input, signature }: PresentedToken): boolean {
  if (!isJsonObject(jwk)) return false;
  const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
  const octets = Buffer.from(signature, 'base64url');
  return verify(null, Buffer.from(input), key, octets);
}

/** Without a credential, of which a field of the request says enough. */
const trustingField = (name: string): Patch =>
  admitting((request, reason) => reason === 'missing' && sending(name)(request));

const forHolder = (request: ReceivedRequest, key: string): ReceivedRequest =>
  withField({ ...request, method: 'GET' }, 'Authorization', `Bearer ${key}`);

const TOKEN = { setting: 'token', services: ['search'] } as const;

/** What the service takes for a credential, or says to those who have none, that it should not. */
export const CREDENTIAL_DEFECTS = [
  ...tableOf<Defect>(EVERY, {
    'accepts-null-key': {
      cause: 'The text null opens the API',
      fails: ['auth.placeholder-credential'],
      patch: takingFor('null'),
    },
    'accepts-undefined-key': {
      cause: 'The text undefined opens the API',
      fails: ['auth.placeholder-credential'],
      patch: takingFor('undefined'),
    },
    'accepts-template-key': {
      cause: 'A placeholder that nobody filled in opens the API',
      fails: ['auth.placeholder-credential'],
      patch: takingFor('{token}'),
    },
    'accepts-wildcard-key': {
      cause: 'A star opens the API',
      fails: ['auth.placeholder-credential'],
      patch: takingFor('*'),
    },
    'null-key-is-500': {
      cause: 'The text null in place of a key is answered {status:500}, a server error',
      fails: ['auth.placeholder-credential'],
      patch: onAnswer('wrong-credential', failed, ({ fields, query }) =>
        [...fields.map(([, value]) => value), ...queryParameters(query).values()].some((value) =>
          /(?:^| )null$/.test(value),
        ),
      ),
    },
    'key-open-to-injection': {
      cause: 'A piece of SQL in place of the key opens the API',
      fails: ['auth.injected-credential'],
      patch: matchingKeys((presented) => /' or '1'='1/i.test(presented)),
    },
    'accepts-key-of-same-length': {
      cause: 'Another key of the same length and with the same end opens the API',
      fails: ['auth.altered-credential'],
      patch: matchingKeys(
        (presented, key) => presented.length === key.length && lastOf(presented) === lastOf(key),
      ),
    },
    'accepts-key-within-other-text': {
      cause: 'The key opens with something before it, too',
      fails: ['auth.prefixed-credential'],
      patch: matchingKeys((presented, key) => presented.endsWith(key)),
    },
    'ignores-user-name': {
      setting: 'basic',
      services: ['search'],
      cause: 'The right password opens the API for any user',
      fails: ['auth.other-user'],
      patch: matchingKeys((presented, key) => presented.split(':')[1] === key.split(':')[1]),
    },
    'accepts-unsecured-token': {
      ...TOKEN,
      cause: 'A token with the algorithm none is accepted',
      fails: ['auth.unsigned-token'],
      patch: trustingTokens(({ header, claims }, known) => header.alg === 'none' && claims === known.claims),
    },
    'accepts-token-without-signature': {
      ...TOKEN,
      cause: 'A token whose signature was taken away is accepted',
      fails: ['auth.unsigned-token'],
      patch: trustingTokens(({ input, signature }, known) => signature === '' && input === known.input),
    },
    'decodes-tokens-only': {
      ...TOKEN,
      // RFC 7519 §7.2
      cause: 'A token is accepted whatever its claims and its signature are',
      fails: ['auth.changed-token'],
      alsoFails: { 'auth.truncated-credential': 'whatever looks like a token opens' },
      patch: matchingKeys((presented) => presentedToken(presented) !== null),
    },
    'accepts-changed-claims': {
      ...TOKEN,
      cause: 'A token with changed claims is accepted under the old signature',
      fails: ['auth.changed-token'],
      patch: trustingTokens(
        ({ header, signature }, known) => signature === known.signature && header.alg === known.header.alg,
      ),
    },
    'signs-tokens-with-guessable-secret': {
      ...TOKEN,
      cause: 'A token that was signed with the word secret is accepted',
      fails: ['auth.guessed-token'],
      patch: trustingTokens(
        ({ input, signature }) =>
          signature === createHmac('sha256', 'secret').update(input).digest('base64url'),
      ),
    },
    'trusts-key-in-token': {
      ...TOKEN,
      cause: 'A token that brings its own key along is accepted',
      fails: ['auth.self-certified-token'],
      patch: trustingTokens(isSelfCertified),
    },
    'accepts-expired-token': {
      setting: 'expired token',
      services: ['search'],
      cause: 'A token is accepted long after it has expired',
      fails: ['auth.expired-token'],
      patch: (behavior) => behavior,
    },
    'trusts-forwarded-user': {
      cause: 'A request without a credential is served when X-Forwarded-User names a user',
      fails: ['auth.claimed-identity'],
      patch: trustingField('x-forwarded-user'),
    },
    'trusts-user-id': {
      cause: 'A request without a credential is served when X-User-Id names a user',
      fails: ['auth.claimed-identity'],
      patch: trustingField('x-user-id'),
    },
    'trusts-internal-flag': {
      cause: 'A request without a credential is served when a header calls it internal',
      fails: ['auth.claimed-identity'],
      patch: trustingField('x-internal-request'),
    },
    'trusts-client-certificate-field': {
      cause: 'A request without a credential is served when a header says that its certificate was verified',
      fails: ['auth.claimed-identity'],
      patch: admitting(sending('x-ssl-client-verify', /^SUCCESS$/)),
    },
    'any-api-key-field-opens': {
      cause: 'Any value in X-API-Key opens the API',
      fails: ['auth.wrong-key-elsewhere'],
      patch: trustingField('x-api-key'),
    },
    'any-session-cookie-opens': {
      cause: 'Any session cookie opens the API',
      fails: ['auth.wrong-key-elsewhere'],
      patch: admitting(sending('cookie', /\bsession=./)),
    },
    'any-token-parameter-opens': {
      cause: 'Any token in the query opens the API',
      fails: ['auth.wrong-key-elsewhere'],
      patch: admitting(({ query }) => /^conform/.test(queryParameters(query).get('access_token') ?? '')),
    },
    'compares-validators-before-auth': {
      services: REST.services,
      cause: 'A request without a credential is answered {status:304} when its ETag is right',
      fails: ['auth.conditional'],
      patch: onAnswer(
        'unauthenticated',
        (answer) => ({ ...answer, status: 304, fields: [], body: Buffer.alloc(0) }),
        sending('if-none-match'),
      ),
    },
    'field-names-in-one-case': {
      cause: 'The header of the key is not found in another letter case',
      fails: ['auth.credential-spacing'],
      patch: onAuthentication((request, access, authenticate) => {
        const fields = request.fields.filter(([name]) => !/^(?:authorization|x-api-key)$/.test(name));
        return authenticate({ ...request, fields }, access);
      }),
    },
    'splits-at-one-space': {
      cause: 'Several spaces behind the scheme name are answered {status:401}',
      fails: ['auth.scheme-spacing'],
      patch: onAuthentication((request, access, authenticate) =>
        sending('authorization', /^\w+ {2}/)(request)
          ? { admitted: false, reason: 'wrong' }
          : authenticate(request, access),
      ),
    },
    'preflight-is-401': {
      cause: 'The preflight of a page that may call is answered {status:401}',
      fails: ['auth.preflight'],
      patch: onAnswer('served', having('Access-Control-Allow-Origin', '*')),
    },
    'preflight-forgets-credential-field': {
      cause: 'The preflight does not allow the header of the credential',
      fails: ['auth.preflight'],
      patch: allowingOrigin(() => '*', 'Content-Type'),
    },
    'preflight-reflects-any-origin': {
      cause: 'The preflight allows credentials to pages of every origin',
      fails: ['auth.foreign-origin'],
      patch: beforehand((request) =>
        isPreflight(request)
          ? bare('options', 204, [
              ['Access-Control-Allow-Origin', fieldValue(request, 'origin') ?? '*'],
              ['Access-Control-Allow-Credentials', 'true'],
              ['Access-Control-Allow-Headers', 'authorization, x-api-key'],
            ])
          : null,
      ),
    },
  }),

  ...tableOf<Defect>(REST, {
    'refusal-carries-content': {
      cause: 'The 401 carries the data that it refuses',
      fails: ['auth.content-withheld'],
      patch: aroundHandling(async (request, next, kernel) => {
        const answer = await next(request, kernel);
        const key = kernel.access.keys[0]?.value;
        if (answer.responseKind !== 'unauthenticated' || key === undefined) return answer;
        const { body } = await next(forHolder(request, key), kernel);
        return withContent(answer, 'application/json', body);
      }),
    },
    'preflight-carries-content': {
      cause: 'The answer to a preflight carries the data that the key should open',
      fails: ['auth.content-withheld'],
      patch: aroundHandling((request, next, kernel) => {
        const key = kernel.access.keys[0]?.value;
        return next(isPreflight(request) && key !== undefined ? forHolder(request, key) : request, kernel);
      }),
    },
    'answers-from-another-account': {
      cause: 'One client gets the answer that was made for another',
      fails: ['auth.answer-of-another'],
      patch: (behavior) => {
        const kept = new Map<string, { readonly answer: HttpAnswer; readonly owner: string | undefined }>();
        return onFinished('served', (answer, request) => {
          const owner = fieldValue(request, 'authorization');
          const first = kept.get(request.target);
          if (first === undefined) kept.set(request.target, { answer, owner });
          return first === undefined ||
            first.owner?.toLowerCase() === owner?.toLowerCase() ||
            request.method !== 'GET'
            ? answer
            : first.answer;
        })(behavior);
      },
    },
    'cache-by-address-alone': {
      cause: 'A cache gives every client the answer that was made for the first',
      fails: ['auth.answer-of-another'],
      patch: (behavior) => {
        const kept = new Map<string, HttpAnswer>();
        return onFinished('served', (answer, request) => {
          if (!isPlain(request)) return answer;
          const first = kept.get(request.target) ?? answer;
          kept.set(request.target, first);
          return first;
        })(behavior);
      },
    },
    'metadata-address-is-relative': {
      cause: 'The challenge names metadata by a path alone',
      fails: ['auth.metadata-address'],
      patch: onAnswer(
        CREDENTIAL_REFUSALS,
        having('WWW-Authenticate', `Bearer realm="api", resource_metadata="${METADATA_PATH}"`),
      ),
    },
    'metadata-missing': {
      cause: 'The metadata that the challenge names are answered {status:404}',
      fails: ['auth.resource-metadata'],
      patch: namingMetadata(() => problem('not-found')),
    },
    'metadata-behind-credential': {
      // RFC 9728 §3.1
      cause: 'The metadata that the challenge names are answered {status:403}',
      fails: ['auth.resource-metadata'],
      patch: namingMetadata(asProblem(403)),
    },
    'metadata-of-another-resource': {
      cause: 'The metadata are about another resource',
      fails: ['auth.resource-metadata'],
      patch: namingMetadata(holding('{"resource":"https://other.example/"}')),
    },
  }),
];
