import { SEARCH, tableOf, under, type Variant } from '../behavior/deviation.ts';
import { besideOrigin, inPreflights, isPreflight, lettingPagesIn, PAGES } from '../behavior/patches/pages.ts';
import { beforehand, onFinished, together } from '../behavior/patches/patch.ts';
import { problem } from '../http/answer.ts';
import { asProblem, having, withContent } from '../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest, withField, withFields } from '../http/message.ts';

const isForeign = (request: ReceivedRequest): boolean => {
  const origin = fieldValue(request, 'origin');
  return origin !== undefined && !PAGES.origins.some((named) => named === origin);
};
const forbidden = () => asProblem(403)(problem('forbidden-origin'));

/** Of a service whose documents name the origins of two pages, which may send cookies. */
const NAMED = tableOf<Variant>(under('pages of named origins', SEARCH), {
  'lets-pages-in': {
    summary: 'lets pages of the documented origins in, and answers their preflights',
    patch: lettingPagesIn(),
  },
  'preflights-with-content': {
    summary: 'answers preflights with 200 and a few words',
    patch: together(
      onFinished('options', (answer, request) =>
        isPreflight(request)
          ? withField(withContent(answer, 'text/plain', 'ok'), 'Content-Length', '2')
          : answer,
      ),
      lettingPagesIn({ preflightStatus: 200 }),
    ),
  },
  'pages-lists-on-several-lines': {
    summary: 'writes each allowed and exposed header on a line of its own, in capitals',
    patch: together(
      lettingPagesIn(),
      onFinished('every', (answer) => ({
        ...answer,
        fields: answer.fields.flatMap(([name, value]) =>
          /^access-control-(?:allow|expose)-headers$/i.test(name)
            ? value.split(', ').map((each) => [name, each.toUpperCase()] as const)
            : [[name, value] as const],
        ),
      })),
    ),
  },
  'preflights-without-max-age': {
    summary: 'says nothing of how long a preflight holds',
    patch: inPreflights({ 'Access-Control-Max-Age': '' }),
  },
  'preflights-never-kept': {
    summary: 'lets no browser keep a preflight, by -1',
    patch: inPreflights({ 'Access-Control-Max-Age': '-1' }),
  },
  'preflights-without-safe-methods': {
    summary: 'allows in preflights the methods alone that need it',
    patch: inPreflights({ 'Access-Control-Allow-Methods': 'PUT, PATCH, DELETE' }),
  },
  'preflights-without-methods': {
    summary: 'names no methods in preflights, for it serves none that needs it',
    patch: inPreflights({ 'Access-Control-Allow-Methods': '' }),
  },
  'pages-vary-by-everything': {
    summary: 'says that its answers depend on more than the request (Vary: *)',
    patch: together(lettingPagesIn({ varies: false }), onFinished('served', having('Vary', '*'))),
  },
  'pages-unstored': {
    summary: 'lets no cache store its answers, so that Vary has no meaning',
    patch: together(
      lettingPagesIn({ varies: false }),
      onFinished('served', having('Cache-Control', 'no-store')),
    ),
  },
  'pages-vary-among-others': {
    summary: 'names Origin in Vary in small letters, after other fields',
    patch: together(
      lettingPagesIn({ varies: false }),
      onFinished('every', (answer) =>
        withField(answer, 'Vary', `${fieldValue(answer, 'vary') ?? 'Accept'},origin`),
      ),
    ),
  },
  'pages-foreign-refused': {
    summary: 'refuses requests for pages of other origins with 403',
    patch: together(
      lettingPagesIn(),
      beforehand((request) => (isForeign(request) ? forbidden() : null)),
    ),
  },
  'pages-foreign-preflights-refused': {
    summary: 'refuses preflights for pages of other origins with 403',
    patch: together(
      lettingPagesIn(),
      beforehand((request) => (isForeign(request) && isPreflight(request) ? forbidden() : null)),
    ),
  },
  'pages-foreign-named-another': {
    summary: 'names its first origin to pages of others, which does not let them in',
    patch: together(
      lettingPagesIn(),
      onFinished('every', (answer, request) =>
        isForeign(request) ? withField(answer, 'Access-Control-Allow-Origin', PAGES.origins[0]) : answer,
      ),
    ),
  },
  'pages-foreign-given-methods': {
    summary: 'names methods and headers in every preflight, and the origin to its own pages alone',
    patch: together(
      lettingPagesIn(),
      onFinished('options', (answer, request) =>
        isForeign(request) && isPreflight(request)
          ? withFields(answer, {
              'Access-Control-Allow-Methods': 'GET',
              'Access-Control-Allow-Headers': 'authorization',
            })
          : answer,
      ),
    ),
  },
  'pages-foreign-empty-origin': {
    summary: 'sends an empty Access-Control-Allow-Origin to pages of other origins',
    patch: together(
      lettingPagesIn(),
      onFinished('every', (answer, request) =>
        isForeign(request) ? withField(answer, 'Access-Control-Allow-Origin', '') : answer,
      ),
    ),
  },
  'pages-exposed-where-sent': {
    summary: 'exposes in each answer the headers that it has',
    patch: together(
      besideOrigin({ 'Access-Control-Expose-Headers': '' }),
      onFinished('every', (answer, request) => {
        if (fieldValue(request, 'origin') === undefined) return answer;
        const sent = answer.fields
          .map(([name]) => name)
          .filter((name) => /^(?:ratelimit|retry-after|x-)/i.test(name));
        return withField(answer, 'Access-Control-Expose-Headers', sent.join(','));
      }),
    ),
  },
  'pages-in-private-networks': {
    summary: 'lets public pages call it in a private network',
    patch: inPreflights({ 'Access-Control-Allow-Private-Network': 'true' }),
  },
  'pages-timed': {
    summary: 'lets pages measure its answers, and lets other sites embed them',
    patch: besideOrigin({
      'Timing-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    }),
  },
});

/** Of one whose documents name origins, and no cookies. */
const COOKIELESS = tableOf<Variant>(under('pages without cookies', SEARCH), {
  'pages-denied-cookies': {
    summary: 'says false where pages may send no cookies',
    patch: lettingPagesIn({
      beside: { 'Access-Control-Allow-Credentials': 'false', 'Access-Control-Expose-Headers': '*' },
    }),
  },
  'preflights-by-wildcards': {
    summary: 'allows pages without cookies every method and header, and Authorization by name',
    patch: lettingPagesIn({
      beside: { 'Access-Control-Expose-Headers': '*' },
      preflight: {
        'Access-Control-Allow-Methods': '*',
        'Access-Control-Allow-Headers': '*, Authorization',
        'Access-Control-Max-Age': '0',
      },
    }),
  },
});

/** Of one that is open to every page. */
const OPEN = tableOf<Variant>(under('pages of every origin', SEARCH), {
  'lets-every-page-in': {
    summary: 'lets pages of every origin in by a wildcard, and needs no Vary',
    patch: lettingPagesIn({
      letsIn: () => true,
      named: () => '*',
      beside: { 'Access-Control-Expose-Headers': '*' },
      varies: false,
    }),
  },
  'lets-every-page-in-always': {
    summary: 'says so in answers to programs as well',
    patch: together(
      lettingPagesIn({
        letsIn: () => true,
        named: () => '*',
        beside: { 'Access-Control-Expose-Headers': '*' },
        varies: false,
      }),
      onFinished('every', having('Access-Control-Allow-Origin', '*')),
    ),
  },
});

/** Of one that is open to the pages of all sub-domains. */
const OF_SUB_DOMAINS = tableOf<Variant>(under('pages of sub-domains', SEARCH), {
  'lets-sub-domains-in': {
    summary: 'lets pages of all sub-domains of one host in',
    patch: lettingPagesIn({ letsIn: (origin) => /^https:\/\/[a-z-]+\.shop\.example$/.test(origin) }),
  },
});

/** What clients save, for pages. */
const OF_ITEMS = tableOf<Variant>(under('saved searches for pages', SEARCH), {
  'lets-pages-save': {
    summary: 'lets pages save, change and remove searches',
    patch: lettingPagesIn(),
  },
});

export const PAGE_VARIANTS = [...NAMED, ...COOKIELESS, ...OPEN, ...OF_SUB_DOMAINS, ...OF_ITEMS];
