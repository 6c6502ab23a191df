import type { Conversation } from '../../wire/conversation.ts';
import type { Exchange, FieldLine, RecordedBody, RecordedRequest } from '../../wire/exchange.ts';
import { fieldValue } from '../../wire/fields/grammar/field-grammar.ts';
import { decodeUtf8 } from '../../wire/octets/utf8.ts';
import type { ReportFormat } from '../format.ts';
import { readableEvidence } from '../results/evidence/evidence-view.ts';
import type { Results, ServiceResult } from '../results/results.ts';

/** HTTP Archive 1.2 (http://www.softwareishard.com/blog/har-12-spec/); other facts have an underscore. */
export const har: ReportFormat = {
  name: 'har',
  files: [
    {
      path: 'har/SERVICE.har',
      holds: 'the exchanges and WebSocket messages of one service as an HTTP Archive 1.2, secrets taken out',
      readers: "browsers' developer tools, proxies",
    },
  ],
  render(results) {
    const textOf = (service: ServiceResult) => `${JSON.stringify(archiveOf(service, results), null, 1)}\n`;
    const files = results.services.map((service) => [service.service, () => [textOf(service)]] as const);
    return { 'har/SERVICE.har': new Map(files) };
  },
};

/** Where the format has no value. */
const UNKNOWN = -1;

function archiveOf(result: ServiceResult, { run }: Results) {
  const { service, ledger } = result;
  const lines = new Map(ledger.map((line) => [line.evidence, line]));
  const entries = readableEvidence(result).flatMap(([id, read]) => {
    if (read.kind === 'burst') return [];
    const { purpose = read.purpose, probe, requests = 1 } = lines.get(id) ?? {};
    return [{ ...entryOf(read), comment: purpose, _conform: { id, probe: probe ?? null, requests } }];
  });
  return {
    log: {
      version: '1.2',
      creator: { name: run.harness.name, version: run.harness.version },
      entries: entries.toSorted((a, b) => a.startedDateTime.localeCompare(b.startedDateTime)),
      comment: `run ${run.id}, service ${service}; of bursts only the first refusal`,
    },
  };
}

function entryOf(evidence: Exchange | Conversation) {
  const { timing, failure } = evidence;
  const { request, response } = evidence.kind === 'exchange' ? evidence : evidence.handshake;
  const { connectMs, responseMs, durationMs } = timing;
  const wait = Math.max(0, (responseMs ?? durationMs) - (connectMs ?? 0));
  const receive = Math.max(0, durationMs - (connectMs ?? 0) - wait);
  return {
    startedDateTime: timing.startedAt,
    time: durationMs,
    request: requestOf(request),
    // A request without an answer has the status 0, as in browsers.
    response: {
      status: response?.status ?? 0,
      statusText: response?.reason ?? '',
      httpVersion: `HTTP/${response?.httpVersion ?? '1.1'}`,
      cookies: [],
      headers: (response?.fields ?? []).map(headerOf),
      content: contentOf(response?.body ?? null, response?.fields ?? []),
      redirectURL: fieldValue(response?.fields ?? [], 'location') ?? '',
      headersSize: UNKNOWN,
      bodySize: response?.body.received ?? UNKNOWN,
      ...(failure === null ? {} : { _error: failure.message }),
    },
    cache: {},
    timings: { connect: connectMs ?? UNKNOWN, send: 0, wait, receive },
    ...(evidence.kind === 'conversation' ? { _webSocketMessages: messagesOf(evidence) } : {}),
  };
}

function requestOf({ method, url, target, fields, body, httpVersion }: RecordedRequest) {
  const mimeType = fieldValue(fields, 'content-type') ?? '';
  return {
    method,
    url: asUrl(url),
    httpVersion: `HTTP/${httpVersion ?? '1.1'}`,
    cookies: [],
    headers: fields.map(headerOf),
    queryString: queryOf(target),
    headersSize: UNKNOWN,
    bodySize: body?.received ?? 0,
    ...(body === null ? {} : { postData: { mimeType, text: textOf(body.bytes) } }),
    _target: target,
  };
}

/** A target that was chosen on purpose need be no URL; the format wants one. */
function asUrl(text: string): string {
  const escaped = text.replaceAll(
    /[^\w\-.~:/?#@!$&'()*+,;=%]|%(?![0-9a-f]{2})/gi,
    (character) => `%${Buffer.from(character).toString('hex').toUpperCase().match(/../g)?.join('%') ?? ''}`,
  );
  return URL.canParse(escaped) ? escaped : 'about:blank';
}

function queryOf(target: string) {
  const query = target.split('?').slice(1).join('?');
  return [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }));
}

function headerOf([name, value]: FieldLine) {
  return { name, value };
}

function textOf(octets: Uint8Array): string {
  return decodeUtf8(octets) ?? Buffer.from(octets).toString('latin1');
}

function contentOf(body: RecordedBody | null, fields: readonly FieldLine[]) {
  const mimeType = fieldValue(fields, 'content-type') ?? '';
  if (body === null) return { size: 0, mimeType };
  const text = decodeUtf8(body.bytes);
  return {
    size: body.received,
    mimeType,
    ...(text === null ? { text: Buffer.from(body.bytes).toString('base64'), encoding: 'base64' } : { text }),
    ...(body.truncated || body.withheld ? { comment: 'not all of it was kept' } : {}),
  };
}

/** As Chromium writes them. */
function messagesOf({ events, timing }: Conversation) {
  const beganS = Date.parse(timing.startedAt) / 1000;
  return events.flatMap((event) => {
    if (event.type !== 'frame') return [];
    const { frame, from, atMs } = event;
    const type = from === 'client' ? 'send' : 'receive';
    return { type, time: beganS + atMs / 1000, opcode: frame.opcode, data: textOf(frame.payload) };
  });
}
