import type { Level, Outcome, ResolvedGround } from '../../contract/outcome.ts';
import { isJsonObject } from '../../json-text.ts';
import type { RunResult, ServiceResult } from './results.ts';
import { explainSchemaError, RESULTS_SCHEMA_ID, reportSchemas } from './schemas.ts';

/** A check as it stands for one service, before it is judged. */
export interface PlannedCheck {
  readonly id: string;
  readonly suite: string;
  readonly title: string;
  readonly level: Level;
  readonly grounds: readonly ResolvedGround[];
}

/**
 * The entries of `journal.ndjson`: what happened, in the order in which it happened. The journal only grows:
 * new kinds of entry may appear, and a reader leaves alone what it does not know.
 */
export type JournalEvent =
  | {
      readonly type: 'run-started';
      readonly run: Pick<RunResult, 'id' | 'startedAt' | 'harness' | 'strict'>;
      /** Names of the services that are to run; one that never starts is then seen to be missing. */
      readonly services?: readonly string[];
    }
  | ({
      readonly type: 'service-started';
      readonly planned: readonly PlannedCheck[];
    } & Pick<ServiceResult, 'service' | 'contract' | 'environment' | 'provider' | 'plan' | 'pacts'>)
  | {
      readonly type: 'evidence';
      readonly service: string;
      readonly id: string;
      readonly purpose: string;
      /** Requests sent for it: 1 for an exchange or a handshake, many for a burst. */
      readonly requests: number;
      /** `evidenceToJson(evidence)`. */
      readonly value: unknown;
    }
  | {
      readonly type: 'observation';
      readonly service: string;
      readonly key: string;
      readonly value: unknown;
      readonly check: string;
    }
  | {
      readonly type: 'outcome';
      readonly service: string;
      readonly id: string;
      readonly outcome: Outcome;
      readonly message: string;
      readonly durationMs: number;
      readonly evidence: readonly string[];
      readonly reproduce: string | null;
    }
  | {
      readonly type: 'waiting';
      readonly service: string;
      readonly reason: string;
      /** Unix times in ms at which the wait begins and ends. */
      readonly fromMs: number;
      readonly untilMs: number;
    }
  | { readonly type: 'service-trouble'; readonly service: string; readonly reason: string }
  | {
      readonly type: 'service-finished';
      readonly service: string;
      readonly requestsSent: number;
      readonly durationMs: number;
    }
  | {
      readonly type: 'run-finished';
      /** ISO 8601, UTC. */
      readonly finishedAt?: string;
      readonly interrupted?: boolean;
      /** What ended the run before its end: a signal; `--bail` (with `interrupted: false`); null when nothing did. */
      readonly reason: string | null;
    }
  | { readonly type: 'fault'; readonly message: string; readonly service?: string };

type JournalEventType = JournalEvent['type'];

type Shape = Readonly<Record<string, object | true>>;

const shared = (name: string) => ({ $ref: `${RESULTS_SCHEMA_ID}#/$defs/${name}` });
const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };
const texts = { type: 'array', items: text };
const number = { type: 'number' };

/** Required fields of each kind of entry. */
const REQUIRED: Readonly<Record<JournalEventType, Shape>> = {
  'run-started': {
    run: {
      type: 'object',
      required: ['id', 'startedAt', 'harness', 'strict'],
      properties: {
        id: { type: 'string', minLength: 1 },
        startedAt: shared('instant'),
        harness: shared('harness'),
        strict: { type: 'boolean' },
      },
    },
  },
  'service-started': {
    service: text,
    contract: text,
    environment: textOrNull,
    provider: shared('provider'),
    plan: shared('plan'),
    planned: { type: 'array', items: shared('plannedCheck') },
  },
  evidence: { service: text, id: text, purpose: text, requests: shared('count'), value: { type: 'object' } },
  observation: { service: text, key: { type: 'string', minLength: 1 }, value: true, check: text },
  outcome: {
    service: text,
    id: text,
    outcome: shared('outcome'),
    message: text,
    durationMs: shared('milliseconds'),
    evidence: texts,
    reproduce: textOrNull,
  },
  waiting: { service: text, reason: text, fromMs: number, untilMs: number },
  'service-trouble': { service: text, reason: text },
  'service-finished': { service: text, requestsSent: shared('count'), durationMs: shared('milliseconds') },
  'run-finished': { reason: textOrNull },
  fault: { message: text },
};

/** Fields that may be missing. */
const OPTIONAL: Readonly<Partial<Record<JournalEventType, Shape>>> = {
  'run-started': { services: texts },
  'service-started': { pacts: { type: 'array', items: shared('listedPact') } },
  'run-finished': { finishedAt: shared('instant'), interrupted: { type: 'boolean' } },
  fault: { service: text },
};

function isKnownType(type: unknown): type is JournalEventType {
  return typeof type === 'string' && Object.hasOwn(REQUIRED, type);
}

/** Schemas are compiled when first needed and kept by their id. */
function isEvent(type: JournalEventType, entry: unknown): entry is JournalEvent {
  const id = `conform:journal/${type}`;
  const ajv = reportSchemas();
  if (!ajv.getSchema(id)) {
    const required = REQUIRED[type];
    ajv.addSchema({
      $id: id,
      type: 'object',
      required: Object.keys(required),
      properties: { type: { const: type }, ...required, ...OPTIONAL[type] },
    });
  }
  return ajv.validate(id, entry) === true;
}

export type ReadEvent =
  | { readonly kind: 'event'; readonly event: JournalEvent }
  /** Written by a newer version: left alone. */
  | { readonly kind: 'unknown'; readonly type: string }
  | { readonly kind: 'malformed'; readonly problem: string };

/** Reads one entry of the journal, as parsed from its line. */
export function readEvent(entry: unknown): ReadEvent {
  if (!isJsonObject(entry) || typeof entry.type !== 'string') {
    return { kind: 'malformed', problem: 'the entry has no type' };
  }
  if (!isKnownType(entry.type)) return { kind: 'unknown', type: entry.type };
  const candidate: unknown = entry;
  if (isEvent(entry.type, candidate)) return { kind: 'event', event: candidate };
  const { key, problem } = explainSchemaError(reportSchemas().errors?.[0]);
  return { kind: 'malformed', problem: `${entry.type}: ${key === '' ? '' : `${key} `}${problem}` };
}
