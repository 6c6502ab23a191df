import type { Static } from 'typebox';
import { FAULT_SIDES } from '../../base/finding.ts';
import Type from '../../base/schema/type.ts';
import { OUTCOMES, type Outcome, VARIATIONS } from '../../base/verdict.ts';
import { CheckResult } from './check-result.ts';
import {
  Count,
  type Frozen,
  flag,
  Instant,
  list,
  Milliseconds,
  name,
  optional,
  SHARED,
  shared,
  text,
  textOrNull,
  texts,
  whole,
} from './shapes.ts';

/** Results model, schema version 1: it only grows. Each shape gives its type and its part of the schema. */

export const Harness = shared('harness', Type.Object({ name: text(), version: text(), node: text() }));

export const RUN = Type.Object({
  id: name,
  startedAt: Instant,
  finishedAt: Instant,
  harness: Harness,
  interrupted: Type.Boolean(),
  interruption: textOrNull('What cut the run short.'),
  strict: flag('Warnings counted as failures.'),
  asOf: optional(text('The day for which known failures were looked up: `2027-01-31`.')),
  partial: optional(flag('Given --partial, a strict run may leave out checks and operations.')),
  selection: optional(
    Type.Object(
      {
        suites: texts('As --suite named them.'),
        checks: texts('As --check named them.'),
        operations: optional(texts('As --operation named them.')),
        partial: flag('A strict run may be one (--partial).'),
      },
      { description: 'Fewer checks ran than apply; absent for a whole run.' },
    ),
  ),
  shard: optional(
    Type.Object(
      {
        index: Type.Integer({ minimum: 1 }),
        total: Type.Integer({ minimum: 1 }),
        plan: text('The same for all shards of a run.'),
        services: texts('Those of the whole run.'),
      },
      { description: 'Which part of a run this is (--shard); absent for a whole one.' },
    ),
  ),
  exitCode: Type.Enum([0, 1, 2, 3, 70]),
  faults: texts('Faults of the harness that belong to no check.'),
  remarks: optional(texts('What befell the run and changes nothing of its verdict; absent for nothing.')),
});
const Run = shared('run', RUN);

const Provider = shared(
  'provider',
  Type.Object({
    kind: text(),
    url: text(),
    image: optional(text('What a container ran, by name and content.')),
    proxy: optional(text('The proxy through which it was reached.')),
    log: optional(text('What the provider wrote, a file beside the results.')),
  }),
);

const PLAN = Type.Object({ requests: Count, windowSeconds: Type.Number({ minimum: 0 }) });
const Plan = Type.Unsafe<Frozen<Static<typeof PLAN>> | null>(
  shared('plan', { ...PLAN, type: ['object', 'null'] }),
);

/** A consumer's pact and the checks that judge its interactions. */
export type ListedPact = Static<typeof ListedPact>;
const ListedPact = shared(
  'listedPact',
  Type.Object({
    consumer: text(),
    source: text('A path or a URL.'),
    interactions: Type.Array(
      Type.Object({
        check: text('Id of the check that judges it.'),
        brokerId: textOrNull('What the broker calls it.'),
      }),
    ),
  }),
);

export const VARIES = optional(
  Type.Enum([...VARIATIONS], { description: 'How it may differ from day to day; `never` when left out.' }),
);

export type Observation = Static<typeof Observation>;
export const OBSERVATION = Type.Object({
  key: name,
  value: Type.Unknown(),
  check: text(),
  accepted: Type.Unknown({ description: 'The accepted value it is held against; null for none.' }),
  acceptedAt: optional(text('Where that is written: `config/accepted/search.yaml:3`.')),
  varies: VARIES,
  drift: optional(text('How it differs from what is accepted: `was 429, is 503`.')),
  driftSince: optional(Instant),
});
const Observation = shared('observation', OBSERVATION);

/** What a request is that is no plain one. */
export const RequestKind = Type.Enum(['handshake', 'token'], {
  description: 'A WebSocket handshake, or a request for an access token; absent for every other request.',
});

export type LedgerLine = Static<typeof LedgerLine>;
export const LEDGER_LINE = Type.Object({
  evidence: text('Key of the evidence; empty where none was kept.'),
  purpose: text(),
  requests: Count,
  kind: optional(RequestKind),
  probe: optional(text('Name of the probe that sent it.')),
});
const LedgerLine = shared('ledgerLine', LEDGER_LINE);

const CONSTRAINT_TRIAL = Type.Object({
  operation: text('Its operationId; its method and path if it has none.'),
  in: Type.Enum(['path', 'query', 'header', 'cookie', 'body']),
  name: text('Name of the parameter; for a body the JSON Pointer of the value, empty for the body itself.'),
  keyword: text('`maximum`; `type` for hostile and unusual values too, `examples` for a named example.'),
  side: Type.Enum(['outside', 'inside'], { description: 'Values inside are valid.' }),
  status: Type.Unsafe<number | null>({
    description: 'Of the response; null if there was none.',
    type: ['integer', 'null'],
  }),
});

export const COVERAGE = Type.Object({
  request: text('`call`: as documented. Any other: what is tried beside the call.'),
  sent: Count,
  capped: whole(0, 'Not sent: they would have been too many, or have taken too long.'),
  trials: optional(list(CONSTRAINT_TRIAL, 'The documented constraints that they tried.')),
});

/** How many requests of one kind the operations got, and how many more there are. */
export type Coverage = Frozen<Static<typeof COVERAGE>>;

const NOT_EXERCISED = Type.Object({
  reason: text(),
  why: Type.Enum(['unfit', 'unsafe', 'capped', 'left', 'excluded'], {
    description:
      'unfit: it cannot be called as it is documented; unsafe, excluded: the config keeps it off; capped: too many, or too slow; left: not asked for in this run.',
  }),
  fault: optional(
    Type.Enum([...FAULT_SIDES], {
      description: 'The side that it is mended on. Absent if that is not known, or nothing has to be mended.',
    }),
  ),
});

/** What a run saw of one documented operation. */
export type OperationCoverage = Frozen<Static<typeof OPERATION_COVERAGE>>;
export const OPERATION_COVERAGE = Type.Object({
  operation: text('`GET /v1/orders/{id}`'),
  id: text('Its operationId; its method and path if it has none.'),
  place: text('Where it is documented: `openapi.yaml:12:5`.'),
  notExercised: optional(NOT_EXERCISED),
  answers: Type.Array(Type.Object({ code: text('`200`, `4XX` or `default`.'), seen: Count }), {
    description: 'The documented answers, and how many of each the run saw.',
  }),
  undocumented: Type.Array(Type.Object({ status: Type.Integer(), seen: Count })),
  trials: optional(
    whole(
      0,
      'Requests that try its constraints, sent or not; those sent are in `coverage`, `trials`, under its id.',
    ),
  ),
});

/** In percent. */
const COVERAGE_FLOOR = Type.Object({
  operations: optional(Type.Integer()),
  responses: optional(Type.Integer()),
});

export const WAIT = Type.Object({
  reason: text(),
  fromMs: Type.Number({ description: 'Unix time in ms.' }),
  untilMs: Type.Number({ description: 'Unix time in ms; it may have been cut short.' }),
});

/** A wait on purpose: for a window to end, or to keep to a rate. */
export type RecordedWait = Frozen<Static<typeof WAIT>>;

/** What became of an entry of the list of known failures. */
export type ListedFailure = Frozen<Static<typeof LISTED_FAILURE>>;
export const LISTED_FAILURE = Type.Object({
  check: text('Id of a check, or a pattern of ids.'),
  got: texts('What comes in place of what is expected; `*` stands for any text.'),
  reason: text(),
  owner: text(),
  until: text('The last day on which it counts as known: `2027-01-31`.'),
  link: optional(text()),
  place: text('Where it is listed: `config/known/search.yaml:12`.'),
  state: Type.Enum(['known', 'stale', 'expired', 'unmatched', 'changed', 'not judged'], {
    description:
      'known: it failed as listed; stale: it passes now; expired: it is listed until a day that is over; unmatched: no such check; changed: it fails in another way.',
  }),
  note: textOrNull('What to do about the list, in a sentence; null for nothing.'),
});

/** An accepted observation as it stands in the user's list. */
export type ListedObservation = Static<typeof LISTED_OBSERVATION>;
const LISTED_OBSERVATION = Type.Object({
  key: text('Key of an observation.'),
  place: text('Where it is listed: `config/accepted/search.yaml:3`.'),
  state: Type.Enum(['held', 'drifted', 'unmatched', 'not observed'], {
    description: 'unmatched: nothing is observed under this key.',
  }),
  note: textOrNull('What to do about the list, in a sentence; null for nothing.'),
});

/** What a run could not tell of a service, and what turns it on. */
export type NotLookedAt = Frozen<Static<typeof NOT_LOOKED_AT>>;
const NOT_LOOKED_AT = Type.Object({
  what: text('`writes`, `rate limit`, `second key` …'),
  why: text('What it is about: `9 operations that may change data`.'),
  turnOn: text('The option, or the line of the config, that turns it on.'),
  checks: Type.Integer({ minimum: 0, description: 'How many more checks are judged then.' }),
  requests: optional(Type.Integer({ minimum: 0, description: 'About how many more requests that takes.' })),
});

const DOCUMENT_REMARK = Type.Object({
  place: text('`openapi.yaml:12:5`; empty if unknown.'),
  text: text('The fault, and its effect on the run.'),
});

export const SERVICE = Type.Object({
  service: name,
  contract: text(),
  environment: textOrNull(),
  provider: Provider,
  plan: Plan,
  requestsSent: whole(0, 'All requests to the service: the sum of the ledger.'),
  httpVersions: optional(
    Type.Unsafe<Readonly<Record<string, number>>>({
      description:
        'Requests by the version of HTTP of their answer: `{"1.1": 40, "2": 260}`. Absent unless some were answered in HTTP/2.',
      type: 'object',
      additionalProperties: { type: 'integer', minimum: 0 },
    }),
  ),
  durationMs: Milliseconds,
  simulatedTime: optional(
    flag(
      'true: the provider is built in and shared a clock with the harness that leaps over waits. All times of this service are of that clock; only those of the run are real.',
    ),
  ),
  /** Its outage, as code calls it; results.json keeps the name that it had first. */
  trouble: textOrNull('Why the service could not be exercised to its end.'),
  troubleBy: optional(
    Type.Enum([...FAULT_SIDES], {
      description: 'The side that its trouble is mended on; absent if it is not known.',
    }),
  ),
  remarks: optional(
    texts('What is to be known of how the run of this service went, a sentence each; no verdict on it.'),
  ),
  checks: Type.Array(CheckResult),
  known: optional(list(shared('knownFailure', LISTED_FAILURE), 'The list of known failures.')),
  accepted: optional(
    list(shared('acceptedObservation', LISTED_OBSERVATION), 'The list of accepted observations.'),
  ),
  observations: Type.Array(Observation),
  cautions: optional(texts('What weakens every verdict on this service: `certificates were not verified`.')),
  pacts: optional(list(ListedPact, 'The pacts that the service is held against.')),
  operations: optional(texts('The documented operations: `/v1/orders/{id}`.')),
  catalogue: optional(
    Type.Integer({ minimum: 0, description: 'How many checks a whole run of this service has.' }),
  ),
  rules: optional(text('The rule set that it was held to, with its date: `api@2026-11`.')),
  notLookedAt: optional(
    list(shared('notLookedAt', NOT_LOOKED_AT), 'What this run could not tell, and what turns it on.'),
  ),
  documentRemarks: optional(
    list(
      shared('documentRemark', DOCUMENT_REMARK),
      'Faults of the OpenAPI document itself. The rest of it was used.',
    ),
  ),
  outside: optional(
    Type.Integer({ minimum: 0, description: 'How many checks there are outside that rule set.' }),
  ),
  coverage: optional(
    list(COVERAGE, 'What the operations were asked, where not all of it was sent; absent where all was.'),
  ),
  operationCoverage: optional(
    list(
      shared('operationCoverage', OPERATION_COVERAGE),
      'Each documented operation by documented answer: seen, never seen, undocumented.',
    ),
  ),
  coverageFloor: optional(COVERAGE_FLOOR),
  waits: optional(list(WAIT, 'Waits on purpose, in the order begun.')),
  ledger: list(LedgerLine, 'What each request was for, in the order sent.'),
  evidence: Type.Unsafe<Readonly<Record<string, unknown>>>({
    description: 'Evidence id to evidence: exchange, conversation or burst.',
    type: 'object',
    additionalProperties: {
      type: 'object',
      required: ['kind', 'id'],
      properties: { kind: { type: 'string' }, id: { type: 'string' } },
    },
  }),
});

const CheckOfService = shared('checkOfService', Type.Object({ service: name, check: name }));

/** One fault that explains findings, of one service or of several. */
export type Cause = Static<typeof Cause>;
const Cause = shared(
  'cause',
  Type.Object({
    sentence: text('What is wrong, in one sentence.'),
    alternatives: texts('What would explain the same findings just as well.'),
    confidence: Type.Enum(['high', 'medium', 'low'], {
      description:
        'high: no other known fault explains any of the findings; medium: another explains some of them; low: the alternatives explain all of them.',
    }),
    findings: list(CheckOfService, 'The one that shows it best comes first.'),
    evidence: textOrNull("What the first finding rests on: a key of its service's evidence."),
    command: text('Starts a reference provider with the same fault.'),
  }),
);

/** How the outcome of a check differs from that of the runs before. */
export type Change = Frozen<Static<typeof CHANGE>>;
const CHANGE = Type.Object({
  service: name,
  check: name,
  state: Type.Enum(['new', 'back', 'still failing', 'fixed'], {
    description:
      'new: it never failed before, or not for these operations; back: it was fixed before; still failing: as in the last run that judged it; fixed: it failed there.',
  }),
  runs: whole(
    1,
    'How many runs in a row it has failed, this one included; of what is fixed, how many it had.',
  ),
  since: Instant,
  warned: optional(flag('true: what is fixed was a warning.')),
  operations: optional(
    texts(
      'Operations for which a check fails that failed for others before; absent where the check itself is new.',
    ),
  ),
});

const NO_VERDICT = optional(
  flag('true: it neither conforms nor does not, as after an outage or of a selection.'),
);
const REMEMBERED = Type.Object({
  id: name,
  startedAt: Instant,
  exitCode: Type.Integer(),
  failed: Count,
  noVerdict: NO_VERDICT,
});

const PerOutcome = Type.Unsafe<Readonly<Record<Outcome, number>>>({
  type: 'object',
  required: OUTCOMES,
  additionalProperties: Count,
});

export type PastFigures = Frozen<Static<typeof PAST_FIGURES>>;
const PAST_FIGURES = Type.Object({
  startedAt: Instant,
  outcomes: PerOutcome,
  requests: Count,
  durationMs: Milliseconds,
  noVerdict: NO_VERDICT,
});

const HISTORY = Type.Object(
  {
    runs: list(
      shared('rememberedRun', REMEMBERED),
      'Earlier runs of these services, the oldest first; at most 30.',
    ),
    services: optional(
      Type.Array(Type.Object({ service: name, runs: Type.Array(shared('pastFigures', PAST_FIGURES)) }), {
        description: 'Of each service its earlier runs, the oldest first; at most 30.',
      }),
    ),
    changes: Type.Array(shared('change', CHANGE)),
    flaky: list(
      CheckOfService,
      'Checks that went from passing to failing or back at least twice in the last 10 runs that judged them, with one version of the provider; where no version is known, three times.',
    ),
    notes: texts('What of the history could not be read.'),
  },
  { description: 'What the runs before say of this one.' },
);

export const RESULTS = Type.Object({
  $schema: optional(text()),
  schemaVersion: Type.Literal(1),
  run: Run,
  services: Type.Array(shared('service', SERVICE)),
  totals: { ...PerOutcome, description: 'Checks per outcome, over all services.' },
  history: optional(shared('history', HISTORY)),
  causes: optional(
    list(
      Cause,
      'The fewest faults that explain the failures and warnings; absent before they were looked for.',
    ),
  ),
  unexplained: optional(list(CheckOfService, 'Failures and warnings for which no cause was found.')),
});

export type RunResult = Frozen<Static<typeof RUN>>;
export type ServiceResult = Frozen<Static<typeof SERVICE>>;
export type Results = Frozen<Static<typeof RESULTS>>;

export const RESULTS_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'conform:results.schema.json',
  title: 'Results of a conform run',
  description:
    'Schema version 1. It only grows: new fields may appear, none changes its meaning or goes away. A reader ignores what it does not know.',
  ...RESULTS,
  $defs: SHARED,
};

// `node harness/report/results/results.ts > harness/report/results/results.schema.json` after a change of the model.
if (import.meta.main) process.stdout.write(`${JSON.stringify(RESULTS_SCHEMA, null, 2)}\n`);
