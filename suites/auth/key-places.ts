import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { inAuthorizationField, keyAndApp, keyed, keyInField } from '../../harness/check/requirement.ts';
import { clause, practice } from '../../harness/contract/ground.ts';
import * as credential from '../../harness/probe/request/credential.ts';
import { fieldsTaken, parametersTaken } from '../../harness/probe/request/key-place.ts';
import { sample } from '../../harness/probe/request/sample.ts';
import { signedInstead } from '../../harness/probe/request/signature.ts';

/** Where else the credential is taken from: the documents leave header or query open. */
export const keyPlaces: readonly CheckDefinition[] = [
  observation(
    'auth.location',
    {
      title: 'takes the key from header fields or query parameters beside the configured place',
      grounds: [clause('auth.credential-name')],
      applies: [keyed],
      shownBy: ['accepts-key-in-query'],
    },
    async ({ probe, observe, note, service: { credentials } }) => {
      const { scheme, carrier } = credentials;
      const configured = carrier?.word === null ? `${scheme.name} ${carrier.name}` : scheme.name;
      const { accepted: parameters } = await probe(parametersTaken);
      const { accepted: fields } = await probe(fieldsTaken);
      observe('auth.location', { configured, parameters, fields });
      const others = [...parameters.map((name) => `query ${name}`), ...fields.map((name) => `field ${name}`)];
      note(others.length === 0 ? `${configured} only` : `${configured}, also ${others.join(', ')}`);
    },
  ),

  // Queries end up in logs, histories and Referer fields.
  check(
    'auth.key-in-query',
    {
      title: 'does not take the key from the query where the header works',
      grounds: [practice('OWASP API2:2023')],
      applies: [keyInField],
      provenBy: ['accepts-key-in-query'],
    },
    async ({ probe, violated }) => {
      const { reply, accepted } = await probe(parametersTaken);
      if (!reply.served) return;
      const where = accepted.length === 0 ? 'one of several parameters' : accepted.join(', ');
      violated(
        `expected the key to open from the header alone, got it served in the query as well, as ${where}`,
        reply.evidence,
      );
    },
  ),

  observation(
    'auth.two-credentials',
    {
      title: 'answers two Authorization fields in some orderly way',
      grounds: [clause('auth.usage')],
      applies: [inAuthorizationField],
      shownBy: ['first-credential-wins'],
    },
    async ({ probe, observe, note }) => {
      const rightFirst = (await probe(credential.rightThenWrong)).response.status;
      const wrongFirst = (await probe(credential.wrongThenRight)).response.status;
      observe('auth.two-credentials', { rightFirst, wrongFirst });
      note(`the right one first: ${rightFirst}, the wrong one first: ${wrongFirst}`);
    },
  ),

  // The sample shows a bearer key, the scheme has three credentials: which of the two opens is found out.
  observation(
    'auth.schemes',
    {
      title: 'takes the key, a signature by the application, or both',
      grounds: [clause('auth.usage')],
      applies: [keyAndApp],
      shownBy: ['bearer-only'],
    },
    async ({ probe, observe, note, service: { credentials } }) => {
      const byKey = (await probe(sample)).served;
      const bySignature = (await probe(signedInstead)).served;
      observe('auth.schemes', { [credentials.scheme.name]: byKey, signed: bySignature });
      note(
        `${credentials.scheme.name}: ${byKey ? 'served' : 'refused'}, signed: ${bySignature ? 'served' : 'refused'}`,
      );
    },
  ),
];
