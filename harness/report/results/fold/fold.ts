import { isDeepStrictEqual } from 'node:util';
import type { FaultSide } from '../../../base/finding.ts';
import { isJsonObject } from '../../../base/json-text.ts';
import { type CheckResult, JUDGMENT, PLANNED_CHECK, type PlannedCheck } from '../check-result.ts';
import { withFinding } from '../read-results.ts';
import {
  COVERAGE,
  type Coverage,
  LEDGER_LINE,
  type LedgerLine,
  OBSERVATION,
  type Observation,
  OPERATION_COVERAGE,
  type OperationCoverage,
  type RecordedWait,
  type Results,
  type RunResult,
  SERVICE,
  type ServiceResult,
  WAIT,
} from '../results.ts';
import { exitCodeOf } from '../run-verdict.ts';
import { picked } from '../shapes.ts';
import { tallyOf } from '../tally.ts';
import { type JournalEvent, leftBehind, readEvent, STARTED_RUN, stillThere } from './events.ts';

/** What the main process knows that the journal may not. */
export interface FoldContext {
  /** Stands in when the journal lost its first entry. */
  readonly run: Extract<JournalEvent, { type: 'run-started' }>['run'];
  /** ISO 8601, UTC; stands in when the journal has no `run-finished`. */
  readonly finishedAt: string;
  /** What cut the run short, when the main process knows (a signal); null otherwise. */
  readonly interruption: string | null;
  /** Numbers, from 1, of the journal's lines that could not be read: what they said is lost. */
  readonly badLines?: readonly number[];
}

type OutcomeEvent = Extract<JournalEvent, { type: 'outcome' }>;
type Started = Extract<JournalEvent, { type: 'service-started' }>;
type Finished = Extract<JournalEvent, { type: 'service-finished' }>;

/** One service's entries, by what they tell. */
class ServiceRecord {
  readonly service: string;
  started: Started | null = null;
  finished: Finished | null = null;
  outage: string | null = null;
  outageSide: FaultSide | undefined;
  listed: Extract<JournalEvent, { type: 'known-failures' }>['listed'] = [];
  accepted: Extract<JournalEvent, { type: 'accepted' }>['listed'] = [];
  readonly remarks = new Set<string>();
  /** By the kind of request. */
  readonly coverage = new Map<string, Coverage>();
  operations: readonly OperationCoverage[] = [];
  readonly planned = new Map<string, PlannedCheck>();
  readonly outcomes = new Map<string, OutcomeEvent>();
  readonly observations = new Map<string, Observation>();
  readonly ledger = new Map<string, LedgerLine>();
  readonly waits: RecordedWait[] = [];
  readonly evidence = new Map<string, unknown>();

  constructor(service: string) {
    this.service = service;
  }
}

class RunRecord {
  started: Extract<JournalEvent, { type: 'run-started' }> | null = null;
  finished: Extract<JournalEvent, { type: 'run-finished' }> | null = null;
  readonly services = new Map<string, ServiceRecord>();
  readonly faults: string[] = [];
  readonly remarks = new Set<string>();
  /** Those that services have in common: the same text of each would be there once for every service. */
  readonly planned = new Map<string, PlannedCheck>();
}

/**
 * The results that a journal's entries amount to. Pure, and defined for every prefix of a journal: a part
 * that is missing at the end of a killed run becomes `interrupted`, never a green check.
 *
 * - A planned check without an outcome is `blocked`, with the reason why it did not run. Without any such
 *   reason the harness lost it: `error`.
 * - A repeated outcome, observation or piece of evidence replaces the earlier one.
 * - An entry of an unknown kind is left alone; a malformed one is a fault of the harness.
 * - A line that could not be read makes the run interrupted: its content is unknown.
 * - Without `run-finished`, or with a service that did not finish, the run is interrupted; unless
 *   `run-finished` says that it was ended on purpose (`interrupted: false` and a reason).
 */
export function foldEvents(entries: readonly unknown[], context: FoldContext): Results {
  const record = new RunRecord();
  entries.forEach((entry, index) => {
    const read = readEvent(entry);
    if (read.kind === 'event') note(record, read.event);
    if (read.kind === 'malformed')
      record.faults.push(`journal entry ${index + 1} is malformed: ${read.problem}`);
  });
  for (const each of leftBehind(entries)) {
    const remark = stillThere(each, 'was not sent, for the run came to its end');
    serviceRecord(record, each.service).remarks.add(remark);
  }
  for (const service of record.started?.services ?? []) serviceRecord(record, service);

  const interruption = interruptionOf(record, context);
  const reason = record.finished?.reason ?? null;
  const endedBy = interruption === null ? reason : `the run was cut short: ${interruption}`;
  const services = [...record.services.values()].map((each) => closeService(each, endedBy, record.faults));
  return withExitCode({
    schemaVersion: 1,
    run: {
      ...picked(STARTED_RUN, record.started?.run ?? context.run),
      finishedAt: record.finished?.finishedAt ?? context.finishedAt,
      interrupted: interruption !== null,
      interruption,
      exitCode: 0,
      faults: record.faults,
      ...(record.remarks.size > 0 ? { remarks: [...record.remarks] } : {}),
    },
    services,
    totals: tallyOf(services.flatMap(({ checks }) => checks)),
  });
}

/** The same results with one more fault of the harness, and the exit code that it calls for. */
export function withFault(results: Results, fault: string): Results {
  return withExitCode({ ...results, run: { ...results.run, faults: [...results.run.faults, fault] } });
}

/** The same results with the exit code that they call for. */
export function withExitCode(results: Results): Results {
  const run: RunResult = { ...results.run, exitCode: exitCodeOf(results) };
  return { ...results, run };
}

function note(record: RunRecord, event: JournalEvent): void {
  switch (event.type) {
    case 'run-started':
      record.started = event;
      return;
    case 'run-finished':
      record.finished = event;
      return;
    case 'fault':
      record.faults.push(event.service === undefined ? event.message : `${event.service}: ${event.message}`);
      return;
    case 'remark':
      (event.service === undefined ? record : serviceRecord(record, event.service)).remarks.add(event.text);
      return;
    default:
      noteService(serviceRecord(record, event.service), event, (check) => {
        const known = record.planned.get(check.id) ?? check;
        record.planned.set(check.id, known);
        return isDeepStrictEqual(known, check) ? known : check;
      });
  }
}

type ServiceEvent = Exclude<JournalEvent, { type: 'run-started' | 'run-finished' | 'fault' | 'remark' }>;

/** Other events are for judging the record again. */
function noteService(
  record: ServiceRecord,
  event: ServiceEvent,
  shared: (check: PlannedCheck) => PlannedCheck,
): void {
  const { type } = event;
  if (type === 'service-started') {
    record.started = event;
    for (const check of event.planned) record.planned.set(check.id, shared(check));
  } else if (type === 'evidence') {
    record.ledger.set(event.id, picked(LEDGER_LINE, { ...event, evidence: event.id }));
    record.evidence.set(event.id, event.value);
  } else if (type === 'observation') {
    record.observations.set(event.key, picked(OBSERVATION, { ...event, accepted: null }));
  } else if (type === 'known-failures') record.listed = event.listed;
  else if (type === 'accepted') record.accepted = event.listed;
  else if (type === 'outcome') record.outcomes.set(event.id, event);
  else if (type === 'waiting') record.waits.push(picked(WAIT, event));
  else if (type === 'coverage') record.coverage.set(event.request, picked(COVERAGE, event));
  else if (type === 'operations') record.operations = withCoverage(record.operations, event.operations);
  else if (type === 'service-trouble') {
    record.outage = event.reason;
    record.outageSide = event.fault;
  } else if (type === 'service-finished') record.finished = event;
}

/** Those of another document stay, and the last word on each operation goes. */
function withCoverage(
  known: readonly OperationCoverage[],
  given: readonly OperationCoverage[],
): readonly OperationCoverage[] {
  const keyOf = ({ id, place }: OperationCoverage) => `${place} ${id}`;
  const keys = new Set(given.map(keyOf));
  const others = known.filter((each) => !keys.has(keyOf(each)));
  return [...others, ...given.map((each) => picked(OPERATION_COVERAGE, each))];
}

function serviceRecord(record: RunRecord, service: string): ServiceRecord {
  const known = record.services.get(service) ?? new ServiceRecord(service);
  record.services.set(service, known);
  return known;
}

function interruptionOf(record: RunRecord, context: FoldContext): string | null {
  const { badLines = [] } = context;
  const lost = badLines.length === 0 ? null : `what the journal says in line ${badLines.join(', ')} is lost`;
  const causes = [endingOf(record, context), lost].filter((cause) => cause !== null);
  return causes.length === 0 ? null : causes.join('; ');
}

/** What cut the run short, by all that could be read; null when nothing did. */
function endingOf(record: RunRecord, context: FoldContext): string | null {
  const unfinished = [...record.services.values()].filter(({ finished }) => finished === null);
  const declared = record.finished?.interrupted === true;
  // Ended on purpose (`--bail`): what did not run is blocked with that reason, but nothing was cut off unawares.
  const onPurpose = record.finished?.interrupted === false && record.finished.reason !== null;
  const whole = record.finished !== null && !declared && (onPurpose || unfinished.length === 0);
  if (whole) return context.interruption;
  const names = unfinished.map(({ service }) => service).join(', ');
  return (
    context.interruption ??
    (declared ? record.finished?.reason : null) ??
    (names ? `${names} did not finish` : 'the journal ends before the run does')
  );
}

function closeService(record: ServiceRecord, endedBy: string | null, faults: string[]): ServiceResult {
  const { service, started, finished } = record;
  const ledger = wholeLedger(record);
  const outage = record.outage ?? (started ? null : 'it was never started');
  const lost = outage === null ? endedBy : `${service} could not be exercised: ${outage}`;
  const ofPlan = (check: PlannedCheck) => judged(check, record.outcomes.get(check.id), lost);
  const planned = [...record.planned.values()].map(ofPlan);
  return picked(SERVICE, {
    contract: 'unknown',
    environment: null,
    provider: { kind: 'unknown', url: '' },
    plan: null,
    ...started,
    service,
    requestsSent: requestsIn(ledger),
    httpVersions: versionsOf(record),
    durationMs: finished?.durationMs ?? 0,
    simulatedTime: started?.simulatedTime || undefined,
    trouble: outage,
    troubleBy: record.outageSide,
    remarks: unlessEmpty([...record.remarks]),
    checks: [...planned, ...unplanned(record, faults)],
    known: unlessEmpty(record.listed.map((each) => ({ ...each, state: 'not judged' as const, note: null }))),
    accepted: unlessEmpty(
      record.accepted.map(({ key, place }) => ({ key, place, state: 'not observed' as const, note: null })),
    ),
    observations: [...record.observations.values()].map((seen) => held(seen, record.accepted)),
    coverage: unlessEmpty([...record.coverage.values()]),
    operationCoverage: unlessEmpty(record.operations),
    ledger,
    waits: unlessEmpty(record.waits),
    evidence: Object.fromEntries(record.evidence),
  });
}

function unlessEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length > 0 ? items : undefined;
}

function held(seen: Observation, listed: ServiceRecord['accepted']): Observation {
  const entry = listed.find(({ key }) => key === seen.key);
  return entry === undefined ? seen : { ...seen, accepted: entry.value, acceptedAt: entry.place };
}

function requestsIn(ledger: readonly LedgerLine[]): number {
  return ledger.reduce((sum, { requests }) => sum + requests, 0);
}

/** Number of requests by the version of their answer; undefined if none was answered in HTTP/2. */
function versionsOf({ ledger, evidence }: ServiceRecord): Readonly<Record<string, number>> | undefined {
  const counts = new Map<string, number>();
  for (const { evidence: id, requests } of ledger.values()) {
    const version = versionOf(evidence.get(id), evidence);
    if (version !== null) counts.set(version, (counts.get(version) ?? 0) + requests);
  }
  return counts.has('2') ? Object.fromEntries([...counts].sort()) : undefined;
}

/** Of a burst, that of its first refusal; null if unknown. */
function versionOf(value: unknown, evidence: ServiceRecord['evidence']): string | null {
  if (!isJsonObject(value)) return null;
  const { kind, refusal, handshake, response } = value;
  if (kind === 'burst') {
    const met = typeof refusal === 'string' ? evidence.get(refusal) : null;
    return isJsonObject(met) && met.kind === 'exchange' ? versionOf(met, evidence) : null;
  }
  if (kind === 'conversation') return isJsonObject(handshake) ? answeredIn(handshake.response) : null;
  return answeredIn(response);
}

function answeredIn(response: unknown): string | null {
  return isJsonObject(response) && typeof response.httpVersion === 'string' ? response.httpVersion : null;
}

/** All requests, also those that were given up before there was any evidence of them. */
function wholeLedger({ ledger, finished }: ServiceRecord): readonly LedgerLine[] {
  const lines = [...ledger.values()];
  const lost = (finished?.requestsSent ?? 0) - requestsIn(lines);
  if (lost <= 0) return lines;
  return [...lines, { evidence: '', purpose: 'given up before there was an answer', requests: lost }];
}

function judged(check: PlannedCheck, outcome: OutcomeEvent | undefined, lost: string | null): CheckResult {
  const plan = picked(PLANNED_CHECK, check);
  if (outcome) {
    const { waitedMs, decisive } = outcome;
    const said = { ...outcome, waitedMs: waitedMs || undefined, decisive: decisive ?? undefined };
    return withFinding({ ...plan, ...picked(JUDGMENT, said) }, outcome.service);
  }
  const nothing = { durationMs: 0, evidence: [], reproduce: null };
  if (lost !== null) return { ...plan, outcome: 'blocked', message: lost, ...nothing };
  return { ...plan, outcome: 'error', message: 'the check ended without an outcome', ...nothing };
}

/** An outcome is never dropped, even if its check was not planned, which is a fault of ours. */
function unplanned(record: ServiceRecord, faults: string[]): readonly CheckResult[] {
  return [...record.outcomes.values()]
    .filter(({ id }) => !record.planned.has(id))
    .map((outcome) => {
      const { id } = outcome;
      faults.push(`${record.service}: outcome of ${id}, which was not planned`);
      return judged({ id, suite: 'unplanned', title: id, level: 'MUST', grounds: [] }, outcome, null);
    });
}
