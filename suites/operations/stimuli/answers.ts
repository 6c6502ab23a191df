import { unlessUnjudged } from '../../../harness/base/verdict.ts';
import { overRecord } from '../../../harness/engine/session/probe.ts';
import { DocumentedReply, reachesOperation } from './documented-reply.ts';
import { operationCalls } from './operation.ts';

/** Every answer of the run to a request that has reached an operation of the document. */
export const everyAnswer = overRecord<DocumentedReply>(
  'every-operation-answer',
  [operationCalls],
  async ({ ask, recorded, operationOf }) => {
    const calls = await ask(operationCalls).catch(unlessUnjudged);
    const called = new Set(calls?.all.map(({ evidence }) => evidence));
    return recorded.exchanges.flatMap((reply) => {
      const operation = reachesOperation(reply) ? operationOf(reply) : null;
      if (operation === null || operation.answers.length === 0) return [];
      return [new DocumentedReply(operation, reply, called.has(reply.evidence))];
    });
  },
);
