import type { Static } from 'typebox';
import { isJsonObject } from '../../../base/json-text.ts';
import Type from '../../../base/schema/type.ts';
import type { FieldLine } from '../../../wire/exchange.ts';
import { WORTHS } from '../../../wire/http/webhook-receiver.ts';
import { JUDGMENT, PlannedCheck } from '../check-result.ts';
import {
  COVERAGE,
  LISTED_FAILURE,
  OPERATION_COVERAGE,
  RequestKind,
  RUN,
  SERVICE,
  VARIES,
  WAIT,
} from '../results.ts';
import {
  Count,
  type Frozen,
  flag,
  Instant,
  Milliseconds,
  name,
  optional,
  problemIn,
  text,
  textOrNull,
  texts,
} from '../shapes.ts';

const service = text('Name of the service.');

const REMOVING_REQUEST = Type.Object({
  fields: Type.Unsafe<readonly FieldLine[]>({
    type: 'array',
    items: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 },
  }),
  content: Type.Union([Type.String(), Type.Null()]),
});
const SECRET_FORM = Type.Object({
  name,
  form: Type.Enum(['text', 'caseless', 'token']),
  expiresAt: textOrNull('When a token says that it ends.'),
});

/** The part of a run that is known as it begins. */
export const STARTED_RUN = Type.Pick(RUN, [
  'id',
  'startedAt',
  'harness',
  'strict',
  'asOf',
  'partial',
  'selection',
  'shard',
]);

/** The entries of `journal.ndjson`, in the order of events. Readers ignore unknown kinds. */
const EVENTS = {
  'run-started': Type.Object({
    run: STARTED_RUN,
    services: optional(texts('Those that are to run; one that never starts is then seen to be missing.')),
  }),
  'known-failures': Type.Object({
    service,
    listed: Type.Array(Type.Omit(LISTED_FAILURE, ['state', 'note'])),
  }),
  accepted: Type.Object({
    service,
    listed: Type.Array(Type.Object({ key: name, value: Type.Unknown(), place: text() })),
  }),
  'service-started': Type.Object({
    ...Type.Pick(SERVICE, [
      'contract',
      'environment',
      'provider',
      'plan',
      'simulatedTime',
      'cautions',
      'pacts',
      'operations',
      'catalogue',
      'rules',
      'outside',
      'notLookedAt',
      'documentRemarks',
      'coverageFloor',
    ]).properties,
    service,
    planned: Type.Array(PlannedCheck),
  }),
  evidence: Type.Object({
    service,
    id: text(),
    purpose: text(),
    /** 1 for an exchange or a handshake, many for a burst. */
    requests: Count,
    kind: optional(RequestKind),
    /** For which probe it was recorded; absent in older journals. */
    probe: optional(text()),
    /** `evidenceToJson(evidence)`. */
    value: Type.Unsafe<unknown>({ type: 'object' }),
  }),
  /** Octets that followed the response of this evidence though nothing was asked: their first line. */
  unasked: Type.Object({ service, after: text(), octets: text() }),
  /** Something that this run has created is there until this request removes it; null where a secret stands in it. */
  created: Type.Object({
    service,
    purpose: text(),
    method: text(),
    target: text(),
    request: Type.Union([REMOVING_REQUEST, Type.Null()]),
    isAnonymous: flag(),
  }),
  /** It is not there any more, or a remark tells that it may be. */
  removed: Type.Object({ service, method: text(), target: text() }),
  /** Where webhooks were received: a path that cannot be guessed, below this URL. */
  receiver: Type.Object({ service, url: text(), path: text() }),
  /** The result of holding the service against an interaction of a pact, or why there is none. */
  verification: Type.Object({
    service,
    interaction: text('Id of the interaction.'),
    expected: text('Digest of what it expects.'),
    mismatches: texts(),
    evidence: textOrNull(),
    remark: text(),
    blocked: textOrNull(),
  }),
  observation: Type.Object({ service, key: name, value: Type.Unknown(), check: text(), varies: VARIES }),
  outcome: Type.Object({ service, id: text(), ...JUDGMENT.properties }),
  waiting: Type.Object({ service, ...WAIT.properties }),
  /** Without a service: on the run itself. */
  remark: Type.Object({ service: optional(service), text: text() }),
  coverage: Type.Object({ service, ...COVERAGE.properties }),
  /** What the whole record shows of each documented operation. */
  operations: Type.Object({ service, operations: Type.Array(OPERATION_COVERAGE) }),
  /** An outage, as code calls it; journals keep the name that they had first. */
  'service-trouble': Type.Object({ service, reason: text(), fault: SERVICE.properties.troubleBy }),
  'service-finished': Type.Object({ service, requestsSent: Count, durationMs: Milliseconds }),
  /** Secrets that there were: what of each judging needs, and nothing that gives it away. */
  secrets: Type.Object({ service, forms: Type.Array(SECRET_FORM) }),
  /** What the signature of an event was worth, which only who has the secret can tell. */
  signature: Type.Object({ service, evidence: text(), worth: Type.Enum([...WORTHS]) }),
  'run-finished': Type.Object({
    finishedAt: optional(Instant),
    interrupted: optional(flag()),
    reason: textOrNull('A signal; `--bail`, which is no interruption; null when nothing ended it early.'),
  }),
  fault: Type.Object({ message: text(), service: optional(service) }),
};

type Kind = keyof typeof EVENTS;
export type JournalEvent = {
  [Type in Kind]: { readonly type: Type } & Frozen<Static<(typeof EVENTS)[Type]>>;
}[Kind];

function isKnown(type: string): type is Kind {
  return Object.hasOwn(EVENTS, type);
}

export type ReadEvent =
  | { readonly kind: 'event'; readonly event: JournalEvent }
  /** Written by a newer version: left alone. */
  | { readonly kind: 'unknown'; readonly type: string }
  | { readonly kind: 'malformed'; readonly problem: string };

export function eventsIn(entries: readonly unknown[]): readonly JournalEvent[] {
  return entries.map(readEvent).flatMap((read) => (read.kind === 'event' ? [read.event] : []));
}

/** Reads one entry of the journal, as parsed from its line. */
export function readEvent(entry: unknown): ReadEvent {
  if (!isJsonObject(entry) || typeof entry.type !== 'string')
    return { kind: 'malformed', problem: 'the entry has no type' };
  const { type } = entry;
  if (!isKnown(type)) return { kind: 'unknown', type };
  const fault = problemIn(EVENTS[type], entry);
  // It has been held to the shape of its type.
  if (!fault) return { kind: 'event', event: entry as unknown as JournalEvent };
  const { key, problem } = fault;
  return { kind: 'malformed', problem: `${type}: ${key === '' ? '' : `${key} `}${problem}` };
}

/** Something that a run has created at a service, and the request that removes it. */
export type LeftBehind = Extract<JournalEvent, { readonly type: 'created' }>;

const OF_CREATIONS: readonly unknown[] = ['created', 'removed'] satisfies JournalEvent['type'][];

/** Everything that is still there by these entries of a journal, in the order of its creation. */
export function leftBehind(entries: readonly unknown[]): readonly LeftBehind[] {
  const left = new Map<string, LeftBehind>();
  for (const entry of entries) {
    // To hold all entries of a long journal against their schemas takes seconds.
    if (!isJsonObject(entry) || !OF_CREATIONS.includes(entry.type)) continue;
    const read = readEvent(entry);
    if (read.kind !== 'event') continue;
    const { event } = read;
    if (event.type === 'created') left.set(keyOf(event), event);
    if (event.type === 'removed') left.delete(keyOf(event));
  }
  return [...left.values()];
}

function keyOf({ service, method, target }: Pick<LeftBehind, 'service' | 'method' | 'target'>): string {
  return JSON.stringify([service, method, target]);
}

/** For the report, so that a person can remove it. */
export function stillThere({ method, target }: Pick<LeftBehind, 'method' | 'target'>, why: string): string {
  return `what this run created may still be there: ${method} ${target} ${why}`;
}
