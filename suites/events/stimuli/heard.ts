import type { Operation, ServiceConfig } from '../../../harness/config/service.ts';
import type { ResponseReading } from '../../../harness/engine/check/suite.ts';
import type { Stimulus } from '../../../harness/engine/session/http/stimulus.ts';
import { derived, probe, type Selected } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';
import type { StreamFault, StreamPart } from '../../../harness/wire/stream/part.ts';
import { isStreamType, streamParts } from '../../../harness/wire/stream/stream.ts';
import { operationCalls } from '../../operations/stimuli/operation.ts';
import type { Order, ReasonAgainst } from '../../operations/stimuli/plan.ts';
import { sendOrder, stimulusOf } from '../../operations/stimuli/stimulus.ts';
import type { OperationReply, Trials } from '../../operations/stimuli/trials.ts';

export const EVENT_STREAM = 'text/event-stream';

export function streamsOf({ operations }: ServiceConfig): ServiceConfig['operations'] {
  return operations.filter(({ stream }) => stream !== undefined);
}

const NO_STREAM: ReasonAgainst = { reason: 'its answer is no stream', why: 'left' };
// No other rule judges it, so that a note would be too little.
const CODED: ReasonAgainst = { reason: 'its stream has a content coding', why: 'refused' };
const OVER: ReasonAgainst = { reason: 'it answers 204: there is nothing to listen to', why: 'open' };

/** The streams that were listened to. */
export const heard = derived('heard-streams', [operationCalls], async ({ ask, config }) => {
  const calls = (await ask(operationCalls)).about(new Set(streamsOf(config)));
  return calls.judgeable(({ exchange, status, response }) => {
    if (status === 204) return OVER;
    if (exchange.stream === undefined || !isStreamType(essenceOf(response))) return NO_STREAM;
    return response.contentCodings.length > 0 ? CODED : null;
  });
});

function essenceOf({ mediaType }: OperationReply['response']): string {
  return mediaType?.essence ?? '';
}

export function isEventStream({ response }: OperationReply): boolean {
  return essenceOf(response) === EVENT_STREAM;
}

/** All that has come whole. */
export function partsOf({ response, exchange }: OperationReply): readonly StreamPart[] {
  return streamParts(essenceOf(response), response.content, hasEnded({ exchange }));
}

/** Part by part. One that goes on beyond what is listened to has no end, and is none. */
export const IN_PARTS: ResponseReading<OperationReply> = {
  unread: (_, { exchange }) =>
    exchange.stream?.left === 'octets' && exchange.stream.arrivals.length === 0
      ? 'its first part is longer than is listened to'
      : null,
  partly: true,
};

/** Something of it came, in time or at all: else it shows nothing. */
export function isTelling({ exchange: { stream } }: OperationReply): boolean {
  return stream?.left !== 'time' || stream.arrivals.length > 0;
}

/** By itself, and not within its content. */
function hasEnded({ exchange }: Pick<OperationReply, 'exchange'>): boolean {
  return exchange.failure === null && exchange.stream?.left === undefined;
}

/** The first fault of that kind, with the number of the part that has it; null for none. */
export function faultOfParts(reply: OperationReply, matter: StreamFault['matter']): string | null {
  for (const [at, { faults }] of partsOf(reply).entries()) {
    const fault = faults.find((each) => each.matter === matter);
    if (fault !== undefined) return `${fault.message} in part ${at + 1} of the stream`;
  }
  return null;
}

/** A charset other than UTF-8; null for none. */
export function foreignCharset({ response }: OperationReply): string | null {
  const charset = response.mediaType?.parameters.get('charset');
  return charset === undefined || /^utf-?8$/i.test(charset) ? null : `charset=${visible(charset, 40)}`;
}

/** Time that a busy machine or network may add, in ms. */
const SLACK_MS = 500;

/** What comes first is late; null if it is not, or nothing is documented of it. */
export function lateStart({ exchange, operation: { stream } }: OperationReply): string | null {
  const boundMs = stream?.firstWithinMs ?? null;
  if (boundMs === null || exchange.stream === undefined) return null;
  const { arrivals } = exchange.stream;
  const { responseMs, durationMs } = exchange.timing;
  const afterMs = (arrivals[0] ?? durationMs) - (responseMs ?? 0);
  if (afterMs <= boundMs + SLACK_MS) return null;
  return arrivals.length === 0 ? 'nothing while it was listened to' : 'a later one';
}

/** A silence that is longer than the documented heartbeat allows; null for none. */
export function silence({ exchange, operation: { stream } }: OperationReply): string | null {
  const boundMs = stream?.heartbeatMs ?? null;
  if (boundMs === null || exchange.stream === undefined) return null;
  const { arrivals, left } = exchange.stream;
  const { responseMs, durationMs } = exchange.timing;
  const moments = [responseMs ?? 0, ...arrivals, ...(left === 'time' ? [durationMs] : [])];
  const at = moments.findIndex((atMs, index) => atMs - (moments[index - 1] ?? atMs) > boundMs + SLACK_MS);
  if (at === -1) return null;
  const together = arrivals.filter((atMs) => atMs === arrivals[at - 1]).length;
  const before = at === 2 ? '1 part' : `${at - 1} parts`;
  const after = at === 1 ? 'from its beginning' : `after ${before}`;
  return `a longer silence ${after}${together > 1 ? `, and then ${together} parts at once` : ''}`;
}

/** The ids that events have of their own, in their order. */
function idsOf(reply: OperationReply): readonly string[] {
  return partsOf(reply).flatMap(({ value }) =>
    typeof value === 'object' && value !== null && 'id' in value ? [String(value.id)] : [],
  );
}

/** A stream that is asked for again, and what was heard of it before. */
export interface ResumedStream {
  readonly reply: OperationReply;
  /** The id of the last event that the client has seen; null if no event has one, and so nothing can be resumed. */
  readonly seen: string | null;
  /** The ids of the events that came after that one. */
  readonly missed: readonly string[];
  /** Why it could not be asked for again, so that `reply` is the first one; null if it was. */
  readonly unfit: string | null;
}

/** At the first event; null if no others came after it, or its id is of no use. */
function resumptionOf(reply: OperationReply) {
  const [seen = '', ...missed] = idsOf(reply);
  const isFit = missed.length > 0 && new Set([seen, ...missed]).size === 1 + missed.length;
  return isFit && /^[\x21-\x7e]{1,200}$/.test(seen) ? { seen, missed } : null;
}

/** How long the events that were missed are awaited, in ms. */
const MISSED_MS = 5_000;

/** Each stream once more, with the id of its first event in Last-Event-ID. */
export const resumed = probe<Selected<ResumedStream>>(
  'resumed-streams',
  { needs: [heard], cost: (config) => streamsOf(config).length },
  async ({ ask, config, http }) => {
    const known: ResumedStream[] = [];
    const streams = among(await ask(heard), streamsOf(config));
    for (const before of streams.all) {
      // Records of JSON are no events, and have no ids.
      const items = partsOf(before).filter(({ kind }) => kind === 'item').length;
      if (!isEventStream(before) || items < 2) continue;
      if (idsOf(before).length === 0) {
        known.push({ reply: before, seen: null, missed: [], unfit: null });
        continue;
      }
      const resumption = resumptionOf(before);
      if (resumption === null) {
        const unfit = 'its ids are not one for each event, or fit in no header';
        known.push({ reply: before, seen: null, missed: [], unfit });
        continue;
      }
      const reply = await sendOrder({ http }, before.order, {
        purpose: `${before.operation.template} with the Last-Event-ID of its first event`,
        fields: [...before.order.fields, ['Last-Event-ID', resumption.seen]],
        // With those that have no id, such as a greeting.
        listen: { items: items - 1, forMs: MISSED_MS },
      });
      known.push({ reply, ...resumption, unfit: null });
    }
    return { ...streams, all: known };
  },
);

/** What is lost or repeated; null for nothing. 204 tells a client to come no more. */
export function resumptionFault({ reply, seen, missed }: ResumedStream): string | null {
  if (seen === null) return 'events without an id';
  if (reply.status === 204) return null;
  if (!reply.served) return `status ${reply.response.status}`;
  const ids = idsOf(reply);
  if (ids.includes(seen)) return 'the event that the client names, once more';
  if (ids.length === 0) return 'no event';
  const at = ids.findIndex((id, index) => index < missed.length && id !== missed[index]);
  if (at === -1) return null;
  return missed.includes(ids[at] ?? '') ? 'events that are missing, or out of order' : 'other events';
}

/** Those of these operations, and the reason if one of them could not be heard by the choice of the service. */
function among(streams: Trials, operations: readonly Operation[]): Selected<OperationReply> {
  const { all, shortfall } = streams.about(new Set(operations));
  return {
    all,
    shortfall: shortfall?.end === 'blocked' ? { end: 'blocked', reason: shortfall.reason } : null,
  };
}

/** Streams that are asked for their head. */
const MOST_HEADS = 3;

const readable = (config: ServiceConfig) =>
  streamsOf(config)
    .filter(({ method, uncallable }) => method === 'GET' && uncallable === null)
    .slice(0, MOST_HEADS);

/** HEAD for streams that were heard. */
export const heads = probe<Selected<Reply>>(
  'stream-heads',
  { needs: [heard], cost: (config) => readable(config).length },
  async ({ ask, config, http }) => {
    const replies: Reply[] = [];
    const streams = among(await ask(heard), readable(config));
    for (const { order, operation } of streams.all) {
      const purpose = `${operation.template} for its head alone`;
      replies.push(await http.send({ ...stimulusWithoutListening(order), purpose, method: 'HEAD' }));
    }
    return { ...streams, all: replies };
  },
);

function stimulusWithoutListening(order: Order): Stimulus {
  const { listen: _, ...stimulus } = stimulusOf(order);
  return stimulus;
}

/** Properties of a stream for the observation. */
export function streamTraits(reply: OperationReply) {
  return {
    mediaType: essenceOf(reply.response),
    ids: idsOf(reply).length > 0,
    cacheControl: reply.response.field('cache-control') ?? null,
  };
}
