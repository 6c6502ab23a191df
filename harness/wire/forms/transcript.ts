import { shortened } from '../../base/text.ts';
import { closeCodeMeaning, OPCODE, opcodeName, readClosePayload } from '../conversation/frame.ts';
import type { Conversation, ConversationEvent, RecordedFrame } from '../conversation.ts';
import type { Burst, BurstEntry, Evidence } from '../evidence.ts';
import { decodeContent } from '../exchange/content/content-coding.ts';
import type {
  ConnectionUse,
  Exchange,
  FieldLine,
  RecordedBody,
  RecordedRequest,
  RecordedResponse,
  Timing,
} from '../exchange.ts';
import { fieldValues } from '../fields/grammar/field-grammar.ts';
import { decodeUtf8, utf8Beginning, visible } from '../octets/utf8.ts';

/** One line of what went over the wire, for a person. */
export interface TranscriptLine {
  /** Milliseconds since the evidence began. */
  readonly atMs: number;
  /** `>` sent, `<` received, `*` noted by the harness. */
  readonly direction: '>' | '<' | '*';
  /** One line: control characters are written out, secrets are markers. */
  readonly text: string;
}

const MOST_LINES = 400;
/** In UTF-16 code units, each. */
const LONGEST_LINE = 1_000;
const LONGEST_BODY_OCTETS = 8 * 1024;
const MOST_BODY_LINES = 100;
const LONGEST_PAYLOAD = 200;
/** The most octets that are shown in hexadecimal, as they are no text. */
const MOST_HEX_OCTETS = 48;

/**
 * What happened, in order, with times: the messages of an exchange, handshake and frames of a conversation, runs of
 * equal answers of a burst. At most 400 lines of at most 1000 characters.
 */
export function transcript(evidence: Evidence): readonly TranscriptLine[] {
  const lines = linesOf(evidence);
  if (lines.length <= MOST_LINES) return lines;
  const kept = lines.slice(0, MOST_LINES - 1);
  const atMs = lines[MOST_LINES - 1]?.atMs ?? 0;
  return [...kept, { atMs, direction: '*', text: `… ${lines.length - kept.length} more lines` }];
}

function linesOf(evidence: Evidence): readonly TranscriptLine[] {
  switch (evidence.kind) {
    case 'exchange':
      return exchangeLines(evidence);
    case 'conversation':
      return conversationLines(evidence);
    case 'burst':
      return burstLines(evidence);
  }
}

function line(atMs: number, direction: TranscriptLine['direction'], text: string): TranscriptLine {
  return { atMs, direction, text: shortened(visible(text, Number.POSITIVE_INFINITY), LONGEST_LINE) };
}

function exchangeLines(exchange: Exchange): readonly TranscriptLine[] {
  const { request, response, timing, connection } = exchange;
  return [
    ...(connection?.replaced ? [line(0, '*', connection.replaced)] : []),
    ...messageLines(request, response, timing),
    ...(exchange.further ?? []).flatMap((each) => responseLines(each, timing.durationMs)),
    ...afterwardsLines(exchange),
    ...endLines(exchange, response && `${response.body.received} octets of content`),
  ];
}

function afterwardsLines({ connection, timing }: Exchange): readonly TranscriptLine[] {
  const { afterwards } = connection ?? {};
  return afterwards ? [line(timing.durationMs, '*', AFTERWARDS[afterwards])] : [];
}

/** What became of a connection behind its last response. */
const AFTERWARDS: Readonly<Record<NonNullable<ConnectionUse['afterwards']>, string>> = {
  ended: 'the service ended the connection',
  reset: 'the service reset the connection',
  open: 'the connection stayed open',
};

function messageLines(
  request: RecordedRequest,
  response: RecordedResponse | null,
  timing: Timing,
): readonly TranscriptLine[] {
  const sentMs = timing.connectMs ?? 0;
  const responseMs = timing.responseMs ?? timing.durationMs;
  const connected =
    timing.connectMs === null ? [] : [line(sentMs, '*', `connected to ${hostOf(request.url)}`)];
  return [
    ...connected,
    ...requestLines(request, sentMs),
    ...(response ? responseLines(response, responseMs) : []),
  ];
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}

function requestLines(request: RecordedRequest, atMs: number): readonly TranscriptLine[] {
  const { method, target, fields, body, httpVersion } = request;
  return [
    line(atMs, '>', `${method} ${target}${httpVersion === '2' ? ' HTTP/2' : ''}`),
    ...fieldLines(fields, atMs, '>'),
    ...(body ? bodyLines(body, fields, atMs, '>') : []),
  ];
}

function responseLines(response: RecordedResponse, atMs: number): readonly TranscriptLine[] {
  const { status, reason, httpVersion, fields, trailers, body, informational, framingFaults } = response;
  const statusLine = (code: number, words: string) => `HTTP/${httpVersion ?? '?'} ${code} ${words}`.trimEnd();
  return [
    ...informational.flatMap((early) => [
      line(atMs, '<', statusLine(early.status, '')),
      ...fieldLines(early.fields, atMs, '<'),
    ]),
    line(atMs, '<', statusLine(status, reason ?? '')),
    ...fieldLines(fields, atMs, '<'),
    ...bodyLines(body, fields, atMs, '<'),
    ...(trailers.length > 0 ? [line(atMs, '*', 'trailers:')] : []),
    ...fieldLines(trailers, atMs, '<'),
    ...(framingFaults ?? []).map((fault) => line(atMs, '*', `framing: ${fault}`)),
  ];
}

function fieldLines(fields: readonly FieldLine[], atMs: number, direction: '>' | '<'): TranscriptLine[] {
  return fields.map(([name, value]) => line(atMs, direction, `${name}: ${value}`));
}

/** An empty line, then the content, its codings undone. */
function bodyLines(
  body: RecordedBody,
  fields: readonly FieldLine[],
  atMs: number,
  direction: '>' | '<',
): readonly TranscriptLine[] {
  const { bytes, received, truncated, withheld } = body;
  if (withheld) {
    const why = withheld.fault ?? withheld.limit;
    return [line(atMs, direction, ''), line(atMs, '*', `${received} octets, withheld: ${why}`)];
  }
  if (bytes.length === 0) return [];
  const codings = fieldValues(fields, 'content-encoding');
  const decoded = decodeContent(bytes, codings, truncated);
  const isDecoded = decoded.fault === null && decoded.limit === null;
  const content = isDecoded ? decoded.octets : bytes;
  const excerpt = utf8Beginning(content, LONGEST_BODY_OCTETS);
  const text = decodeUtf8(excerpt);
  const all = text === null ? [hexOf(excerpt)] : text.split(/\r\n|\n|\r/);
  const shown = all.slice(0, MOST_BODY_LINES);
  const isCut = shown.length < all.length || excerpt.length < content.length || truncated || text === null;
  return [
    line(atMs, direction, ''),
    ...(codings.length > 0 && isDecoded ? [line(atMs, '*', `decoded from ${codings.join(', ')}:`)] : []),
    ...shown.map((each) => line(atMs, direction, each)),
    ...(isCut ? [line(atMs, '*', `… an excerpt of ${received} octets`)] : []),
  ];
}

function endLines({ failure, timing }: Exchange | Conversation, summary: string | null): TranscriptLine[] {
  const { durationMs } = timing;
  if (failure) return [line(durationMs, '*', `failed (${failure.kind}): ${failure.message}`)];
  return summary === null ? [] : [line(durationMs, '*', summary)];
}

function conversationLines(conversation: Conversation): readonly TranscriptLine[] {
  const { handshake, events, timing } = conversation;
  return [
    ...messageLines(handshake.request, handshake.response, timing),
    ...events.map(eventLine),
    ...endLines(conversation, null),
  ];
}

function eventLine(event: ConversationEvent): TranscriptLine {
  const { atMs } = event;
  const direction = event.from === 'client' ? '>' : '<';
  switch (event.type) {
    case 'frame':
      return line(atMs, direction, frameText(event.frame));
    case 'octets': {
      const { octets, omitted, note } = event;
      const more = omitted ? ` and ${omitted} more octets` : '';
      return line(atMs, direction, `${octets.length} octets ${excerptOf(octets)}${more} (${note})`);
    }
    case 'end':
      return line(atMs, direction, 'end of the TCP connection');
    case 'fin':
      return line(atMs, direction, 'end of our side of the TCP connection');
    case 'reset':
      return line(atMs, direction, 'TCP connection reset');
    case 'waited':
      return line(atMs, '*', `waited ${Math.round(event.forMs)} ms ${event.note}`);
  }
}

/** `text, 5 octets, masked: "hello"`. */
function frameText(frame: RecordedFrame): string {
  const { opcode, fin, rsv, masked, length, payload, truncated } = frame;
  const flags = [
    ...(fin ? [] : ['more to follow']),
    ...(rsv === 0 ? [] : [`reserved bits ${rsv.toString(2).padStart(3, '0')}`]),
    ...(masked ? ['masked'] : []),
  ];
  const content =
    opcode === OPCODE.close ? closeText(payload) : payload.length > 0 ? `: ${excerptOf(payload)}` : '';
  const head = [opcodeName(opcode), `${length} octets`, ...flags].join(', ');
  return `${head}${content}${truncated ? ' … (recorded in part)' : ''}`;
}

function closeText(payload: Uint8Array): string {
  const { code, reason } = readClosePayload(payload);
  if (code === null) return payload.length > 0 ? `: ${excerptOf(payload)}` : '';
  const words = reason === null ? ` ${excerptOf(payload.subarray(2))}` : reason === '' ? '' : ` "${reason}"`;
  return `: ${code} (${closeCodeMeaning(code)})${words}`;
}

function excerptOf(octets: Uint8Array): string {
  const text = decodeUtf8(utf8Beginning(octets, LONGEST_PAYLOAD));
  const ellipsis = octets.length > LONGEST_PAYLOAD ? '…' : '';
  return text === null ? hexOf(octets) : `"${visible(text, LONGEST_PAYLOAD)}"${ellipsis}`;
}

function hexOf(octets: Uint8Array): string {
  const hex = Array.from(octets.subarray(0, MOST_HEX_OCTETS), (octet) => octet.toString(16).padStart(2, '0'));
  return `${hex.join(' ')}${octets.length > MOST_HEX_OCTETS ? ' …' : ''}`;
}

function burstLines(burst: Burst): readonly TranscriptLine[] {
  const { entries, mode, credential, before, refusal, timing } = burst;
  const how = mode === 'serial' ? 'one after another' : 'in parallel';
  const after = before > 0 ? `, after ${before} in the same window` : '';
  return [
    line(0, '>', `${entries.length} requests ${how} with the ${credential} credential${after}`),
    ...runsOf(entries).flatMap((run) => runLines(run, timing.startedMs)),
    ...(refusal === null ? [] : [line(timing.durationMs, '*', `the first refusal is ${refusal}`)]),
    line(timing.durationMs, '*', `${entries.length} requests in ${Math.round(timing.durationMs)} ms`),
  ];
}

interface Run {
  readonly first: BurstEntry;
  readonly last: BurstEntry;
  readonly count: number;
}

/** Neighbours with the same answer, in the order of their indices. */
function runsOf(entries: readonly BurstEntry[]): readonly Run[] {
  const runs: Run[] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    if (run && run.last.status === entry.status && run.last.failure === entry.failure) {
      runs[runs.length - 1] = { ...run, last: entry, count: run.count + 1 };
    } else {
      runs.push({ first: entry, last: entry, count: 1 });
    }
  }
  return runs;
}

/** The answer, the number of them, and the quota fields of the first and the last answer. */
function runLines({ first, last, count }: Run, startedMs: number): readonly TranscriptLine[] {
  const answer = first.status ?? `no answer (${first.failure ?? 'unknown'})`;
  const span = count === 1 ? `request ${first.index}` : `requests ${first.index} to ${last.index}`;
  const fields = (entry: BurstEntry) =>
    entry.fields.map(([name, value]) => line(entry.sentMs - startedMs, '<', `  ${name}: ${value}`));
  return [
    line(first.sentMs - startedMs, '<', `${span}: ${answer}`),
    ...fields(first),
    ...(count > 1 && last.fields.length > 0
      ? [line(last.sentMs - startedMs, '<', `  … request ${last.index}:`), ...fields(last)]
      : []),
  ];
}
