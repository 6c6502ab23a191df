import type { Conversation } from '../conversation.ts';
import type { Exchange, FieldLine, RecordedRequest } from '../exchange.ts';
import { fieldValue, fieldValues, isToken } from '../fields/grammar/field-grammar.ts';
import { latin1Text } from '../octets/utf8.ts';
import { findMarkers } from '../redaction/marker.ts';
import { isOfTheRun } from '../request.ts';
import { longestWritten, printfCommand, secretWord, shellWord } from './shell-word.ts';

/** A conversation stays open after its handshake; curl gives up after this number of seconds. */
const HANDSHAKE_SECONDS = 5;

/** How TLS is set up for a request that is repeated. */
export interface TlsSetup {
  /** In PEM, by their paths from the working folder; null for none. */
  readonly files: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null };
  /** Any certificate will do. */
  readonly insecure: boolean;
}

/** A command with a longer value, in octets, is not written. */
const LONGEST_VALUE = 200;

/** `curlCommand` as people repeat a finding by it: null as well if it is long, or a conversation is more than its handshake. */
export function repeatCommand(evidence: Exchange | Conversation, tls?: TlsSetup): string | null {
  const { method, target, fields, body } = requestOf(evidence);
  const values = [method, target, ...fields.flat(), ...(body === null ? [] : [latin1Text(body.bytes)])];
  const isTalk =
    evidence.kind === 'conversation' &&
    evidence.events.some(({ from, type }) => from === 'client' && (type === 'frame' || type === 'octets'));
  const isShort = values.every((value) => longestWritten(value) <= LONGEST_VALUE);
  return isShort && !isTalk ? curlCommand(evidence, tls) : null;
}

/**
 * One line for a POSIX shell that repeats the request of an exchange, or the handshake of a conversation, with curl:
 * all that was tried, every secret as `"$NAME"`, or made of it. Null where curl would send something else. Hostile text
 * in the request cannot break out of its quotes.
 */
export function curlCommand(evidence: Exchange | Conversation, tls?: TlsSetup): string | null {
  const request = requestOf(evidence);
  if (!canSend(request)) return null;
  const { body } = request;
  return [
    ...(body === null ? [] : [printfCommand(latin1Text(body.bytes)), '|']),
    'curl',
    '-sS',
    ...methodOptions(request),
    ...(evidence.kind === 'conversation' ? ['-N', '-m', String(HANDSHAKE_SECONDS)] : []),
    ...(evidence.kind === 'exchange' && evidence.stream ? ['-N'] : []),
    ...versionOptions(request),
    ...(SECURE.test(request.url) ? tlsOptions(tls) : []),
    ...targetWords(request),
    ...fieldOptions(request),
    ...(body === null ? [] : ['--data-binary', '@-']),
  ].join(' ');
}

const SECURE = /^(?:https|wss):/i;

/** curl chooses HTTP/2 by itself over TLS alone. */
function versionOptions({ httpVersion, url }: RecordedRequest): readonly string[] {
  const isSecure = SECURE.test(url);
  if (httpVersion === '1.0') return ['--http1.0'];
  if (httpVersion === '2') return [isSecure ? '--http2' : '--http2-prior-knowledge'];
  return isSecure ? ['--http1.1'] : [];
}

function requestOf(evidence: Exchange | Conversation): RecordedRequest {
  return evidence.kind === 'exchange' ? evidence.request : evidence.handshake.request;
}

/** Not where curl would leave a line out, or frame the content by itself. */
function canSend({ fields, body, piecemeal, spelled, hasBehind }: RecordedRequest): boolean {
  const lengths = fieldValues(fields, 'content-length');
  const ownLength = body === null ? '0' : String(body.received);
  return (
    !piecemeal &&
    !spelled &&
    !hasBehind &&
    !body?.truncated &&
    fields.every(([name, value]) => isToken(name) && !/[\0\r\n]/.test(value)) &&
    fieldValues(fields, 'host').length <= 1 &&
    fieldValues(fields, 'transfer-encoding').length === 0 &&
    lengths.length <= 1 &&
    lengths.every((length) => length === ownLength)
  );
}

function tlsOptions(tls: TlsSetup | undefined): readonly string[] {
  if (tls === undefined) return [];
  const { ca, cert, key } = tls.files;
  const named = Object.entries({ '--cacert': ca, '--cert': cert, '--key': key }).flatMap(([option, file]) =>
    file === null ? [] : [option, shellWord(file)],
  );
  return tls.insecure ? ['--insecure', ...named] : named;
}

function methodOptions({ method, body }: RecordedRequest): readonly string[] {
  // -I makes curl expect no content; with a body it would refuse.
  if (method === 'HEAD' && body === null) return ['-I'];
  if (method === 'GET' && body === null) return ['-i'];
  return ['-i', '-X', shellWord(method)];
}

/** Curl would take them out of a path (RFC 3986 §5.2.4), also where they are percent-encoded. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:[/?#]|$)/i;

/** The URL, and the request target where curl would make another of that URL. */
function targetWords({ url, target }: RecordedRequest): readonly string[] {
  const http = url.replace(/^ws/i, 'http');
  const [, origin = http, rest = ''] = /^([a-z]+:\/\/[^/?#]*)([\s\S]*)$/i.exec(http) ?? [];
  const ofUrl = rest.replace(/#[\s\S]*$/, '');
  const asSent = ofUrl.startsWith('/') ? ofUrl : `/${ofUrl}`;
  const isPlain = asSent === target && /^[!-~]*$/.test(http);
  const words = isPlain ? [http] : ['--request-target', target, `${origin}/`];
  // curl takes braces and brackets for patterns, also those that a secret may bring in.
  const globs = words.some((word) => /[[\]{}]/.test(word) || findMarkers(word).length > 0);
  return [
    ...(isPlain && DOT_SEGMENT.test(rest) ? ['--path-as-is'] : []),
    ...(globs ? ['-g'] : []),
    ...words.map((word) => (word === '--request-target' ? word : shellWord(word))),
  ];
}

/** Sent by curl of its own accord: taken away where the request did not have them. An Accept for all is as none. */
const OF_CURLS_OWN = ['Host', 'User-Agent'];

function fieldOptions(request: RecordedRequest): readonly string[] {
  const repeated = request.fields.filter((line) => !isOfTheRun(line) && !isCurlsOwn(line, request));
  const absent = [...OF_CURLS_OWN, ...(request.body ? ['Content-Type'] : [])].filter(
    (name) => fieldValue(request.fields, name) === undefined,
  );
  return [
    ...repeated.flatMap((line) => {
      const basic = basicCredentials(line);
      return basic === null ? ['-H', shellWord(fieldArgument(line))] : ['-u', basic];
    }),
    ...absent.flatMap((name) => ['-H', `'${name}:'`]),
  ];
}

/** curl sends an empty value only when a semicolon stands in place of the colon. */
function fieldArgument([name, value]: FieldLine): string {
  return value === '' ? `${name};` : `${name}: ${value}`;
}

/** curl makes the same line by itself. */
function isCurlsOwn([name, value]: FieldLine, { url }: RecordedRequest): boolean {
  if (name.toLowerCase() === 'host') return value === URL.parse(url)?.host;
  return name.toLowerCase() === 'content-length';
}

/**
 * `-u 'user':"$PASSWORD"` for Basic credentials (RFC 7617) whose password is known: the marker stands in the middle
 * of base64, where the password as it is would be wrong.
 */
function basicCredentials([name, value]: FieldLine): string | null {
  if (name.toLowerCase() !== 'authorization') return null;
  const [only, ...more] = findMarkers(value);
  const prefix = /^Basic +([A-Za-z0-9+/]+)$/.exec(value.slice(0, only?.start ?? 0))?.[1];
  if (prefix === undefined || only === undefined || only.part || more.length > 0 || only.end !== value.length)
    return null;
  // Its last bits went with the character that the password had a share in.
  const user = Buffer.from(prefix, 'base64').toString('latin1').replace(/:$/, '');
  return `${shellWord(`${user}:`)}${secretWord(only.name)}`;
}
