import type { Socket } from 'node:net';
import type { ExchangeFailure } from '../exchange.ts';
import { listElements } from '../fields/grammar/field-grammar.ts';
import { fieldValues } from '../fields/grammar/field-lines.ts';
import { visible } from '../octets/visible.ts';
import { ResponseReader } from '../reader/http1-reader.ts';
import type { ReadResponse } from '../reader/reading.ts';
import type { Address } from './address.ts';
import type { Network } from './options.ts';
import { type ForwardProxy, proxyFor } from './proxies.ts';

/** What is read of a proxy's answer, in octets; of its content, which is of no use here, nothing. */
const LIMITS = { bodyBytes: 0, fieldBytes: 16 * 1024 };

/** The proxy and the variable that names it, for messages. */
export function proxyInWords({ shown, variable }: ForwardProxy): string {
  return `the proxy ${shown} (${variable})`;
}

/**
 * Has the proxy at the other end of a connection open a tunnel to an address (RFC 9110 §9.3.6). Plain http goes through
 * one as well: a proxy that hands messages on changes them, and what it made of them would be judged.
 *
 * @returns why there is none, in a sentence; null when what is sent from now on goes to the address.
 */
export async function openTunnel(socket: Socket, proxy: ForwardProxy, to: Address): Promise<string | null> {
  const { response, leftover } = await ask(socket, proxy, to);
  const who = proxyInWords(proxy);
  if (response === null) return `${who} did not answer when asked for a tunnel to ${hostAndPort(to)}`;
  if (response.status < 200 || response.status > 299) return refusal(response, proxy, to);
  if (leftover.length > 0) socket.unshift(leftover);
  return null;
}

/**
 * What a proxy says for itself where it has opened what goes through the tunnel, and not the service: it wants a login
 * (RFC 9110 §15.5.8), or names the trouble that it had (RFC 9209 §2.1.1, and squid in its own way). Null for all else.
 */
export function proxysOwn(
  response: Pick<ReadResponse, 'status' | 'fields'> | null,
  to: Address,
  { proxies }: Network,
): ExchangeFailure | null {
  const proxy = response && proxies ? proxyFor(to, proxies) : null;
  if (response === null || proxy === null) return null;
  const { status, fields } = response;
  const [sign] = fields.filter(([name, value]) => TELLS_OF_TROUBLE.get(name.toLowerCase())?.test(value));
  if (status !== 407 && (status < 500 || sign === undefined)) return null;
  const told = sign ? ` (${sign[0]}: ${visible(sign[1], 80)})` : '';
  return {
    kind: 'proxy',
    message: `${proxyInWords(proxy)}, or one behind it, answered ${status} inside the tunnel${told}: that is no answer of the service`,
  };
}

const TELLS_OF_TROUBLE = new Map([
  ['proxy-status', /;\s*error=/],
  ['x-squid-error', /^ERR_/],
]);

function hostAndPort({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Resolves when the head of the answer is in, or when none will come. Leaves the socket paused. */
function ask(
  socket: Socket,
  { login }: ForwardProxy,
  to: Address,
): Promise<Pick<ResponseReader, 'response' | 'leftover'>> {
  const reader = new ResponseReader({ method: 'CONNECT', limits: LIMITS });
  const basic = login && `Proxy-Authorization: Basic ${Buffer.from(login.reveal()).toString('base64')}\r\n`;
  return new Promise((resolve) => {
    const done = () => {
      socket.off('data', received).off('end', done).off('error', done).off('close', done);
      socket.pause();
      resolve(reader);
    };
    const received = (octets: Buffer) => {
      reader.push(octets);
      if (reader.headWhole || reader.settled) done();
    };
    socket.on('data', received).on('end', done).on('error', done).on('close', done);
    socket.write(`CONNECT ${hostAndPort(to)} HTTP/1.1\r\nHost: ${hostAndPort(to)}\r\n${basic ?? ''}\r\n`);
    socket.resume();
  });
}

/** It is the proxy that speaks here, and not the service. */
function refusal({ status, reason, fields }: ReadResponse, proxy: ForwardProxy, to: Address): string {
  const who = proxyInWords(proxy);
  const answered = `it answered ${`${status} ${visible(reason, 80)}`.trim()}`;
  if (status === 407) {
    const offered = listElements(fieldValues(fields, 'proxy-authenticate').join(','))
      .map((challenge) => /^([A-Za-z][\w-]*)(?: |$)/.exec(challenge)?.[1])
      .filter((scheme) => scheme !== undefined);
    if (offered.length > 0 && !offered.some((scheme) => scheme.toLowerCase() === 'basic')) {
      return `${who} lets nobody in without ${visible(offered.join(' or '), 80)} (${answered}), and only Basic is known`;
    }
    return proxy.login === null
      ? `${who} wants a user and a password (${answered}): write them into ${proxy.variable}, as in http://USER:PASSWORD@HOST:PORT`
      : `${who} refuses the user and the password that ${proxy.variable} has for it (${answered})`;
  }
  if (status >= 500) return `${who} could not reach ${hostAndPort(to)}: ${answered}`;
  const plain = to.secure
    ? ''
    : '; plain http takes a tunnel (CONNECT) as well, since a proxy that hands messages on changes them: have it allow that port, use https, or name the host in NO_PROXY';
  return `${who} refuses a tunnel to ${hostAndPort(to)}: ${answered}${plain}`;
}
