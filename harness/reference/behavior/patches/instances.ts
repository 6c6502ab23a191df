import type { FieldLine } from '../../../wire/exchange.ts';
import { fieldValues, type ReceivedRequest, type RequestCondition } from '../../http/message.ts';
import type { AnswerChange } from '../behavior.ts';
import { aroundHandling, onAnswer, onFinished, type Patch, together } from './patch.ts';

/** Several instances behind one address, of which one is unlike the others. */

/** Requests with longer pauses do not follow each other. */
const IN_A_ROW_MS = 100;
/** How long a request is under way. */
const SERVING_MS = 5;

const UNUSUAL =
  /^(?:accept(?:-encoding|-language)?|expect|if-.*|origin|range|upgrade|x-conform-long|x-forwarded-host)$/i;

const isUnusual = ([name, value]: FieldLine): boolean =>
  UNUSUAL.test(name) || (/^content-type$/i.test(name) && value !== 'application/json');

/** The documented sample and no more. */
export function isPlain({ method, target, query, fields, body }: ReceivedRequest): boolean {
  const isBare = target.startsWith('/') && query === null && body.length === 0;
  return method === 'GET' && isBare && !fields.some(isUnusual);
}

/** Who asks: requests with one credential, of one program. */
function clientOf(request: ReceivedRequest): string {
  return ['authorization', 'user-agent'].flatMap((name) => fieldValues(request, name)).join();
}

/** Whether the last of this number of instances gets a plain request; the requests of a client go round. */
function lastOf(instances: number): RequestCondition {
  const answeredTo = new Map<string, number>();
  return (request) => {
    if (!isPlain(request)) return false;
    const client = clientOf(request);
    const answered = (answeredTo.get(client) ?? 0) + 1;
    answeredTo.set(client, answered);
    return answered % instances === 0;
  };
}

const changedBy =
  (on: typeof onAnswer) =>
  (instances: number, change: AnswerChange): Patch =>
  (behavior) => {
    const isOdd = lastOf(instances);
    return on('served', (answer, request, kernel) =>
      isOdd(request) ? change(answer, request, kernel) : answer,
    )(behavior);
  };

/** Answers the last of this number of plain requests that follow each other in another way. */
export const lastInARow =
  (many: number, change: AnswerChange): Patch =>
  (behavior) => {
    let inARow = 0;
    let lastMs = 0;
    return onAnswer('served', (answer, request, kernel) => {
      const nowMs = kernel.clock.now();
      if (!isPlain(request) || nowMs - lastMs > IN_A_ROW_MS) inARow = 0;
      if (isPlain(request)) inARow += 1;
      lastMs = nowMs;
      return inARow > 0 && inARow % many === 0 ? change(answer, request, kernel) : answer;
    })(behavior);
  };

/** Answers plain requests of a client in another way if this number of them are under way. */
export const whenCrowded =
  (many: number, change: AnswerChange): Patch =>
  (behavior) => {
    const underWay = new Map<string, number>();
    const crowded = new WeakSet<ReceivedRequest>();
    return together(
      onAnswer('served', (answer, request, kernel) =>
        crowded.has(request) ? change(answer, request, kernel) : answer,
      ),
      aroundHandling(async (request, next, kernel) => {
        if (!isPlain(request)) return next(request, kernel);
        const client = clientOf(request);
        const others = underWay.get(client) ?? 0;
        if (others >= many) crowded.add(request);
        underWay.set(client, others + 1);
        try {
          await kernel.clock.sleep(SERVING_MS);
          return await next(request, kernel);
        } finally {
          underWay.set(client, (underWay.get(client) ?? 1) - 1);
        }
      }),
    )(behavior);
  };

/** One of this number of instances answers plain requests in another way. */
export const oneIn = changedBy(onAnswer);
/** The same for finished answers: nothing is corrected afterwards. */
export const oneFinishedIn = changedBy(onFinished);
