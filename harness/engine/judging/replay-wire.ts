import { Blocked } from '../../base/verdict.ts';
import { withoutMoment } from '../../config/credential/signing/signature.ts';
import { standInFor } from '../../config/credential/stand-in.ts';
import type { Exchange, FieldLine, RecordedBody, RecordedRequest } from '../../wire/exchange.ts';
import { fieldValues } from '../../wire/fields/grammar/field-grammar.ts';
import { expectedAccept, type RequestForm } from '../../wire/http/request.ts';
import type { HttpAbout } from '../../wire/http/transport.ts';
import type { Delivery, WebhookReceiver } from '../../wire/http/webhook-receiver.ts';
import type { VirtualClock } from '../../wire/pace/virtual-clock.ts';
import { markerName, withMarkersAs } from '../../wire/redaction/marker.ts';
import type { HttpRequest } from '../../wire/request.ts';
import { addressOf, targetBelow } from '../../wire/socket/address.ts';
import type { About, TransportOptions } from '../../wire/socket/options.ts';
import type { Wire } from '../../wire/wire.ts';
import { askingProbe } from '../session/turn/evidence-log.ts';
import type { RecordedService, Shelf } from './recording.ts';
import { replayConversation } from './replay-conversation.ts';

/** Replays the evidence of a recorded session instead of using sockets. */
export function replayWire(recorded: RecordedService, shelf: Shelf, clock: VirtualClock): Wire {
  let receptions = 0;
  const hasToken = recorded.secrets?.some(({ form }) => form === 'token') ?? false;

  async function exchange(
    request: HttpRequest,
    about: About & Pick<HttpAbout, 'unasked'>,
    options: TransportOptions,
    { behind = [], piecemeal = false, spelled = [] }: RequestForm = {},
  ): Promise<Exchange> {
    about.signal?.throwIfAborted();
    const isSame = likeRequest(request, {
      ...options,
      hasToken,
      hasBehind: behind.length > 0,
      piecemeal,
      spelled,
    });
    const found = shelf.take({
      kind: 'exchange',
      probe: askingProbe(),
      purpose: about.purpose,
      // The requests of a burst are all the same, and not recorded.
      isSame: (each, isNamed) => each.request === null || isSame(each.request, isNamed),
    });
    if (found === null) throw missing(`${request.method} ${about.purpose}`);
    await clock.until(found.timing.startedMs + found.timing.durationMs);
    learn(found, about, options, recorded);
    for (const { after, octets } of recorded.unasked)
      if (after === found.id) about.unasked?.(Buffer.from(octets), found.id);
    const { purpose, credential } = about;
    return { ...found, request: found.request ?? unkept(request), purpose, credential };
  }

  return {
    openHttp: (options) => ({
      send: (request, about) => exchange(request, about, options),
      close: async () => undefined,
    }),
    sendRaw: (options, request, form, about) => exchange(request, about, options, form),
    // A recorded response in HTTP/2 shows it.
    detectHttp2: async () => false,
    async openConnection(options, opening, about) {
      about.signal?.throwIfAborted();
      // Its target is complete already.
      const at = { ...options, baseUrl: new URL(options.baseUrl).origin };
      const isSame = likeRequest(opening.request, { ...at, hasToken });
      const found = shelf.take({
        kind: 'conversation',
        probe: askingProbe(),
        purpose: about.purpose,
        isSame: ({ handshake }, isNamed) => isSame(handshake.request, isNamed),
      });
      if (found === null) throw missing(about.purpose);
      const { connectMs, responseMs, startedMs, durationMs } = { ...found.timing };
      await clock.until(startedMs + (responseMs ?? connectMs ?? durationMs));
      const { purpose, credential } = about;
      const { automatic = {} } = opening;
      return replayConversation(
        { ...found, purpose, credential },
        { clock, redaction: options.redaction, automatic },
      );
    },
    async openReceiver() {
      const place = recorded.receivers[receptions];
      if (place === undefined) throw missing('what the service sends to a receiver of webhooks');
      receptions += 1;
      const sent = shelf.takeAll(askingProbe() ?? '', isDelivery).map(({ evidence }) => evidence);
      return replayReceiver(place, sent, recorded.signatures, clock);
    },
    idOfBurst: (purpose, fresh) => shelf.takeBurst(askingProbe(), purpose)?.id ?? fresh,
    deafness: recorded.tellsUnasked ? null : 'the record does not tell what came without being asked for',
  };
}

function missing(what: string): Blocked {
  const probe = askingProbe();
  return new Blocked(`not in the record: ${what}${probe === null ? '' : ` (${probe})`}`);
}

/** Requests of a burst are not recorded one by one. */
function unkept({ method, target, fields }: HttpRequest): RecordedRequest {
  return { method, url: '', target, fields, body: null };
}

/** The record has a marker in place of an issued secret; a stand-in replaces it. */
function learn(
  { response }: Pick<Exchange, 'response'>,
  { secretsIn }: Pick<About, 'secretsIn'>,
  { redaction }: Pick<TransportOptions, 'redaction'>,
  { secrets }: Pick<RecordedService, 'secrets'>,
): void {
  if (secretsIn === undefined || response === null) return;
  const content = Buffer.from(response.body.bytes).toString('utf8');
  const standIn = (name: string) =>
    standInFor(
      secrets?.find((each) => markerName(each.name) === name) ?? { name, form: 'text', expiresAt: null },
    );
  const made = (text: string) => withMarkersAs(standIn, text) ?? text;
  const fields = response.fields.map(([name, value]) => [name, made(value)] as const);
  for (const secret of secretsIn(made(content), fields) ?? []) redaction.add(secret.name, secret.reveal());
}

const isDelivery = ({ purpose }: Exchange) => purpose.startsWith('to the receiver of webhooks');

function replayReceiver(
  { url, path }: { readonly url: string; readonly path: string },
  recorded: readonly Exchange[],
  signatures: RecordedService['signatures'],
  clock: VirtualClock,
): WebhookReceiver {
  const all = recorded.map((each): Delivery => {
    const worth = signatures.find(({ evidence }) => evidence === each.id)?.worth;
    return { ...deliveryOf(each), ...(worth === undefined ? {} : { signature: worth }) };
  });
  return {
    url,
    path,
    get deliveries() {
      return all.filter(({ atMs }) => atMs <= clock.now());
    },
    async waitFor(count, timeoutMs) {
      const untilMs = clock.now() + timeoutMs;
      const last = all[count - 1];
      const isInTime = last !== undefined && last.atMs <= untilMs;
      await clock.until(isInTime ? last.atMs : untilMs);
      return isInTime;
    },
    close: async () => undefined,
  };
}

function deliveryOf(recorded: Exchange): Delivery {
  const { request, response, timing } = recorded;
  const { method, target, fields, body } = request;
  return {
    atMs: timing.startedMs,
    method,
    target,
    fields,
    body: body?.bytes ?? new Uint8Array(),
    truncated: body?.truncated ?? false,
    answer: { status: response?.status ?? 0, fields: response?.fields ?? [] },
    recorded,
  };
}

/** Context for comparing a request with a recorded one. */
interface Comparison extends Pick<TransportOptions, 'redaction' | 'baseUrl' | 'headers'> {
  /** A key is a signed token, which differs in each run, as do tokens forged from it. */
  readonly hasToken: boolean;
  /** Further requests follow in the recorded body. */
  readonly hasBehind?: boolean;
  /** Any other one if left out. */
  readonly piecemeal?: boolean;
  readonly spelled?: readonly string[];
}

/** Fields that a transport adds. */
const OF_THE_TRANSPORT = ['host', 'connection', 'content-length', 'user-agent', 'x-conform-run'];
/** Fields that clients add without changing the meaning. */
const OF_THE_CLIENT =
  /^(?:accept-language|dnt|priority|referer|sec-(?:ch-ua|fetch|gpc).*|upgrade-insecure-requests)$/;

/**
 * Whether a recorded request is the same apart from values that differ between runs. `isNamed`: it was recorded for the
 * same purpose; false if another client recorded it.
 */
function likeRequest(
  request: HttpRequest,
  { redaction, baseUrl, headers = [], hasToken, hasBehind = false, piecemeal, spelled = [] }: Comparison,
): (recorded: RecordedRequest, isNamed: boolean) => boolean {
  const method = redaction.text(request.method);
  const target = redaction.text(targetBelow(addressOf(baseUrl), request.target));
  const added = [...OF_THE_TRANSPORT, ...headers.map(([name]) => name.toLowerCase())];
  // Most requests already differ in method or target.
  let fields: readonly FieldLine[] | null = null;
  const sent = Buffer.from(request.body ?? []);
  let body: Buffer | null = null;
  return (recorded, isNamed) => {
    if (recorded.method !== method) return false;
    const alike = (text: string) => (isNamed && hasToken ? text.replaceAll(FORGED, 'a forged token') : text);
    if (alike(targetOf(recorded.target, isNamed)) !== alike(targetOf(target, isNamed))) return false;
    if ((recorded.hasBehind ?? false) !== hasBehind) return false;
    if (piecemeal !== undefined && (recorded.piecemeal ?? false) !== piecemeal) return false;
    if ((recorded.spelled ?? []).join() !== spelled.join()) return false;
    if (!hasBehind) {
      // Most bodies hold no secret, and are recorded as they are sent.
      if (!isSameBody(recorded.body, sent)) {
        body ??= Buffer.from(redaction.octets(sent));
        if (!isSameBody(recorded.body, body)) return false;
      }
    }
    const isAdded = (name: string) =>
      fieldValues(request.fields, name).length === 0 &&
      (added.includes(name) || (!isNamed && OF_THE_CLIENT.test(name)));
    const theirs = recorded.fields.filter(([name]) => !isAdded(name.toLowerCase()));
    fields ??= redaction.fields(request.fields);
    return alike(fieldsText(theirs, isNamed)) === alike(fieldsText(fields, isNamed));
  };
}

/** Text that begins as a token does (RFC 7515 §7.1), or with a redacted part of one. */
const FORGED = /(?:eyJ[\w-]|\[redacted:[^\]]+:part\])(?:[\w.-]|\[redacted:[^\]]+\])*/g;

function targetOf(target: string, isNamed: boolean): string {
  return isNamed ? withoutMoment(target) : target;
}

function isSameBody(recorded: RecordedBody | null, body: Buffer): boolean {
  const theirs = recorded?.bytes ?? new Uint8Array();
  return recorded?.truncated
    ? body.subarray(0, theirs.length).equals(theirs) && body.length >= theirs.length
    : body.equals(theirs);
}

/** The key of a WebSocket handshake is random. */
function fieldsText(fields: readonly FieldLine[], isNamed: boolean): string {
  const isDrawn = expectedAccept(fields) !== null;
  const lines = fields.map(([name, value]): FieldLine => {
    const lower = name.toLowerCase();
    return [lower, lower === 'sec-websocket-key' && isDrawn ? 'drawn' : value];
  });
  return JSON.stringify(isNamed ? lines : lines.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))));
}
