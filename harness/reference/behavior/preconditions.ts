import { createHash } from 'node:crypto';
import { bare, type HttpAnswer, problem } from '../http/answer.ts';
import { fieldValues, listMembers, type ReceivedRequest, withField, withoutField } from '../http/message.ts';
import { allowedMethods, findRoute, type Route, type RouteMatch } from '../http/routes.ts';
import type { Kernel } from './behavior.ts';

/** Octets; RFC 9110 §4.1 recommends at least 8000. */
const TARGET_LIMIT = 8_192;
/** Octets of all field names and values together. */
const FIELDS_LIMIT = 16_384;

/** Methods this service knows of (RFC 9110 §9.3, RFC 5789); any other is not implemented. */
const KNOWN_METHODS = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
]);

const BAD_PERCENT = /%(?![0-9A-Fa-f]{2})/;

function sizeOfFields(request: ReceivedRequest): number {
  return request.fields.reduce((octets, [name, value]) => octets + name.length + value.length + 4, 0);
}

function decodes(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** RFC 9112 §3.2: exactly one Host field in HTTP/1.1. */
function lacksHost(request: ReceivedRequest): boolean {
  const lines = fieldValues(request, 'host').length;
  return request.httpVersion === '1.0' ? lines > 1 : lines !== 1;
}

/** RFC 3986 §3.2.2: a name or an address, and a port. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;
/** RFC 9112 §7: those that are undone here. */
const KNOWN_CODINGS: ReadonlySet<string> = new Set(['chunked']);
/** RFC 9112 §6.1, §6.3: where the message ends is not known, so nothing more is read. */
const CLOSING = [['Connection', 'close']] as const;

type Precondition = (request: ReceivedRequest) => HttpAnswer | null;

/**
 * Conditions on a message, in this order, before its credential is looked at, as with an HTTP server before the
 * service. A request refused here takes nothing from a quota.
 */
const OF_THE_MESSAGE: readonly Precondition[] = [
  (request) => (/^(?:1\.|2$)/.test(request.httpVersion) ? null : problem('version-not-supported')),
  (request) => (request.target.length > TARGET_LIMIT ? problem('target-too-long') : null),
  (request) => (sizeOfFields(request) > FIELDS_LIMIT ? problem('fields-too-large') : null),
  (request) => (lacksHost(request) ? problem('malformed') : null),
  (request) => (fieldValues(request, 'host').every((host) => HOST.test(host)) ? null : problem('malformed')),
  (request) => {
    const codings = listMembers(request, 'transfer-encoding');
    if (codings.length > 0 && request.httpVersion === '1.0') return problem('malformed', CLOSING);
    return codings.every((coding) => KNOWN_CODINGS.has(coding)) ? null : problem('unknown-coding', CLOSING);
  },
];

/** Conditions on a request, in this order, before its route is looked at. */
const OF_THE_REQUEST: readonly Precondition[] = [
  (request) => (KNOWN_METHODS.has(request.method) ? null : problem('unknown-method')),
  (request) => (BAD_PERCENT.test(request.path) || !decodes(request.path) ? problem('malformed') : null),
];

function firstRefusal(conditions: readonly Precondition[], request: ReceivedRequest): HttpAnswer | null {
  for (const condition of conditions) {
    const refusal = condition(request);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** The refusal of a message that no service would be shown; null when there is nothing against it. */
export function refuseMessage(request: ReceivedRequest): HttpAnswer | null {
  return firstRefusal(OF_THE_MESSAGE, request);
}

/** The answer to an authorised request within its quota. */
export function answerWithin(
  request: ReceivedRequest,
  match: RouteMatch<Route> | null,
  kernel: Kernel,
): HttpAnswer {
  const refusal = firstRefusal(OF_THE_REQUEST, request);
  if (refusal !== null) return refusal;
  if (request.method === 'OPTIONS' && request.target === '*') return options(['GET', 'HEAD', 'OPTIONS']);
  if (match === null) return unrouted(request, kernel);

  const { route, parameters } = match;
  const own = route.methods[request.method];
  if (own === undefined && request.method === 'OPTIONS') return options(allowedMethods(route));
  const handler = own ?? (request.method === 'HEAD' ? route.methods.GET : undefined);
  if (handler === undefined)
    return problem('method-not-allowed', [['Allow', allowedMethods(route).join(', ')]]);
  return conditional(handler({ request, parameters }), request);
}

/** A WebSocket address asked for by plain HTTP, or nothing (RFC 9110 §15.5.22, RFC 6455 §4.2.2). */
function unrouted(request: ReceivedRequest, kernel: Kernel): HttpAnswer {
  if (findRoute(kernel.service.sockets, request.path) === null) return problem('not-found');
  if (request.method === 'OPTIONS') return options(['GET', 'OPTIONS']);
  if (request.method !== 'GET') return problem('method-not-allowed', [['Allow', 'GET, OPTIONS']]);
  return upgradeRequired();
}

export function upgradeRequired(): HttpAnswer {
  return problem('upgrade-required', [
    ['Upgrade', 'websocket'],
    ['Connection', 'Upgrade'],
    ['Sec-WebSocket-Version', '13'],
  ]);
}

function options(methods: readonly string[]): HttpAnswer {
  return bare('options', 204, [['Allow', methods.join(', ')]]);
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}

/** The validator of this content: another one for other octets (RFC 9110 §8.8.3). */
export function entityTagOf(content: Buffer): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 16)}"`;
}

/** The entity tags of a field (RFC 9110 §13.1), as they were sent. */
function tagsOf(request: ReceivedRequest, name: string): readonly string[] {
  return fieldValues(request, name).flatMap((line) => line.split(',').map((tag) => tag.trim()));
}

/** Adds the validator of what a GET or HEAD gets, and honours If-Match and If-None-Match (RFC 9110 §13.2.2). */
function conditional(answer: HttpAnswer, request: ReceivedRequest): HttpAnswer {
  if (answer.stream) return answer;
  if (answer.responseKind !== 'served' || (request.method !== 'GET' && request.method !== 'HEAD'))
    return answer;
  const tag = entityTagOf(answer.body);
  const demanded = tagsOf(request, 'if-match');
  if (demanded.length > 0 && !demanded.includes('*') && !demanded.includes(tag))
    return problem('precondition-failed');
  const tagged = withField(answer, 'ETag', tag);
  const held = tagsOf(request, 'if-none-match').map(opaque);
  return held.includes('*') || held.includes(tag) ? notModified(tagged) : tagged;
}

/** 304 in place of the content. */
export function notModified(answer: HttpAnswer): HttpAnswer {
  return { ...withoutField(answer, 'Content-Type'), responseKind: 'not-modified', status: 304 };
}
