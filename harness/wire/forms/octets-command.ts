import { encodeFrame } from '../conversation/frame.ts';
import type { Conversation, ConversationEvent } from '../conversation.ts';
import type { Exchange, RecordedRequest } from '../exchange.ts';
import { latin1Text } from '../octets/utf8.ts';
import { findMarkers } from '../redaction/marker.ts';
import { isOfTheRun } from '../request.ts';
import type { TlsSetup } from './curl.ts';
import { fileOptions, LONGEST_VALUE, longestWritten, printfCommand } from './shell-word.ts';

/** Seconds without anything from the server after which the connection is over. */
const IDLE_SECONDS = 3;
/** Seconds in which the server is expected to have answered the handshake. */
const HANDSHAKE_SECONDS = 1;
/** A conversation with longer pauses, in seconds, is not told by the octets of one side. */
const LONGEST_PAUSES = 20;
/** Milliseconds that are no pause. */
const AT_ONCE_MS = 200;
/** A command line beyond which nobody reads it, in UTF-16 units. */
const LONGEST_COMMAND = 4_000;

/** Letters change their case by it and stay legible, and what is repeated stays repeated. */
const MASK = Buffer.alloc(4, ' ');

/** What the client writes, and how long it has paused before, in ms. */
interface Written {
  readonly afterMs: number;
  readonly text: string;
}

/**
 * One line for a POSIX shell that sends what the client has sent, octet for octet but for masking keys, with nc, or with
 * openssl over TLS. Null where octets alone do not repeat it: some were not recorded, or a secret is encoded in them.
 */
export function octetsCommand(evidence: Exchange | Conversation, tls?: TlsSetup): string | null {
  const request = evidence.kind === 'exchange' ? evidence.request : evidence.handshake.request;
  const head = requestOctets(request);
  const frames = evidence.kind === 'exchange' ? [] : framesSent(evidence);
  const address = URL.parse(request.url.replace(/^ws/i, 'http'));
  if (head === null || frames === null || address === null) return null;
  if (frames.some(({ text }) => longestWritten(text) > LONGEST_VALUE)) return null;
  const isTls = address.protocol === 'https:';
  const steps = [
    printfCommand(head),
    ...frames.flatMap(({ afterMs, text }, at) => {
      const seconds = at === 0 ? HANDSHAKE_SECONDS : Math.ceil(afterMs / 100) / 10;
      return seconds === 0 ? [printfCommand(text)] : [`sleep ${seconds}`, printfCommand(text)];
    }),
    // openssl ends with its input, nc when nothing comes any more.
    ...(isTls ? [`sleep ${IDLE_SECONDS}`] : []),
  ];
  const [only = ''] = steps;
  const input = steps.length === 1 ? only : `{ ${steps.join('; ')}; }`;
  const command = `${input} | ${isTls ? overTls(address, tls) : plainly(address)}${frames.length > 0 ? ' | od -c' : ''}`;
  return command.length > LONGEST_COMMAND ? null : command;
}

function requestOctets(request: RecordedRequest): string | null {
  const { method, target, body, httpVersion, piecemeal } = request;
  const fields = request.fields.filter((line) => !isOfTheRun(line) || line[0] === 'Connection');
  if (piecemeal || body?.truncated || fields.some(([, value]) => isEncodedSecret(value))) return null;
  const lines = [
    `${method} ${target} HTTP/${httpVersion ?? '1.1'}`,
    ...fields.map(([name, value]) => `${name}: ${value}`),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body === null ? '' : latin1Text(body.bytes)}`;
}

/** RFC 7617: the marker stands in the middle of base64, where the secret as it is would be wrong. */
function isEncodedSecret(value: string): boolean {
  return /^basic /i.test(value) && findMarkers(value).length > 0;
}

/** Null where not all of it is known, or it took its time. */
function framesSent({ events }: Conversation): readonly Written[] | null {
  const written: Written[] = [];
  let before: ConversationEvent | null = null;
  for (const event of events) {
    if (event.from === 'client' && (event.type === 'frame' || event.type === 'octets')) {
      const octets = octetsOf(event);
      if (octets === null) return null;
      const pause = before === null ? 0 : event.atMs - before.atMs;
      const afterMs = before?.from === 'server' || pause > AT_ONCE_MS ? Math.max(pause, AT_ONCE_MS) : 0;
      const last = written.at(-1);
      if (last === undefined || afterMs > 0) written.push({ afterMs, text: octets });
      else written[written.length - 1] = { ...last, text: last.text + octets };
    }
    before = event;
  }
  const pauses = written.reduce((sum, { afterMs }) => sum + afterMs, 0);
  return pauses > LONGEST_PAUSES * 1_000 ? null : written;
}

function octetsOf(event: Extract<ConversationEvent, { type: 'frame' | 'octets' }>): string | null {
  if (event.type === 'octets') return event.omitted ? null : latin1Text(event.octets);
  const { payload, masked, truncated, ...frame } = event.frame;
  if (truncated || findMarkers(latin1Text(payload)).length > 0) return null;
  return latin1Text(encodeFrame({ ...frame, payload, mask: masked ? MASK : null }));
}

function plainly({ hostname, port }: URL): string {
  return `nc -w ${IDLE_SECONDS} ${hostOf(hostname)} ${port || '80'}`;
}

function overTls({ hostname, port }: URL, tls?: TlsSetup): string {
  const host = hostOf(hostname);
  const { ca = null, cert = null, key = null } = tls?.files ?? {};
  const options = fileOptions({ '-CAfile': ca, '-cert': cert, '-key': key });
  // RFC 6066 §3: no name is an address.
  const name = /^[\d.]+$|:/.test(host) ? [] : ['-servername', host];
  const words = ['-quiet', '-no_ign_eof', '-nocommands', '-connect', `${hostname}:${port || '443'}`];
  return ['openssl', 's_client', ...words, ...name, ...options].join(' ');
}

/** RFC 3986 §3.2.2: brackets belong to the URL alone. */
function hostOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
