import type { Conversation } from '../conversation.ts';
import type { Exchange, FieldLine, RecordedRequest } from '../exchange.ts';
import { isToken } from '../fields/grammar/field-grammar.ts';
import { fieldValue } from '../fields/grammar/field-lines.ts';
import { latin1Text } from '../octets/latin1.ts';
import { visible } from '../octets/visible.ts';
import { findMarkers } from '../redaction/marker.ts';
import { printfCommand, secretWord, shellWord } from './shell-word.ts';

/** A conversation stays open after its handshake; curl gives up after so many seconds. */
const HANDSHAKE_SECONDS = 5;
/** A longer one does not fit a command line. In octets. */
const LONGEST_BODY = 16 * 1024;

/** How TLS was set up: files in PEM, null for none. */
export interface TlsSetup {
  readonly files: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null };
  readonly insecure: boolean;
}

/**
 * One line for a POSIX shell that repeats the request of an exchange, or the handshake of a conversation, with curl:
 * the same octets as far as curl can send them, every secret as `"$NAME"`, or made of it. What curl cannot send is named in a
 * comment at the end. Hostile text in the request cannot break out of its quotes.
 */
export function curlCommand(evidence: Exchange | Conversation, tls?: TlsSetup): string {
  const request = evidence.kind === 'exchange' ? evidence.request : evidence.handshake.request;
  const { options, unsent } = fieldOptions(request);
  const { body } = request;
  const isSent = body !== null && body.bytes.length <= LONGEST_BODY;
  const pipe = isSent ? `${printfCommand(latin1Text(body.bytes))} | ` : '';
  const words = [
    'curl',
    '-sS',
    ...methodOptions(request),
    ...(evidence.kind === 'conversation' ? ['-N', '-m', String(HANDSHAKE_SECONDS)] : []),
    ...(/^(?:https|wss):/i.test(request.url) ? ['--http1.1', ...tlsOptions(tls)] : []),
    '--path-as-is',
    ...targetWords(request),
    ...options,
    ...(isSent ? ['--data-binary', '@-'] : []),
  ];
  const missing = [
    ...unsent,
    ...(body !== null && !isSent ? [`the body of ${body.received} octets`] : []),
    ...(isSent && body.truncated ? ['the end of the body, which was not recorded'] : []),
  ];
  const comment = missing.length > 0 ? ` # without ${visible(missing.join(', '), 200)}` : '';
  return `${pipe}${words.join(' ')}${comment}`;
}

function tlsOptions(tls: TlsSetup | undefined): readonly string[] {
  if (tls === undefined) return [];
  const { ca, cert, key } = tls.files;
  const files = { '--cacert': ca, '--cert': cert, '--key': key };
  const named = Object.entries(files).flatMap(([option, file]) =>
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
    ...(globs ? ['-g'] : []),
    ...words.map((word) => (word === '--request-target' ? word : shellWord(word))),
  ];
}

/** Sent by curl of its own accord: taken away where the request did not have them. */
const OF_CURLS_OWN = ['Host', 'User-Agent', 'Accept'];

function fieldOptions(request: RecordedRequest): { options: readonly string[]; unsent: readonly string[] } {
  const options: string[] = [];
  const unsent: string[] = [];
  const [host, ...furtherHosts] = request.fields.filter(isHost);
  for (const line of request.fields) {
    if (furtherHosts.length === 0 && isCurlsOwn(line, request)) continue;
    // Of several curl sends the first alone.
    if (isHost(line) && line !== host) {
      unsent.push(`the field line "${line[0]}: ${line[1]}"`);
      continue;
    }
    const basic = basicCredentials(line);
    if (basic !== null) options.push('-u', basic);
    else if (isToken(line[0])) options.push('-H', shellWord(fieldArgument(line)));
    else unsent.push(`the field line "${line[0]}: ${line[1]}"`);
  }
  const absent = [...OF_CURLS_OWN, ...(request.body ? ['Content-Type'] : [])].filter(
    (name) => fieldValue(request.fields, name) === undefined,
  );
  return { options: [...options, ...absent.flatMap((name) => ['-H', `'${name}:'`])], unsent };
}

function isHost([name]: FieldLine): boolean {
  return name.toLowerCase() === 'host';
}

/** curl sends an empty value only when a semicolon stands in place of the colon. */
function fieldArgument([name, value]: FieldLine): string {
  return value === '' ? `${name};` : `${name}: ${value}`;
}

/** curl makes the same line by itself. */
function isCurlsOwn([name, value]: FieldLine, { url, body }: RecordedRequest): boolean {
  switch (name.toLowerCase()) {
    case 'host':
      return value === URL.parse(url)?.host;
    case 'content-length':
      return body !== null && !body.truncated && value === String(body.received);
    default:
      return false;
  }
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
