import { documentedSample } from '../../../harness/base/clause.ts';
import { unlessUnjudged } from '../../../harness/base/verdict.ts';
import { boundOf } from '../../../harness/config/blocks/response-time.ts';
import type { LeftOutOperation } from '../../../harness/config/operation/choice.ts';
import { documentedValue, type Operation, type ServiceConfig } from '../../../harness/config/service.ts';
import { overRecord } from '../../../harness/engine/session/probe.ts';
import type { OperationCoverage } from '../../../harness/report/results/results.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { sample } from '../../stimuli/sample.ts';
import { DocumentedReply, reachesOperation } from './documented-reply.ts';
import { operationCalls, operationPlan } from './operation.ts';
import { labelOf, type Trials } from './trials.ts';

/** Every answer of the run to a request that has reached an operation of the document; puts its coverage on record. */
export const everyAnswer = overRecord<DocumentedReply>(
  'every-operation-answer',
  [operationCalls],
  async ({ ask, config, recorded, operationOf, coverOperations }) => {
    const calls = await ask(operationCalls).catch(unlessUnjudged);
    const called = new Map(calls?.all.map(({ evidence, operation }) => [evidence, operation]));
    const all = recorded.exchanges.flatMap((reply) => {
      const call = called.get(reply.evidence);
      const operation = call ?? (reachesOperation(reply) ? operationOf(reply) : null);
      return operation === null ? [] : [new DocumentedReply(operation, reply, call !== undefined)];
    });
    const planned = Map.groupBy(constraintTrials(config), (operation) => operation);
    const byOperation = Map.groupBy(all, ({ operation }) => operation);
    coverOperations([
      ...config.operations.map((each) => ({
        ...coverageOf(each, byOperation.get(each) ?? [], calls),
        ...withTrials(planned.get(each)?.length),
      })),
      ...(config.leftOut ?? []).map(leftOutOf),
    ]);
    return all.filter(({ operation }) => operation.answers.length > 0);
  },
);

/** The operation of each request that tries a constraint, also of those that a ceiling cut. */
function constraintTrials(config: ServiceConfig): readonly Operation[] {
  const { orders, unexercised } = operationPlan(config);
  return [
    ...orders.filter(({ tries }) => tries).map(({ operation }) => operation),
    ...unexercised.filter(({ tries }) => tries).map(({ operation }) => operation),
  ];
}

function withTrials(trials: number | undefined): Pick<OperationCoverage, 'trials'> {
  return trials === undefined ? {} : { trials };
}

function leftOutOf({ operation, reason }: LeftOutOperation): OperationCoverage {
  return { ...coverageOf(operation, [], null), notExercised: { reason, why: 'excluded', fault: 'config' } };
}

function coverageOf(
  operation: Operation,
  replies: readonly DocumentedReply[],
  calls: Trials | null,
): OperationCoverage {
  const { id, place, answers, response, alternatives } = operation;
  const own = [response, ...alternatives].map(({ status }) => `${status}`);
  const codes = answers.length > 0 ? answers.map(({ code }) => code) : own;
  const codeOf = (reply: DocumentedReply) => reply.documented?.code ?? `${reply.status}`;
  const isDocumented = (reply: DocumentedReply) => codes.includes(codeOf(reply));
  const undocumented = Map.groupBy(
    replies.filter((reply) => !isDocumented(reply) && !reply.isAnsweredByProtocol && reply.status !== null),
    ({ status }) => status ?? 0,
  );
  const inVain = calls?.all.find((reply) => reply.operation === operation)?.whyNoCall ?? null;
  const why = isExercised(replies, inVain === null) ? null : (inVain ?? whyNot(operation, calls));
  return {
    operation: labelOf(operation),
    id,
    place,
    ...(why && { notExercised: why }),
    answers: codes.map((code) => ({ code, seen: replies.filter((reply) => codeOf(reply) === code).length })),
    undocumented: [...undocumented].map(([status, { length: seen }]) => ({ status, seen })),
  };
}

/** It was called as documented, or served another request that was entitled to it. */
function isExercised(replies: readonly DocumentedReply[], isCalled: boolean): boolean {
  return replies.some(
    ({ isCall, served, operation, exchange }) =>
      (isCall && isCalled) || (served && (exchange.credential === 'right' || operation.auth !== 'required')),
  );
}

function whyNot(operation: Operation, calls: Trials | null): NonNullable<OperationCoverage['notExercised']> {
  const left = calls?.unexercised.find((each) => each.operation === operation);
  if (left === undefined || left.why === 'open' || left.why === 'beyond')
    return { reason: 'it was not asked for', why: 'left' };
  const { reason, why, fault } = left;
  return { reason, why: why === 'refused' ? 'left' : why, ...(fault && { fault }) };
}

/** How long the responses of an operation took that were served in this run. */
export interface ResponseTimes {
  /** Milliseconds that it may take. */
  readonly boundMs: number;
  /** 95 of 100 responses took no longer; of fewer than 20 all but the slowest one, which may be a cold start. */
  readonly ms: number;
  /** The first response that took longer than it may, or the first of all. */
  readonly reply: Reply;
}

/** The operations with a bound that were served, ordinary requests alone. */
export const responseTimes = overRecord<ResponseTimes>(
  'response-times',
  [sample, operationCalls],
  ({ config, recorded, operationOf }) => {
    const stated = documentedValue(config, 'responses.time');
    const shown = documentedSample(config.contract);
    const timed = recorded.exchanges.flatMap((reply) => {
      if (!reply.served || !reply.isOrdinary) return [];
      const { method, target } = reply.exchange.request;
      const isSample = shown !== null && method === shown.method && target === shown.path;
      const operation =
        operationOf(reply) ?? (isSample ? { method, template: target, id: '', tags: [] } : null);
      const boundMs = operation === null ? null : boundOf(stated, operation);
      return operation === null || boundMs === null ? [] : [{ label: labelOf(operation), boundMs, reply }];
    });
    return [...Map.groupBy(timed, ({ label }) => label).values()].flatMap((all) => {
      const boundMs = all[0]?.boundMs ?? 0;
      const replies = all.map(({ reply }) => reply);
      const took = replies.map(msOf).toSorted((a, b) => a - b);
      const rank = Math.max(1, Math.min(Math.ceil(0.95 * took.length), took.length - 1));
      const reply = replies.find((each) => msOf(each) > boundMs) ?? replies[0];
      return reply === undefined ? [] : [{ boundMs, ms: took[rank - 1] ?? 0, reply }];
    });
  },
);

/** A stream goes on for as long as it is listened to. */
function msOf({ exchange: { timing, stream } }: Reply): number {
  return stream === undefined ? timing.durationMs : (timing.responseMs ?? timing.durationMs);
}
