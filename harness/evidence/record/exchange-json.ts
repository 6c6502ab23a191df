import { HarnessError } from '../../exit.ts';
import type {
  ConnectionUse,
  CredentialUse,
  EvidenceId,
  Exchange,
  ExchangeFailure,
  ExchangeFailureKind,
  FieldLine,
  RecordedBody,
  RecordedRequest,
  RecordedResponse,
  Timing,
} from '../exchange.ts';
import { restoreOctets, storeOctets } from './stored-octets.ts';
import {
  type Read,
  RecordReader,
  readArray,
  readBoolean,
  readEach,
  readNullable,
  readNumber,
  readOneOf,
  readString,
} from './strict-reader.ts';

/** `bodyOctets`: how many octets of a body are stored at the most. */
export function exchangeToJson(exchange: Exchange, bodyOctets: number): object {
  const { request, response } = exchange;
  return {
    ...exchange,
    request: requestToJson(request, bodyOctets),
    response: response && responseToJson(response, bodyOctets),
  };
}

export function requestToJson(request: RecordedRequest, bodyOctets: number): object {
  return { ...request, body: request.body && bodyToJson(request.body, bodyOctets) };
}

export function responseToJson(response: RecordedResponse, bodyOctets: number): object {
  return { ...response, body: bodyToJson(response.body, bodyOctets) };
}

function bodyToJson({ bytes, ...body }: RecordedBody, bodyOctets: number): object {
  return { ...storeOctets(bytes, bodyOctets), ...body };
}

/** @throws HarnessError where the record is no exchange. */
export function exchangeFromJson(record: RecordReader): Exchange {
  const connection = record.optional('connection', readConnection);
  return {
    kind: 'exchange',
    ...readHeading(record),
    request: record.get('request', readRequest),
    response: record.get('response', readNullable(readResponse)),
    failure: record.get('failure', readNullable(readFailure)),
    timing: record.get('timing', readTiming),
    ...(connection && { connection }),
  };
}

/** What every kind of evidence has. */
export function readHeading(record: RecordReader): Pick<Exchange, 'id' | 'purpose' | 'credential'> {
  return {
    id: record.get('id', readEvidenceId),
    purpose: record.get('purpose', readString),
    credential: record.get('credential', readOneOf<CredentialUse>('right', 'second', 'wrong', 'none')),
  };
}

function isEvidenceId(text: string): text is EvidenceId {
  return text !== '';
}

export const readEvidenceId: Read<EvidenceId> = (value, where) => {
  const id = readString(value, where);
  if (!isEvidenceId(id)) throw new HarnessError(`${where} is empty, expected an evidence id`);
  return id;
};

const readFieldLine: Read<FieldLine> = (value, where) => {
  const line = readArray(value, where);
  return [readString(line[0], `${where}[0]`), readString(line[1], `${where}[1]`)];
};

const readFieldLines = readEach(readFieldLine);

const readBody: Read<RecordedBody> = (value, where) => {
  const record = new RecordReader(value, where);
  const { octets, omitted } = restoreOctets(record);
  return {
    bytes: octets,
    received: record.get('received', readNumber),
    truncated: record.get('truncated', readBoolean) || omitted > 0,
  };
};

export const readRequest: Read<RecordedRequest> = (value, where) => {
  const record = new RecordReader(value, where);
  return {
    method: record.get('method', readString),
    url: record.get('url', readString),
    target: record.get('target', readString),
    fields: record.get('fields', readFieldLines),
    body: record.get('body', readNullable(readBody)),
  };
};

export const readResponse: Read<RecordedResponse> = (value, where) => {
  const record = new RecordReader(value, where);
  return {
    status: record.get('status', readNumber),
    reason: record.get('reason', readNullable(readString)),
    httpVersion: record.get('httpVersion', readNullable(readString)),
    fields: record.get('fields', readFieldLines),
    trailers: record.get('trailers', readFieldLines),
    body: record.get('body', readBody),
    informational: record.get('informational', readEach(readInformational)),
    framingFaults: record.get('framingFaults', readNullable(readEach(readString))),
  };
};

const readInformational: Read<RecordedResponse['informational'][number]> = (value, where) => {
  const record = new RecordReader(value, where);
  return { status: record.get('status', readNumber), fields: record.get('fields', readFieldLines) };
};

/** Every kind once: adding one to the type without adding it here does not compile. */
const FAILURE_KINDS: Readonly<Record<ExchangeFailureKind, true>> = {
  refused: true,
  unresolved: true,
  tls: true,
  'connect-timeout': true,
  'response-timeout': true,
  reset: true,
  closed: true,
  'body-too-large': true,
  'fields-too-large': true,
  malformed: true,
  'not-sent': true,
};

function isFailureKind(text: string): text is ExchangeFailureKind {
  return Object.hasOwn(FAILURE_KINDS, text);
}

export const readFailure: Read<ExchangeFailure> = (value, where) => {
  const record = new RecordReader(value, where);
  const kind = record.get('kind', readString);
  if (!isFailureKind(kind)) throw new HarnessError(`${where}.kind is no kind of failure`);
  return { kind, message: record.get('message', readString) };
};

export const readTiming: Read<Timing> = (value, where) => {
  const record = new RecordReader(value, where);
  return {
    startedAt: record.get('startedAt', readString),
    startedMs: record.get('startedMs', readNumber),
    connectMs: record.get('connectMs', readNullable(readNumber)),
    responseMs: record.get('responseMs', readNullable(readNumber)),
    durationMs: record.get('durationMs', readNumber),
  };
};

const readConnection: Read<ConnectionUse> = (value, where) => {
  const record = new RecordReader(value, where);
  return {
    reused: record.get('reused', readBoolean),
    replaced: record.get('replaced', readNullable(readString)),
  };
};
