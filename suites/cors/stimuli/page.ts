import { documentedSample, type Sample } from '../../../harness/base/clause.ts';
import { isJsonObject } from '../../../harness/base/json-text.ts';
import { NotApplicable } from '../../../harness/base/verdict.ts';
import { documentedValue, type Operation, type ServiceConfig } from '../../../harness/config/service.ts';
import { type Probe, probe } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';
import { served, variation } from '../../stimuli/sample.ts';
import { siblingOf } from '../../stimuli/target.ts';

/** What browsers send for the pages of other origins (Fetch §3.3). */

/** Whose pages may call a service, and what they may do. */
export interface PagePolicy {
  readonly origins: readonly string[];
  /** null if unknown. */
  readonly credentials: boolean | null;
  /** Names of headers in lower case. */
  readonly exposed: readonly string[];
}

/** By the contract or the config; null if neither names origins. */
export function pagePolicy(config: Pick<ServiceConfig, 'contract' | 'facts'>): PagePolicy | null {
  const value = documentedValue(config, 'cors.origins');
  if (!isJsonObject(value)) return null;
  const { origins, credentials, exposed } = value;
  return {
    origins: textsIn(origins),
    credentials: typeof credentials === 'boolean' ? credentials : null,
    exposed: textsIn(exposed).map((name) => name.toLowerCase()),
  };
}

function textsIn(value: unknown): readonly string[] {
  return [value].flat().filter((each) => typeof each === 'string');
}

/** Whether the policy lets pages of this origin call. */
export function letsIn({ origins }: PagePolicy, origin: string): boolean {
  return origins.some((named) => {
    const [before = '', after] = named.split('*', 2);
    if (after === undefined) return named === origin;
    return named === '*' || (origin.startsWith(before) && origin.endsWith(after));
  });
}

/** Number of named origins that are tried. */
const MOST_ORIGINS = 3;
/** Number of preflights. */
const MOST_PREFLIGHTS = 12;

/** Origins that the policy names, one for each pattern. */
function examplesOf({ origins }: PagePolicy): readonly [string, ...string[]] {
  const [first = ANY_PAGE, ...others] = origins.map((named) =>
    named === '*' ? ANY_PAGE : named.replace('*', 'conform'),
  );
  return [first, ...others.slice(0, MOST_ORIGINS - 1)];
}

const ANY_PAGE = 'https://pages.invalid';

/** @throws NotApplicable if no origins are known. */
function policyOf(config: ServiceConfig): PagePolicy {
  const policy = pagePolicy(config);
  if (policy === null) throw new NotApplicable('no origins are named (cors, cors.origins)');
  return policy;
}

/** An origin that the policy names. */
export function namedOrigin(config: ServiceConfig): string {
  return examplesOf(policyOf(config))[0];
}

const from = (origin: string): readonly FieldLine[] => [['Origin', origin]];

function countOf(config: ServiceConfig, most: (policy: PagePolicy) => number): number {
  const policy = pagePolicy(config);
  return policy === null ? 0 : most(policy);
}

/** The sample for a page of each named origin. */
export const namedPages = probe<readonly Reply[]>(
  'named-pages',
  { needs: [served], cost: (config) => countOf(config, (policy) => examplesOf(policy).length) },
  async ({ ask, http, config }) => {
    await ask(served);
    const replies: Reply[] = [];
    for (const origin of examplesOf(policyOf(config))) {
      replies.push(await http.send({ purpose: `for a page of ${origin}`, fields: from(origin) }));
    }
    return replies;
  },
);

/** The same at a path that does not exist, and without a credential. */
export const errorForPage = probe('error-for-page', { needs: [served] }, async ({ ask, http, config }) => {
  await ask(served);
  return http.send({
    purpose: 'for a page of a named origin, at a path that does not exist',
    target: ({ path }) => siblingOf(path),
    fields: from(namedOrigin(config)),
  });
});
export const refusalForPage = probe(
  'refusal-for-page',
  { needs: [served], credential: 'none' },
  async ({ ask, http, config }) => {
    await ask(served);
    return http.send({
      purpose: 'for a page of a named origin, without a credential',
      fields: from(namedOrigin(config)),
      credential: 'none',
    });
  },
);

/** A sandboxed frame, a local file and a redirect have this origin: anyone can make one. */
export const nullOrigin = variation('null-origin', 'for a page of the origin null', { fields: from('null') });

/** Origins that careless comparisons take for a named one, each in a few words. */
function lookAlikesOf(named: string): readonly (readonly [what: string, origin: string])[] {
  const [, scheme = '', host = '', port = ''] = /^([^:]+):\/\/([^:]+|\[.*\])(:\d+)?$/.exec(named) ?? [];
  const dotted = /[a-z]\.[a-z]/i.test(host);
  return [
    ['a host that begins like it', `${scheme}://${host}.conform.invalid${port}`],
    ['a host that ends like it', `${scheme}://conform-${host}${port}`],
    ['a sub-domain', `${scheme}://conform.${host}${port}`],
    ...(dotted ? [['a letter for its dot', `${scheme}://${host.replace('.', 'x')}${port}`] as const] : []),
    ...(scheme === 'https' ? [['plain http', `http://${host}${port}`] as const] : []),
    ['another port', `${scheme}://${host}${otherPort(port)}`],
  ];
}

/** The highest port. */
const LAST_PORT = 65_535;

/** A port that begins like this one, or that it begins like; `:8444` for none. */
function otherPort(port: string): string {
  if (port === '') return ':8444';
  return Number(`${port.slice(1)}1`) <= LAST_PORT ? `${port}1` : port.slice(0, -1);
}

/** The most of them for one origin. */
const LOOK_ALIKES = 6;

/** The sample for a page of each origin that looks like a named one and is not. */
export const lookAlikePages = probe<readonly Reply[]>(
  'look-alike-pages',
  { needs: [served], cost: LOOK_ALIKES },
  async ({ ask, http, config }) => {
    await ask(served);
    const policy = policyOf(config);
    const exact = policy.origins.find((origin) => /^https?:[^*]+$/.test(origin));
    if (exact === undefined) throw new NotApplicable('no single origin of the web is named');
    const replies: Reply[] = [];
    for (const [what, origin] of lookAlikesOf(exact)) {
      if (letsIn(policy, origin)) continue;
      const purpose = `for a page of ${what}, ${origin}`;
      replies.push(await http.send({ purpose, fields: from(origin) }));
    }
    return replies;
  },
);

interface Preflight {
  readonly method: string;
  readonly path: string;
  /** Names of headers in lower case, sorted, as browsers send them (Fetch §2.2.2). */
  readonly names: readonly string[];
  /** A part of the path is made up. */
  readonly isMadeUp: boolean;
}

/** Fetch §2.2.2: a page may send these without asking first, the media types of forms among them. */
const SAFELISTED: ReadonlySet<string> = new Set(['accept', 'accept-language', 'content-language', 'range']);
const FORM_TYPE = /^(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain) *(?:;|$)/i;
/** Fetch §2.2.2: no page can send them. */
const FORBIDDEN =
  /^(?:accept-(?:charset|encoding)|access-control-.*|connection|content-length|cookie2?|date|dnt|expect|host|keep-alive|origin|referer|set-cookie|te|trailer|transfer-encoding|upgrade|via|proxy-.*|sec-.*)$/;

function askedNames(fields: readonly FieldLine[]): readonly string[] {
  const asked = fields.flatMap(([written, value]) => {
    const name = written.toLowerCase();
    if (SAFELISTED.has(name) || FORBIDDEN.test(name)) return [];
    return name === 'content-type' && FORM_TYPE.test(value) ? [] : [name];
  });
  return [...new Set(asked)].sort();
}

function credentialLines({ credentials: { carrier } }: ServiceConfig): readonly FieldLine[] {
  return carrier?.in === 'header' && carrier.name ? [[carrier.name, '']] : [];
}

function preflightOf(config: ServiceConfig, operation: Operation): Preflight {
  const { method, path, fields, body, call, auth } = operation;
  const documented = call.inputs.flatMap(({ in: place, name }) =>
    place === 'header' ? [[name, ''] as const] : [],
  );
  const type = body === null ? [] : [['Content-Type', body.mediaType] as const];
  const key = auth === 'none' ? [] : credentialLines(config);
  return {
    method,
    path: path.replaceAll(/\{[^{}]*\}/g, 'conform'),
    names: askedNames([...key, ...fields, ...type, ...documented]),
    isMadeUp: /[{}]/.test(call.template),
  };
}

/** Fetch §4.8: methods that need no permission. */
export const SAFE_FOR_PAGES: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/** Fetch §4.1: without one of these a browser sends the request itself. */
const isAskedFor = ({ method, names }: Preflight) => !SAFE_FOR_PAGES.has(method) || names.length > 0;

/** Of the sample and of the documented operations, each method at each path once: those that a browser sends. */
function preflightsOf(
  config: ServiceConfig,
  sample: Sample | null = documentedSample(config.contract),
): readonly Preflight[] {
  const own = sample === null ? [] : [ownPreflight(config, sample)];
  const called = config.operations.map((operation) => preflightOf(config, operation));
  const each = Map.groupBy([...own, ...called], ({ method, path }) => `${method} ${path}`);
  return [...each.values()].flatMap(([first]) => first ?? []).filter(isAskedFor);
}

function ownPreflight(config: ServiceConfig, { method, path, fields }: Sample): Preflight {
  const names = askedNames([...credentialLines(config), ...Object.entries(fields)]);
  return { method, path, names, isMadeUp: false };
}

/** Number of preflights that are not sent. */
export function unaskedPreflights(config: ServiceConfig): number {
  return Math.max(0, preflightsOf(config).length - MOST_PREFLIGHTS);
}

function preflightRequest({ method, path, names }: Preflight, origin: string) {
  return {
    purpose: `of a browser that asks for ${method} ${path}`,
    method: 'OPTIONS',
    target: () => path,
    withoutSampleFields: true,
    fields: [
      ...from(origin),
      ['Access-Control-Request-Method', method],
      ...(names.length === 0 ? [] : [['Access-Control-Request-Headers', names.join(',')] as const]),
    ] satisfies readonly FieldLine[],
    credential: 'none',
  } as const;
}

/** The preflight of the sample and of each documented operation, for a page of a named origin (Fetch §4.8). */
export const namedPreflights: Probe<readonly Reply[]> = probe(
  'named-preflights',
  {
    needs: [served],
    cost: (config) => countOf(config, () => Math.min(MOST_PREFLIGHTS, preflightsOf(config).length)),
    credential: 'none',
  },
  async ({ ask, http, config, documented }) => {
    await ask(served);
    const origin = namedOrigin(config);
    const all = preflightsOf(config, documented);
    if (all.length === 0)
      throw new NotApplicable('browsers send every documented request without a preflight');
    const replies: Reply[] = [];
    for (const each of all.slice(0, MOST_PREFLIGHTS)) {
      const reply = await http.send(preflightRequest(each, origin));
      // There may be no such thing.
      if (!each.isMadeUp || reply.status !== 404) replies.push(reply);
    }
    return replies;
  },
);

/** The preflight of a page that is in no private network, and asks for one that is. */
export const privatePreflight = probe(
  'private-preflight',
  { needs: [served], credential: 'none' },
  async ({ ask, http, config, documented: { method, path } }) => {
    await ask(served);
    const request = preflightRequest({ method, path, names: [], isMadeUp: false }, namedOrigin(config));
    return http.send({
      ...request,
      purpose: 'of a browser that asks for a private network',
      fields: [...request.fields, ['Access-Control-Request-Private-Network', 'true']],
    });
  },
);
