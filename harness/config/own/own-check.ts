import { isJsonObject } from '../../base/json-text.ts';

/** The surface of checks of a user's own: plain data and functions, so that any copy of the package can read them. */

/** A request of a check, below the base URL of the service. */
export interface OwnRequest {
  /** Default: GET. Others than GET, HEAD and OPTIONS need `safety: { unsafeMethods: true }`. */
  readonly method?: string;
  /** With a query, if any: `/v1/orders?limit=1`. */
  readonly path: string;
  /** A secret in here is not removed from reports: the credential comes from the config. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A text as it is sent, or a JSON value, which is sent as its text. */
  readonly body?: unknown;
  /** `right`: that of the config. `none`: no credential. Default: right. */
  readonly credential?: 'right' | 'none';
}

/** A response with its request, without secrets. Names of headers are lower-case; several values are joined by `, `. */
export interface OwnAnswer {
  readonly request: Readonly<Record<'method' | 'path', string>> & {
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** undefined if the body is no JSON. */
  readonly json: unknown;
}

/** A response of the small handler that proves a check. */
export interface OwnResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or a JSON value. */
  readonly body?: unknown;
}

/** It shows that a check can fail, and that it passes without the fault. */
export interface OwnProof {
  /** What the check gets from it. Default: its `sends`, or a GET of `/`. */
  readonly requests?: readonly OwnRequest[];
  /** A small handler that conforms. */
  readonly conforming: (request: OwnAnswer['request']) => OwnResponse;
  /** Each changes the conforming response; the check must fail for each of them. */
  readonly defects: Readonly<
    Record<string, (response: OwnResponse, request: OwnAnswer['request']) => OwnResponse>
  >;
}

/** A rule of the user's own. */
export interface OwnCheck {
  /** `house.request-id`: its first part is the suite, and none that ships with conform. */
  readonly id: string;
  /** Completes "the service …". */
  readonly title: string;
  readonly why: string;
  /** The remedy. */
  readonly change: string;
  /** The place of the rule, such as the address of a page. Default: the file of the check. */
  readonly ground?: string;
  /** What a violation is. Default: fail. */
  readonly level?: 'fail' | 'warning';
  /** Its own requests. Default: none; it judges every answer of the run. */
  readonly sends?: readonly OwnRequest[];
  /** The answers that it is about. Default: all. */
  readonly where?: (answer: OwnAnswer) => boolean;
  /** Completes "expected …". Default: what the title says. */
  readonly expects?: string;
  /** Completes "got …"; null if the answer conforms. `all`: the answers of its own requests. */
  readonly judge: (answer: OwnAnswer, all: readonly OwnAnswer[]) => string | null;
  /** Without it, the check only observes. */
  readonly proof?: OwnProof;
}

/** Declares a check of one's own. The default export of a module is a list of them. */
export function check(id: string, rule: Omit<OwnCheck, 'id'>): OwnCheck {
  return { ...rule, id };
}

/** Number of checks of a module, and of requests of a check. */
const MOST_CHECKS = 200;
const MOST_REQUESTS = 20;

const ID = /^[a-z][a-z0-9-]{0,39}(?:\.[a-z0-9][a-z0-9-]{0,59}){1,3}$/;

/** The fault of a default export, and the remedy; null if it is a list of checks. */
export function ownChecksFault(
  exported: unknown,
  taken: readonly string[],
): readonly [problem: string, remedy: string] | null {
  if (!Array.isArray(exported))
    return ['its default export is no list of checks', "export default [check('house.request-id', { … })]"];
  if (exported.length === 0 || exported.length > MOST_CHECKS)
    return [`it has ${exported.length} checks`, `write 1 to ${MOST_CHECKS} of them`];
  const seen = new Set<unknown>();
  for (const [index, each] of exported.entries()) {
    const found = ownCheckFault(each, index, taken);
    if (found !== null) return found;
    if (seen.has(each.id)) return [`the id ${each.id} is there twice`, 'give each check an id of its own'];
    seen.add(each.id);
  }
  return null;
}

function ownCheckFault(
  each: unknown,
  index: number,
  taken: readonly string[],
): readonly [string, string] | null {
  if (!isJsonObject(each)) return [`check ${index + 1} is no object`, 'use check(id, { … })'];
  const { id, level, sends, where, judge, proof } = each;
  if (typeof id !== 'string' || !ID.test(id))
    return [`check ${index + 1} has no id such as house.request-id`, 'write lower-case words with dots'];
  const [prefix = ''] = id.split('.');
  if (taken.includes(prefix))
    return [`${id}: the suite ${prefix} ships with conform`, 'begin ids with a name of your own'];
  const missing = ['title', 'why', 'change'].find((name) => typeof each[name] !== 'string' || !each[name]);
  if (missing !== undefined) return [`${id} has no ${missing}`, `write ${missing}: '…'`];
  const text = ['ground', 'expects'].find((name) => !['string', 'undefined'].includes(typeof each[name]));
  if (text !== undefined) return [`${id}: ${text} is no text`, `write ${text}: '…', or leave it out`];
  if (typeof judge !== 'function')
    return [`${id} has no function judge`, 'write judge: (answer) => null, or a text that names the fault'];
  if (where !== undefined && typeof where !== 'function')
    return [`${id}: where is no function`, 'write where: (answer) => answer.status === 200'];
  if (level !== undefined && level !== 'fail' && level !== 'warning')
    return [`${id}: the level is ${JSON.stringify(level)}`, 'write fail or warning'];
  if (sends !== undefined && !areRequests(sends))
    return [`${id}: sends is no list of requests`, `write 1 to ${MOST_REQUESTS}, such as ${REQUEST}`];
  return proof === undefined ? null : proofFault(id, proof);
}

const REQUEST = "{ method: 'GET', path: '/health' }";

function proofFault(id: string, proof: unknown): readonly [string, string] | null {
  const { conforming, defects, requests } = isJsonObject(proof) ? proof : {};
  if (typeof conforming !== 'function')
    return [`${id}: the proof has no function conforming`, 'write conforming: () => ({ status: 200 })'];
  const named = isJsonObject(defects) ? Object.values(defects) : [];
  if (named.length === 0 || !named.every((each) => typeof each === 'function'))
    return [
      `${id}: the proof has no defects`,
      "write defects: { 'without-id': (response) => ({ ...response, headers: {} }) }",
    ];
  if (requests !== undefined && !areRequests(requests))
    return [`${id}: the requests of the proof are no list of requests`, `write such as ${REQUEST}`];
  return null;
}

function areRequests(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MOST_REQUESTS &&
    value.every(
      (each) =>
        isJsonObject(each) &&
        typeof each.path === 'string' &&
        /^\/[\x21-\x7e]*$/.test(each.path) &&
        (each.method === undefined || (typeof each.method === 'string' && /^[A-Z]+$/.test(each.method))) &&
        (each.credential === undefined || each.credential === 'right' || each.credential === 'none') &&
        (each.headers === undefined ||
          (isJsonObject(each.headers) &&
            Object.entries(each.headers).every(
              ([name, text]) =>
                /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof text === 'string' && !/[\0\r\n]/.test(text),
            ))),
    )
  );
}
