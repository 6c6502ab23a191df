import { check, clause, credentialed, practice } from '../../harness/engine/check/suite.ts';
import { everyExchange } from '../stimuli/record.ts';
import { sample } from '../stimuli/sample.ts';
import { unknownPath } from '../stimuli/target.ts';
import { missingCredential } from './bad-credentials.ts';
import { FOREIGN_ORIGIN, foreignOrigin, preflight } from './stimuli/credential.ts';

/** What pages of other origins get, and what a request gets that no credential opens. */
export const browsers = [
  // A repeated Origin together with credentials lets any page use what the browser holds; with a wildcard a browser
  // refuses it (Fetch §3.3.5, CORS check).
  check('auth.foreign-origin', {
    title: 'does not let pages of any origin use the credentials of their visitors',
    headline: 'Pages of any origin may use the login of their visitors: {got}',
    why: 'Any web page can call the API in the name of whoever visits it, and read the answers.',
    change:
      'List the origins that you trust. Never repeat the Origin of a request together with Access-Control-Allow-Credentials.',
    grounds: [practice('OWASP API8:2023')],
    applies: [credentialed],
    uses: [foreignOrigin, preflight],
    judge: ({ expect }) =>
      expect()
        .where(({ status }) => status !== null, 'no response came that could let pages in')
        .toConform('pages of other origins kept out', ({ response }) => {
          const allowed = response.field('access-control-allow-origin') ?? '';
          const withCredentials = response.field('access-control-allow-credentials') === 'true';
          return withCredentials && ['null', FOREIGN_ORIGIN].includes(allowed)
            ? `Access-Control-Allow-Origin: ${allowed} with Access-Control-Allow-Credentials: true`
            : null;
        }),
  }),

  // Fetch §4.8: a preflight never carries a credential, and whatever is no 2xx ends the call.
  check('auth.preflight', {
    title: 'answers the preflight of a page that may read its answers',
    headline: 'The preflight of a page that may call the API gets {answer}',
    why: 'Browsers ask with OPTIONS, and without the credential. If that is refused, the page cannot call at all.',
    change:
      'Answer preflights before you ask for a credential: 204 with the origin, method and headers that you allow.',
    grounds: [practice('Fetch §4.8, CORS-preflight fetch')],
    applies: [credentialed],
    uses: [foreignOrigin, preflight],
    async judge({ probe, expect, notApplicable }) {
      const foreign = await probe(foreignOrigin);
      if (foreign.status === null) notApplicable('no response came that could let pages in');
      const allowed = foreign.response.field('access-control-allow-origin');
      if (allowed !== '*' && allowed !== FOREIGN_ORIGIN)
        notApplicable('no page of another origin may read its answers');
      await expect(preflight).toConform(
        'a 2xx status that allows the origin and the header of the credential',
        ({ served, response, exchange }) => {
          if (!served) return `status ${response.status}`;
          if (!response.has('access-control-allow-origin')) return 'no Access-Control-Allow-Origin';
          const names = response.elements('access-control-allow-headers').map((name) => name.toLowerCase());
          const asked =
            exchange.request.fields.find(([name]) => name === 'Access-Control-Request-Headers')?.[1] ?? '';
          // The wildcard does not stand for Authorization (Fetch §3.3.3).
          const isAllowed = names.includes(asked) || (names.includes('*') && asked !== 'authorization');
          return isAllowed ? null : `${asked} not allowed by Access-Control-Allow-Headers`;
        },
      );
    },
  }),

  check('auth.content-withheld', {
    title: 'keeps what the credential opens out of refusals and preflights',
    headline: 'What only the key should open is sent without it: {got}',
    why: 'The status says no, and the body gives the data away all the same.',
    change: 'End the request where you refuse it, so that no handler writes its answer behind the refusal.',
    grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
    applies: [credentialed],
    restsOn: [missingCredential],
    uses: [preflight, sample, unknownPath, everyExchange],
    async judge({ probe, expect, notApplicable }) {
      const protectedText = (await probe(sample)).response.text?.trim() ?? '';
      if (protectedText.length < LEAST_TELLING)
        notApplicable('the sample has too little content to be known again');
      const elsewhere = (await probe(unknownPath)).response.text ?? '';
      if (elsewhere.includes(protectedText))
        notApplicable('a path that does not exist is answered like the sample');
      await expect(preflight, everyExchange)
        .where(({ served, exchange }) => exchange.request.method === 'OPTIONS' || !served)
        .where(({ exchange }) => exchange.credential === 'none' || exchange.credential === 'wrong')
        .toConform('nothing of what is served', ({ response }) =>
          (response.text ?? '').includes(protectedText) ? `all of it with status ${response.status}` : null,
        );
    },
  }),
];

/** Characters of content that no other answer has by accident. */
const LEAST_TELLING = 24;
