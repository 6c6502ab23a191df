import { bare, type HttpAnswer } from '../../http/answer.ts';
import { varyingBy } from '../../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest, withFields } from '../../http/message.ts';
import { beforehand, onFinished, type Patch, together } from './patch.ts';

/** The origins whose pages may call, and the headers that they may read, as the proof documents them. */
export const PAGES = {
  origins: ['https://shop.example', 'https://office.example:8443'],
  credentials: true,
  exposed: ['RateLimit', 'X-Request-Id'],
} as const;

/** How pages of other origins are let in (Fetch §3.3). */
interface PageRules {
  readonly letsIn: (origin: string) => boolean;
  /** The value of Access-Control-Allow-Origin. */
  readonly named: (origin: string, answer: HttpAnswer) => string;
  /** The answers that have the headers for pages. */
  readonly on: (answer: HttpAnswer, request: ReceivedRequest) => boolean;
  /** Further headers of each such answer. */
  readonly beside: Readonly<Record<string, string>>;
  /** Answers depend on the origin, and say so. */
  readonly varies: boolean;
  readonly preflight: Readonly<Record<string, string>>;
  readonly preflightStatus: number;
}

const RULES: PageRules = {
  letsIn: (origin) => PAGES.origins.some((named) => named === origin),
  named: (origin) => origin,
  on: () => true,
  beside: {
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Expose-Headers':
      'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ETag, Location, Link',
  },
  varies: true,
  preflight: {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'Access-Control-Allow-Headers': 'authorization, content-type, idempotency-key, x-api-key',
    'Access-Control-Max-Age': '600',
  },
  preflightStatus: 204,
};

export function isPreflight(request: ReceivedRequest): boolean {
  return request.method === 'OPTIONS' && fieldValue(request, 'access-control-request-method') !== undefined;
}

/** Lets pages of some origins in, and answers their preflights before the credential is looked at. */
export function lettingPagesIn(change: Partial<PageRules> = {}): Patch {
  const rules = { ...RULES, ...change };
  return together(
    beforehand((request) => {
      const origin = fieldValue(request, 'origin') ?? '';
      if (!isPreflight(request)) return null;
      const fields = rules.letsIn(origin) ? Object.entries(rules.preflight) : [];
      return bare('options', rules.preflightStatus, fields);
    }),
    onFinished('every', (answer, request) => {
      const origin = fieldValue(request, 'origin');
      const varied = rules.varies ? varyingBy(answer, 'Origin') : answer;
      if (origin === undefined || !rules.letsIn(origin) || !rules.on(answer, request)) return varied;
      return withFields(varied, {
        'Access-Control-Allow-Origin': rules.named(origin, answer),
        ...rules.beside,
      });
    }),
  );
}

/** The same with other headers beside the origin, or other headers of preflights; '' for none. */
export const besideOrigin = (fields: Readonly<Record<string, string>>): Patch =>
  lettingPagesIn({ beside: without({ ...RULES.beside, ...fields }) });
export const inPreflights = (fields: Readonly<Record<string, string>>): Patch =>
  lettingPagesIn({ preflight: without({ ...RULES.preflight, ...fields }) });

function without(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}
