import { type Defect, SEARCH, tableOf, under } from '../behavior/deviation.ts';
import { credentialRefusal } from '../behavior/handling.ts';
import { besideOrigin, inPreflights, isPreflight, lettingPagesIn, PAGES } from '../behavior/patches/pages.ts';
import { beforehand, insteadOfServing, onFinished, together } from '../behavior/patches/patch.ts';
import { CREDENTIAL_REFUSALS, problem } from '../http/answer.ts';
import { asProblem } from '../http/answer-changes.ts';
import { fieldValue, fieldValues, withField, withoutField } from '../http/message.ts';

const [SHOP] = PAGES.origins;
const ALLOW_ORIGIN = 'Access-Control-Allow-Origin';

const alsoIn = (isIn: (origin: string) => boolean) =>
  lettingPagesIn({ letsIn: (origin) => PAGES.origins.some((each) => each === origin) || isIn(origin) });

/** The headers for pages are left out of some answers. */
const notOn = (isLeftOut: (kind: string, status: number) => boolean) =>
  lettingPagesIn({ on: ({ responseKind, status }) => !isLeftOut(responseKind, status) });

/** Of a service whose documents name the origins of two pages. */
export const PAGE_ORIGIN_DEFECTS = tableOf<Defect>(under('pages of named origins', SEARCH), {
  'pages-read-no-404': {
    cause: 'A page may not read an answer {status:404}',
    fails: ['cors.errors'],
    patch: notOn((kind) => kind === 'not-found'),
  },
  'pages-read-successes-only': {
    cause: 'A page may read no error',
    fails: ['cors.errors', 'cors.refusals', 'limits.refusal-for-pages'],
    patch: notOn((_, status) => status >= 400),
  },
  'pages-read-no-401': {
    cause: 'A page may not read the refusal of its credential, {status:401}',
    fails: ['cors.refusals'],
    patch: notOn((kind) => CREDENTIAL_REFUSALS.some((each) => each === kind)),
  },
  'pages-read-no-429': {
    cause: 'A page may not read the refusal at the limit, {status:429}',
    fails: ['limits.refusal-for-pages'],
    patch: notOn((kind) => kind === 'rate-limited'),
  },
  'pages-read-errors-with-wildcard': {
    cause: 'Errors allow pages by a wildcard, which is none together with cookies',
    fails: ['cors.wildcard-with-credentials'],
    patch: lettingPagesIn({ named: (origin, { status }) => (status === 404 ? '*' : origin) }),
  },
  'pages-origin-twice': {
    cause: 'Access-Control-Allow-Origin comes twice, from the service and from its proxy',
    fails: ['cors.origin-form'],
    patch: together(
      lettingPagesIn(),
      onFinished('every', (answer) => ({
        ...answer,
        fields: [
          ...answer.fields,
          ...fieldValues(answer, ALLOW_ORIGIN).map((origin) => [ALLOW_ORIGIN, origin] as const),
        ],
      })),
    ),
  },
  'pages-origins-listed': {
    cause: 'Access-Control-Allow-Origin lists all origins that may call',
    fails: ['cors.origin-form'],
    patch: lettingPagesIn({ named: () => PAGES.origins.join(', ') }),
  },
  'pages-origin-with-slash': {
    cause: 'Access-Control-Allow-Origin ends with a slash',
    fails: ['cors.origin-form'],
    patch: lettingPagesIn({ named: (origin) => `${origin}/` }),
  },
  'pages-first-origin-alone': {
    cause: 'Every answer names the first of the origins',
    fails: ['cors.named-origin'],
    patch: lettingPagesIn({ named: () => SHOP }),
  },
  'pages-refused': {
    cause: 'A request for a page is refused with {status:403}, after a preflight that lets it in',
    fails: ['cors.named-origin'],
    patch: together(
      lettingPagesIn(),
      insteadOfServing(
        (request) => PAGES.origins.some((each) => each === fieldValue(request, 'origin')),
        asProblem(403),
      ),
    ),
  },
  'pages-second-origin-forgotten': {
    cause: 'Pages of the second origin may read nothing',
    fails: ['cors.named-origin'],
    patch: lettingPagesIn({ letsIn: (origin) => origin === SHOP }),
  },
  'pages-origin-without-port': {
    cause: 'Origins with a port are named without it',
    fails: ['cors.named-origin'],
    patch: lettingPagesIn({ named: (origin) => origin.replace(/:\d+$/, '') }),
  },
  'pages-by-wildcard-with-cookies': {
    cause: 'Pages may send cookies, and the allowed origin is a wildcard',
    fails: ['cors.wildcard-with-credentials'],
    patch: lettingPagesIn({ named: () => '*' }),
  },
  'pages-without-cookies': {
    cause: 'Pages may not send their cookies',
    fails: ['cors.credentials'],
    patch: besideOrigin({ 'Access-Control-Allow-Credentials': '' }),
  },
  'pages-cookies-after-preflight-only': {
    cause: 'The preflight lets pages send cookies, and the answer does not',
    fails: ['cors.credentials'],
    patch: together(
      lettingPagesIn(),
      onFinished('every', (answer, request) =>
        isPreflight(request) ? answer : withoutField(answer, 'Access-Control-Allow-Credentials'),
      ),
    ),
  },
  'pages-cookies-in-capitals': {
    cause: 'Access-Control-Allow-Credentials says True with a capital letter',
    fails: ['cors.credentials-form'],
    patch: besideOrigin({ 'Access-Control-Allow-Credentials': 'True' }),
  },
  'pages-see-no-headers': {
    cause: 'Pages may read no header of their quota',
    fails: ['cors.exposed', 'cors.quota-exposed', 'limits.retry-after-for-pages'],
    patch: besideOrigin({ 'Access-Control-Expose-Headers': '' }),
  },
  'pages-see-all-by-wildcard': {
    cause: 'Headers are exposed by a wildcard, which is none together with cookies',
    fails: ['cors.exposed', 'cors.quota-exposed', 'limits.retry-after-for-pages'],
    patch: besideOrigin({ 'Access-Control-Expose-Headers': '*' }),
  },
  'pages-see-no-request-id': {
    cause: 'X-Request-Id is documented for pages and not exposed',
    fails: ['cors.exposed'],
    patch: besideOrigin({ 'Access-Control-Expose-Headers': 'RateLimit, RateLimit-Policy, Retry-After' }),
  },
  'pages-see-no-retry-after': {
    cause: 'Retry-After is not exposed to pages',
    fails: ['limits.retry-after-for-pages'],
    patch: besideOrigin({ 'Access-Control-Expose-Headers': 'RateLimit, RateLimit-Policy, X-Request-Id' }),
  },
  'pages-lists-with-semicolons': {
    cause: 'Exposed headers are listed with semicolons',
    fails: ['cors.list-form'],
    alsoFails: {
      'cors.exposed': 'such a list exposes nothing',
      'cors.quota-exposed': 'such a list exposes nothing',
      'limits.retry-after-for-pages': 'such a list exposes nothing',
    },
    patch: besideOrigin({ 'Access-Control-Expose-Headers': 'RateLimit; Retry-After; X-Request-Id' }),
  },
  'pages-preflight-lists-in-quotes': {
    cause: 'Methods are listed as JSON',
    fails: ['cors.list-form'],
    patch: inPreflights({ 'Access-Control-Allow-Methods': '["GET","POST","PUT","DELETE"]' }),
  },
  'pages-max-age-in-minutes': {
    cause: 'Access-Control-Max-Age has a unit',
    fails: ['cors.max-age-form'],
    patch: inPreflights({ 'Access-Control-Max-Age': '10m' }),
  },
  'pages-max-age-with-fraction': {
    cause: 'Access-Control-Max-Age has a fraction',
    fails: ['cors.max-age-form'],
    patch: inPreflights({ 'Access-Control-Max-Age': '600.0' }),
  },
  'pages-not-in-vary': {
    cause: 'Answers differ by origin, and Vary does not say so',
    fails: ['cors.vary'],
    patch: lettingPagesIn({ varies: false }),
  },
  'pages-in-vary-when-let-in': {
    cause: 'Vary names Origin in the answers to known pages alone',
    fails: ['cors.vary'],
    patch: together(
      lettingPagesIn({ varies: false }),
      onFinished('every', (answer) =>
        fieldValues(answer, ALLOW_ORIGIN).length === 0 ? answer : withField(answer, 'Vary', 'Origin'),
      ),
    ),
  },
  'pages-preflight-is-401': {
    cause: 'Preflights are answered {status:401}',
    fails: ['cors.preflight-credential'],
    patch: together(
      lettingPagesIn(),
      beforehand((request, { access }) =>
        isPreflight(request) ? credentialRefusal(access, 'missing') : null,
      ),
    ),
  },
  'pages-preflight-is-405': {
    cause: 'Preflights are answered {status:405}',
    fails: ['cors.preflight'],
    patch: together(
      lettingPagesIn(),
      beforehand((request) =>
        isPreflight(request) ? problem('method-not-allowed', [['Allow', 'GET, HEAD']]) : null,
      ),
    ),
  },
  'pages-preflight-redirects': {
    cause: 'Preflights are redirected',
    fails: ['cors.preflight'],
    patch: lettingPagesIn({ preflightStatus: 307 }),
  },
  'pages-preflight-without-origin': {
    cause: 'Answers to preflights do not name the origin',
    fails: ['cors.preflight'],
    patch: lettingPagesIn({ on: (_, request) => !isPreflight(request) }),
  },
  'pages-preflight-without-authorization': {
    cause: 'Preflights do not allow the header of the credential',
    fails: ['cors.preflight-headers'],
    patch: inPreflights({ 'Access-Control-Allow-Headers': 'content-type, idempotency-key' }),
  },
  'pages-preflight-without-content-type': {
    cause: 'Preflights do not allow Content-Type',
    fails: ['cors.preflight-headers'],
    patch: inPreflights({ 'Access-Control-Allow-Headers': 'authorization, idempotency-key, x-api-key' }),
  },
  'pages-preflight-any-header': {
    cause: 'Preflights allow headers by a wildcard, which is none together with cookies',
    fails: ['cors.preflight-headers'],
    patch: inPreflights({ 'Access-Control-Allow-Headers': '*' }),
  },
  'pages-let-anyone-in': {
    cause: 'Pages of every origin may act with the cookies of their readers',
    fails: ['cors.unnamed-origin'],
    patch: alsoIn(() => true),
  },
  'pages-let-null-in': {
    cause: 'Pages of the origin null are let in',
    fails: ['cors.null-origin'],
    patch: alsoIn((origin) => origin === 'null'),
  },
  'pages-by-prefix': {
    cause: 'An origin that begins like a named one is let in',
    fails: ['cors.look-alikes'],
    patch: alsoIn((origin) => origin.startsWith(SHOP)),
  },
  'pages-by-suffix': {
    cause: 'An origin that ends like a named one is let in',
    fails: ['cors.look-alikes'],
    patch: alsoIn((origin) => origin.endsWith('shop.example')),
  },
  'pages-by-sub-domain': {
    cause: 'Sub-domains of a named origin are let in',
    fails: ['cors.look-alikes'],
    patch: alsoIn((origin) => origin.endsWith('.shop.example')),
  },
  'pages-by-loose-pattern': {
    cause: 'Any letter stands for the dot of a named origin',
    fails: ['cors.look-alikes'],
    patch: alsoIn((origin) => /^https:\/\/shop.example$/.test(origin)),
  },
  'pages-over-plain-http': {
    cause: 'Pages over plain http are let in like those over TLS',
    fails: ['cors.look-alikes'],
    patch: alsoIn((origin) => origin === 'http://shop.example'),
  },
  'pages-at-any-port': {
    cause: 'Pages at every port of a named host are let in',
    fails: ['cors.look-alikes'],
    patch: alsoIn((origin) => /^https:\/\/shop\.example:\d+$/.test(origin)),
  },
});

/** Of one whose documents name origins, and no cookies. */
export const COOKIELESS_PAGE_DEFECTS = tableOf<Defect>(under('pages without cookies', SEARCH), {
  'pages-with-cookies-undocumented': {
    cause: 'Pages may send cookies, and the documents say that they may not',
    fails: ['cors.no-credentials'],
    patch: lettingPagesIn(),
  },
  'pages-of-all-undocumented': {
    cause: 'Pages of every origin may read the answers',
    fails: ['cors.unnamed-origin'],
    patch: lettingPagesIn({
      letsIn: () => true,
      named: () => '*',
      beside: { 'Access-Control-Expose-Headers': '*' },
      varies: false,
    }),
  },
  'pages-of-any-origin-repeated': {
    cause: 'The origin of each request is allowed',
    fails: ['cors.unnamed-origin'],
    patch: lettingPagesIn({ letsIn: () => true, beside: { 'Access-Control-Expose-Headers': '*' } }),
  },
  'pages-preflight-wildcard-for-key': {
    cause: 'A wildcard is to allow the Authorization header in preflights',
    fails: ['cors.preflight-headers'],
    patch: lettingPagesIn({
      beside: { 'Access-Control-Expose-Headers': '*' },
      preflight: { 'Access-Control-Allow-Methods': '*', 'Access-Control-Allow-Headers': '*' },
    }),
  },
});

/** What a page does to the items of its reader takes other methods. */
export const ITEM_PAGE_DEFECTS = tableOf<Defect>(under('saved searches for pages', SEARCH), {
  'pages-preflight-without-delete': {
    cause: 'Preflights do not allow DELETE',
    fails: ['cors.preflight-methods'],
    patch: inPreflights({ 'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH' }),
  },
  'pages-preflight-methods-in-small-letters': {
    cause: 'Preflights allow methods in small letters',
    fails: ['cors.preflight-methods'],
    patch: inPreflights({ 'Access-Control-Allow-Methods': 'get, post, put, patch, delete' }),
  },
  'pages-preflight-any-method': {
    cause: 'Preflights allow methods by a wildcard, which is none together with cookies',
    fails: ['cors.preflight-methods'],
    patch: inPreflights({ 'Access-Control-Allow-Methods': '*' }),
  },
  'pages-preflight-without-idempotency-key': {
    cause: 'Preflights do not allow Idempotency-Key, which is documented',
    fails: ['cors.preflight-headers'],
    patch: inPreflights({ 'Access-Control-Allow-Headers': 'authorization, content-type, x-api-key' }),
  },
});
