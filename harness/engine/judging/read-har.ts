import { UsageError } from '../../base/exit.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json-text.ts';
import {
  bareResponse,
  type EvidenceId,
  type Exchange,
  type FieldLine,
  type RecordedBody,
} from '../../wire/exchange.ts';
import { fieldValue } from '../../wire/fields/grammar/field-grammar.ts';
import type { Redaction } from '../../wire/redaction/redaction.ts';
import type { Recorded, RecordedRun } from './recording.ts';

interface Context {
  readonly file: string;
  readonly service: string;
  readonly harness: RecordedRun['run']['harness'];
  readonly redaction: Redaction;
}

const MOST_ENTRIES = 50_000;

/**
 * The exchanges of an HTTP Archive 1.2 with a service, redacted. Archives by `conform` name the probe of each; in
 * others an exchange answers the same request. @throws UsageError for no archive, or an empty one.
 */
export function recordOfHar(text: string, { file, service, harness, redaction }: Context): RecordedRun {
  const log = objectIn(parseJson(text), 'log');
  const { entries } = log ?? {};
  if (log === null || !Array.isArray(entries)) throw unfit(file, 'it has no list of entries (log.entries)');
  if (entries.length === 0) throw unfit(file, 'it has no entries');
  if (entries.length > MOST_ENTRIES) throw unfit(file, `it has more than ${MOST_ENTRIES} entries`);
  const isOurs = objectIn(log, 'creator')?.name === 'conform';
  const clean = isOurs ? redaction.sink : redaction.text;
  const read = entries.map((entry, index) => recordedOf(entry, { clean, isOurs, id: `h${index + 1}` }));
  const evidence = inTime(read.filter((each) => each !== null));
  if (evidence.length === 0)
    throw unfit(
      file,
      'no entry has a request with method and URL, a response and the time at which it began',
    );
  const unread = read.length - evidence.length;
  const startedAt = evidence[0]?.evidence.timing.startedAt ?? '';
  return {
    run: { id: 'har', startedAt, harness, strict: false },
    finishedAt: evidence.at(-1)?.evidence.timing.startedAt ?? startedAt,
    interruption: null,
    services: [
      {
        service,
        environment: null,
        providerUrl: originOf(evidence[0]?.evidence.request.url),
        image: null,
        outage: null,
        outageSide: null,
        evidence,
        unasked: [],
        receivers: [],
        verifications: [],
        signatures: [],
        secrets: null,
        tellsUnasked: false,
        remarks: [
          'a HAR file holds neither octets as they came nor WebSocket connections: what needs them is blocked',
          ...(unread > 0 ? [`${unread} of ${entries.length} entries of the HAR file could not be read`] : []),
        ],
      },
    ],
  };
}

/** Whether another client wrote it: it answers none of the requests of a run. */
export function isOfOtherClient(text: string): boolean {
  const log = objectIn(parseJson(text), 'log');
  return objectIn(log, 'creator')?.name !== 'conform';
}

function unfit(file: string, problem: string): UsageError {
  return new UsageError(`no HAR file that can be judged: ${problem}`, {
    place: { file },
    remedy: 'give an HTTP Archive 1.2, as browsers, proxies and `conform run` write it',
  });
}

function objectIn(value: unknown, name: string): JsonObject | null {
  const member = isJsonObject(value) ? value[name] : null;
  return isJsonObject(member) ? member : null;
}

function originOf(url = ''): string | null {
  return URL.canParse(url) ? new URL(url).origin : null;
}

interface EntryContext {
  readonly clean: (text: string) => string;
  readonly isOurs: boolean;
  readonly id: string;
}

type HarExchange = Recorded<Exchange>;

/** null if it is no entry, or has no request. */
function recordedOf(entry: unknown, { clean, isOurs, id }: EntryContext): HarExchange | null {
  const request = objectIn(entry, 'request');
  const response = objectIn(entry, 'response');
  if (!isJsonObject(entry) || request === null || response === null) return null;
  const { method, url } = request;
  const startedMs = Date.parse(String(entry.startedDateTime));
  const { status } = response;
  if (typeof method !== 'string' || typeof url !== 'string' || typeof status !== 'number') return null;
  if (!URL.canParse(url) || Number.isNaN(startedMs)) return null;
  // A WebSocket connection.
  if ('_webSocketMessages' in entry || status === 101) return null;
  const about = isOurs ? objectIn(entry, '_conform') : null;
  const { pathname, search } = new URL(url);
  const target = isOurs && typeof request._target === 'string' ? request._target : `${pathname}${search}`;
  const durationMs = Math.max(0, Number(entry.time) || 0);
  const fields = fieldsOf(response.headers, clean);
  const { text: sent } = objectIn(request, 'postData') ?? {};
  return {
    probe: typeof about?.probe === 'string' ? about.probe : null,
    purpose: about !== null && typeof entry.comment === 'string' ? entry.comment : null,
    requests: 1,
    evidence: {
      kind: 'exchange',
      id: (typeof about?.id === 'string' && about.id !== '' ? about.id : id) as EvidenceId,
      purpose: '',
      credential: 'none',
      request: {
        method: clean(method),
        url: clean(url),
        target: clean(target),
        fields: fieldsOf(request.headers, clean),
        body: typeof sent === 'string' ? bodyOf(clean(sent), sent.length) : null,
      },
      response:
        status === 0
          ? null
          : {
              ...bareResponse(status, fields),
              reason: typeof response.statusText === 'string' ? clean(response.statusText) : null,
              httpVersion: null,
              body: contentOf(objectIn(response, 'content'), { clean, isOurs, fields }),
            },
      failure: status === 0 ? { kind: 'closed', message: 'the HAR file tells of no response' } : null,
      timing: {
        startedAt: new Date(startedMs).toISOString(),
        startedMs,
        connectMs: null,
        responseMs: status === 0 ? null : durationMs,
        durationMs,
      },
    },
  };
}

/** Sorted, on a clock that begins with the first. */
function inTime(all: readonly HarExchange[]): readonly HarExchange[] {
  const beganMs = Math.min(...all.map(({ evidence }) => evidence.timing.startedMs));
  return all
    .map((each) => {
      const { timing } = each.evidence;
      const startedMs = timing.startedMs - beganMs;
      return { ...each, evidence: { ...each.evidence, timing: { ...timing, startedMs } } };
    })
    .toSorted((a, b) => a.evidence.timing.startedMs - b.evidence.timing.startedMs);
}

/** Without the pseudo-header fields of HTTP/2 (RFC 9113 §8.3). */
function fieldsOf(headers: unknown, clean: (text: string) => string): readonly FieldLine[] {
  if (!Array.isArray(headers)) return [];
  return headers.flatMap((header: unknown): readonly FieldLine[] => {
    if (!isJsonObject(header)) return [];
    const { name, value } = header;
    const isField = typeof name === 'string' && typeof value === 'string' && !name.startsWith(':');
    return isField ? [[clean(name), clean(value)]] : [];
  });
}

function bodyOf(text: string, received: number): RecordedBody {
  return { bytes: new Uint8Array(Buffer.from(text)), received, truncated: false };
}

function contentOf(
  content: JsonObject | null,
  { clean, isOurs, fields }: Pick<EntryContext, 'clean' | 'isOurs'> & { fields: readonly FieldLine[] },
): RecordedBody {
  const { text, encoding, size } = content ?? {};
  const received = typeof size === 'number' && size > 0 ? size : 0;
  const isCoded = (fieldValue(fields, 'content-encoding') ?? 'identity') !== 'identity';
  const limit = 'a HAR file of others holds content without its coding';
  const withheld = !isOurs && isCoded ? { withheld: { fault: null, limit } } : {};
  if (!isOurs && isCoded && typeof text !== 'string')
    return { bytes: new Uint8Array(), received, truncated: false, ...withheld };
  if (typeof text !== 'string') return { bytes: new Uint8Array(), received, truncated: received > 0 };
  const plain = encoding === 'base64' ? Buffer.from(text, 'base64').toString('latin1') : text;
  const bytes = Buffer.from(clean(plain), encoding === 'base64' ? 'latin1' : 'utf8');
  return { bytes: new Uint8Array(bytes), received, truncated: bytes.length < received, ...withheld };
}
