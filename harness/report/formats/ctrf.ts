import { withShortValues } from '../../base/text.ts';
import type { Outcome } from '../../base/verdict.ts';
import { inPieces, type ReportFormat } from '../format.ts';
import type { CheckResult } from '../results/check-result.ts';
import { findingAsText, VALUE_CAP } from '../results/evidence/evidence-view.ts';
import {
  BY_OPERATION,
  type OperationOutcome,
  operationOutcomes,
  outcomeInWords,
} from '../results/operation-outcome.ts';
import type { Results, ServiceResult } from '../results/results.ts';
import { verdictOf } from '../results/run-verdict.ts';
import { suitesOf } from '../results/tally.ts';
import { ageInWords } from '../results/words/news.ts';
import { cut, plainLine, plainText } from '../results/words/plain.ts';
import { groundInWords, verdictSentence } from '../results/words/words.ts';

/** The version of the specification that is followed, and of the schema in `fixtures/schemas`. */
const SPECIFICATION = '0.0.0';
/** In UTF-16 units, as in JUnit: what readers show without cutting it themselves. */
const MESSAGE_CAP = 2_048;
const TRACE_CAP = 16_384;

/** The words of the format for how a test ended (specification §9.3). */
type Status = 'passed' | 'failed' | 'skipped' | 'pending' | 'other';

/** `other` is neither passed nor failed; blocked is `pending`, so that no reader takes it for passed. */
const STATUSES: Readonly<Record<Outcome, Status>> = {
  pass: 'passed',
  fail: 'failed',
  error: 'failed',
  warning: 'other',
  observed: 'other',
  known: 'other',
  skipped: 'skipped',
  blocked: 'pending',
};

interface Test {
  readonly name: string;
  readonly status: Status;
  readonly rawStatus: string;
  /** Milliseconds, as a whole number. */
  readonly duration: number;
  readonly suite: readonly [string, ...string[]];
  readonly message?: string;
  readonly trace?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Common Test Report Format, https://ctrf.io: one JSON document that many CI actions and dashboards read. */
export const ctrf: ReportFormat = {
  name: 'ctrf',
  files: [
    {
      path: 'ctrf.json',
      holds: 'the outcomes in the Common Test Report Format (ctrf.io), all services in one file',
      readers: 'CI actions and dashboards',
    },
  ],
  render: (results) => ({
    'ctrf.json': () => inPieces(documentOf(results), ['results', 'tests'], testsOf(results)),
  }),
};

function hasOperations({ operationCoverage = [] }: ServiceResult): boolean {
  return operationCoverage.length > 0;
}

/** A service at a time. */
function* testsOf(results: Results): Iterable<readonly Test[]> {
  for (const service of results.services)
    yield [
      ...service.checks.map((check) => testOf(check, service, results)),
      ...operationOutcomes(service).map((each) => operationTest(each, service, results)),
    ];
  yield runItself(results);
}

function documentOf(results: Results) {
  const { run } = results;
  const verdict = verdictOf(results);
  const statuses = [
    ...results.services.flatMap((service) =>
      [...service.checks, ...operationOutcomes(service)].map((each) => statusOf(each, run.strict)),
    ),
    ...runItself(results).map(({ status }) => status),
  ];
  const count = (wanted: Status) => statuses.filter((status) => status === wanted).length;
  const start = instantOf(run.startedAt);
  const stop = Math.max(start, instantOf(run.finishedAt));
  return {
    reportFormat: 'CTRF',
    specVersion: SPECIFICATION,
    runId: plainLine(run.id) || 'unknown',
    generatedBy: `${run.harness.name} ${run.harness.version}`,
    results: {
      tool: { name: run.harness.name || 'conform', version: run.harness.version },
      summary: {
        tests: statuses.length,
        passed: count('passed'),
        failed: count('failed'),
        skipped: count('skipped'),
        pending: count('pending'),
        other: count('other'),
        suites: suitesOf(results).length + (results.services.some(hasOperations) ? 1 : 0),
        start,
        stop,
        duration: stop - start,
        extra: {
          verdict: verdict.word,
          exitCode: verdict.exitCode,
          reason: verdictSentence(verdict, results),
        },
      },
      tests: [],
    },
  };
}

function statusOf({ outcome }: Pick<CheckResult, 'outcome'>, strict: boolean): Status {
  return outcome === 'warning' && strict ? 'failed' : STATUSES[outcome];
}

function testOf(check: CheckResult, service: ServiceResult, results: Results): Test {
  const status = statusOf(check, results.run.strict);
  const message = plainLine(withShortValues(check.message, VALUE_CAP), MESSAGE_CAP);
  const behind = status === 'failed' || check.outcome === 'warning' || check.outcome === 'known';
  const age = behind ? ageInWords([{ service, check }], results) : '';
  return {
    name: `${check.id} ${plainLine(check.title)}`.trim(),
    status,
    rawStatus: check.outcome,
    duration: Number.isFinite(check.durationMs) ? Math.max(0, Math.round(check.durationMs)) : 0,
    suite: [service.service, check.suite],
    ...(message === '' ? {} : { message }),
    ...(behind ? { trace: cut(findingAsText(check, service), TRACE_CAP) } : {}),
    extra: {
      check: check.id,
      level: check.level,
      ...(check.finding?.fault === undefined ? {} : { fault: check.finding.fault }),
      ...(age === '' ? {} : { age }),
      grounds: check.grounds.map(groundInWords),
      ...(check.reproduce === null ? {} : { reproduce: plainText(check.reproduce, MESSAGE_CAP) }),
    },
  };
}

/** A test for each documented operation, called by its method and path template. */
function operationTest(operation: OperationOutcome, { service }: ServiceResult, { run }: Results): Test {
  const message = outcomeInWords(operation);
  return {
    name: plainLine(operation.operation),
    status: statusOf(operation, run.strict),
    rawStatus: operation.outcome,
    // Its time is that of the checks.
    duration: 0,
    suite: [service, BY_OPERATION],
    ...(message === '' ? {} : { message: plainLine(message, MESSAGE_CAP) }),
    extra: {
      operation: plainLine(operation.operation),
      place: plainLine(operation.place),
      checks: operation.findings.map(({ check }) => check.id),
    },
  };
}

/** A run without a verdict must not come out as green because no single check failed: it is a failed test itself. */
function runItself(results: Results): readonly Test[] {
  const verdict = verdictOf(results);
  if (['conforms', 'no verdict', 'does not conform'].includes(verdict.word)) return [];
  const message = verdictSentence(verdict, results);
  const name = 'run the run comes to a verdict';
  return [{ name, status: 'failed', rawStatus: verdict.word, duration: 0, suite: ['run'], message }];
}

/** Milliseconds of Unix time; 0 for a text that is no instant. */
function instantOf(iso: string): number {
  const ms = Date.parse(iso);
  return Number.isFinite(ms) ? ms : 0;
}
