import { problem } from '../http/answer.ts';
import { fieldValue, fieldValues, listMembers, type ReceivedRequest } from '../http/message.ts';
import { findRoute } from '../http/routes.ts';
import type { HandshakeRule, HandshakeVerdict, Kernel } from './behavior.ts';
import { authenticated, credentialRefusal } from './handling.ts';
import { upgradeRequired } from './preconditions.ts';

/** 16 octets in base64 (RFC 6455 §4.2.1 item 5). */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

/**
 * Whether a request is to be judged as an opening handshake; if not, it is plain HTTP. The Connection field has
 * been seen to by Node; an Upgrade in HTTP/1.0 is ignored (RFC 9110 §7.8).
 */
export function asksForWebSocket(request: ReceivedRequest, kernel: Kernel): boolean {
  return (
    request.httpVersion === '1.1' &&
    listMembers(request, 'upgrade').includes('websocket') &&
    findRoute(kernel.service.sockets, request.path) !== null
  );
}

/** RFC 6455 §4.2.1 and §4.2.2, authentication first as everywhere. */
export const HANDSHAKE_RULES: readonly HandshakeRule[] = [
  {
    name: 'credential',
    refuses: (request, kernel, endpoint) => {
      if (!endpoint.credential) return null;
      const authentication = authenticated(request, kernel);
      return authentication.admitted ? null : credentialRefusal(kernel.access, authentication.reason);
    },
  },
  {
    name: 'method',
    refuses: (request) =>
      request.method === 'GET' ? null : problem('method-not-allowed', [['Allow', 'GET, OPTIONS']]),
  },
  {
    name: 'version',
    refuses: (request) => {
      const versions = fieldValues(request, 'sec-websocket-version');
      return versions.length === 1 && versions[0]?.trim() === '13' ? null : upgradeRequired();
    },
  },
  {
    name: 'host',
    refuses: (request) => (fieldValues(request, 'host').length === 1 ? null : problem('malformed')),
  },
  {
    name: 'key',
    refuses: (request) => {
      const keys = fieldValues(request, 'sec-websocket-key');
      return keys.length === 1 && KEY.test(keys[0] ?? '') ? null : problem('malformed');
    },
  },
  {
    name: 'origin',
    // A request without Origin comes from no browser (§4.2.1 item 7) and proves itself by its credential.
    refuses: (request, kernel) => {
      const origin = fieldValue(request, 'origin');
      const foreign = kernel.origin !== null && origin !== undefined && origin !== kernel.origin;
      return foreign ? problem('forbidden-origin') : null;
    },
  },
];

/** Holds a handshake against the rules of the behavior. */
export function judgeHandshake(request: ReceivedRequest, kernel: Kernel): HandshakeVerdict {
  const match = findRoute(kernel.service.sockets, request.path);
  if (match === null) return { accepted: false, answer: problem('not-found') };
  const { route: endpoint, parameters } = match;
  for (const rule of kernel.behavior.websocket.rules) {
    const answer = rule.refuses(request, kernel, endpoint);
    if (answer !== null) return { accepted: false, answer };
  }
  return { accepted: true, endpoint, parameters, closeCode: null };
}
