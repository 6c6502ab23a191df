import { HarnessError } from '../../exit.ts';
import type { Conversation, ConversationEvent, RecordedFrame } from '../conversation.ts';
import {
  readFailure,
  readHeading,
  readRequest,
  readResponse,
  readTiming,
  requestToJson,
  responseToJson,
} from './exchange-json.ts';
import { restoreOctets, storeOctets } from './stored-octets.ts';
import {
  type Read,
  RecordReader,
  readBoolean,
  readEach,
  readNullable,
  readNumber,
  readOneOf,
  readString,
} from './strict-reader.ts';

/** Stores at the most `bodyOctets` of a body of the handshake, and `frameOctets` of a frame's payload. */
export function conversationToJson(
  conversation: Conversation,
  bodyOctets: number,
  frameOctets: number,
): object {
  const { request, response, expectedAccept } = conversation.handshake;
  return {
    ...conversation,
    handshake: {
      request: requestToJson(request, bodyOctets),
      response: response && responseToJson(response, bodyOctets),
      expectedAccept,
    },
    events: conversation.events.map((event) => eventToJson(event, frameOctets)),
  };
}

function eventToJson(event: ConversationEvent, frameOctets: number): object {
  switch (event.type) {
    case 'frame': {
      const { payload, ...frame } = event.frame;
      return { ...event, frame: { ...frame, ...storeOctets(payload, frameOctets) } };
    }
    case 'octets': {
      const { octets, omitted = 0, ...rest } = event;
      const stored = storeOctets(octets, frameOctets);
      const missing = omitted + (stored.omitted ?? 0);
      return { ...rest, ...stored, ...(missing > 0 && { omitted: missing }) };
    }
    default:
      return event;
  }
}

/** @throws HarnessError where the record is no conversation. */
export function conversationFromJson(record: RecordReader): Conversation {
  return {
    kind: 'conversation',
    ...readHeading(record),
    handshake: record.get('handshake', readHandshake),
    events: record.get('events', readEach(readEvent)),
    failure: record.get('failure', readNullable(readFailure)),
    timing: record.get('timing', readTiming),
  };
}

const readHandshake: Read<Conversation['handshake']> = (value, where) => {
  const record = new RecordReader(value, where);
  return {
    request: record.get('request', readRequest),
    response: record.get('response', readNullable(readResponse)),
    expectedAccept: record.get('expectedAccept', readNullable(readString)),
  };
};

const readSide = readOneOf('client', 'server');

const readEvent: Read<ConversationEvent> = (value, where) => {
  const record = new RecordReader(value, where);
  const atMs = record.get('atMs', readNumber);
  const from = record.get('from', readSide);
  const type = record.get('type', readOneOf('frame', 'octets', 'end', 'reset', 'waited'));
  switch (type) {
    case 'frame':
      return { atMs, from, type, frame: record.get('frame', readFrame) };
    case 'octets': {
      const { octets, omitted } = restoreOctets(record);
      const note = record.get('note', readString);
      return { atMs, from, type, octets, note, ...(omitted > 0 && { omitted }) };
    }
    case 'waited':
      if (from !== 'client') throw new HarnessError(`${where}.from is server, but only the client waits`);
      return {
        atMs,
        from,
        type,
        forMs: record.get('forMs', readNumber),
        note: record.get('note', readString),
      };
    default:
      return { atMs, from, type };
  }
};

const readFrame: Read<RecordedFrame> = (value, where) => {
  const record = new RecordReader(value, where);
  const { octets, omitted } = restoreOctets(record);
  const digest = record.optional('digest', readString);
  return {
    fin: record.get('fin', readBoolean),
    rsv: record.get('rsv', readNumber),
    opcode: record.get('opcode', readNumber),
    masked: record.get('masked', readBoolean),
    length: record.get('length', readNumber),
    lengthOctets: record.get('lengthOctets', readOneOf(0, 2, 8)),
    payload: octets,
    truncated: record.get('truncated', readBoolean) || omitted > 0,
    ...(digest !== undefined && { digest }),
  };
};
