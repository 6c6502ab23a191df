import { withoutMoment } from '../../config/credential/signing/signature.ts';
import type { FieldLine, RecordedBody, RecordedRequest } from '../../wire/exchange.ts';
import { fieldValues } from '../../wire/fields/grammar/field-grammar.ts';
import { expectedAccept } from '../../wire/http/request.ts';
import type { Redaction } from '../../wire/redaction/redaction.ts';
import type { HttpRequest } from '../../wire/request.ts';
import { addressOf, targetBelow } from '../../wire/socket/address.ts';
import type { TransportOptions } from '../../wire/socket/options.ts';

/** What a request of ours is held against what was recorded with. */
interface Comparison extends Pick<TransportOptions, 'redaction' | 'baseUrl' | 'headers'> {
  /** It was recorded for the same purpose; not so, by anybody. */
  readonly isNamed: boolean;
  /** A key is a signed token, which is another one in each run, and so is what is forged of it. */
  readonly hasToken: boolean;
  /** Further requests go behind it, of which the recorded body tells. */
  readonly hasBehind?: boolean;
}

/** Fields that a transport adds to each request, where the request has none of its own. */
const OF_THE_TRANSPORT = ['host', 'connection', 'content-length', 'user-agent', 'x-conform-run'];
/** Fields that clients add, and that change nothing of what is asked. */
const OF_THE_CLIENT =
  /^(?:accept-language|dnt|priority|referer|sec-(?:ch-ua|fetch|gpc).*|upgrade-insecure-requests)$/;

/** Whether what was recorded is the very request that is to be sent, but for what differs from one run to the next. */
export function isSameRequest(
  recorded: RecordedRequest,
  request: HttpRequest,
  { redaction, baseUrl, headers = [], isNamed, hasToken, hasBehind = false }: Comparison,
): boolean {
  const target = targetBelow(addressOf(baseUrl), request.target);
  if (recorded.method !== redaction.text(request.method)) return false;
  const alike = (text: string) => (isNamed && hasToken ? text.replaceAll(FORGED, 'a forged token') : text);
  if (alike(targetOf(recorded.target, isNamed)) !== alike(targetOf(redaction.text(target), isNamed)))
    return false;
  if ((recorded.hasBehind ?? false) !== hasBehind) return false;
  if (!hasBehind && !isSameBody(recorded.body, request.body ?? null, redaction)) return false;
  const added = [...OF_THE_TRANSPORT, ...headers.map(([name]) => name.toLowerCase())];
  const isAdded = (name: string) =>
    fieldValues(request.fields, name).length === 0 &&
    (added.includes(name) || (!isNamed && OF_THE_CLIENT.test(name)));
  const theirs = recorded.fields.filter(([name]) => !isAdded(name.toLowerCase()));
  return alike(fieldsText(theirs, isNamed)) === alike(fieldsText(redaction.fields(request.fields), isNamed));
}

/** What begins as a token does (RFC 7515 §7.1), or with a part of one that was taken out. */
const FORGED = /(?:eyJ[\w-]|\[redacted:[^\]]+:part\])(?:[\w.-]|\[redacted:[^\]]+\])*/g;

function targetOf(target: string, isNamed: boolean): string {
  return isNamed ? withoutMoment(target) : target;
}

function isSameBody(recorded: RecordedBody | null, body: Uint8Array | null, redaction: Redaction): boolean {
  const ours = body === null ? Buffer.alloc(0) : Buffer.from(redaction.octets(body));
  const theirs = recorded?.bytes ?? new Uint8Array();
  return recorded?.truncated
    ? ours.subarray(0, theirs.length).equals(theirs) && ours.length >= theirs.length
    : ours.equals(theirs);
}

/** A key of a WebSocket handshake is drawn anew each time; that it is one is all that it says. */
function fieldsText(fields: readonly FieldLine[], isNamed: boolean): string {
  const isDrawn = expectedAccept(fields) !== null;
  const lines = fields.map(([name, value]): FieldLine => {
    const lower = name.toLowerCase();
    return [lower, lower === 'sec-websocket-key' && isDrawn ? 'drawn' : value];
  });
  return JSON.stringify(isNamed ? lines : lines.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))));
}
