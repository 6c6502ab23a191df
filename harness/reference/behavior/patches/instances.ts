import type { FieldLine } from '../../../wire/exchange.ts';
import { fieldValues, type ReceivedRequest } from '../../http/message.ts';
import type { AnswerChange } from '../behavior.ts';
import { onAnswer, onFinished, type Patch } from './patch.ts';

/** Several instances behind one address, of which one is unlike the others. */

/** Requests within this time were sent together. */
const TOGETHER_MS = 100;

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
function lastOf(instances: number): (request: ReceivedRequest) => boolean {
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

/** Answers the last of this number of consecutive plain requests in another way. */
export const lastInARow =
  (many: number, change: AnswerChange): Patch =>
  (behavior) => {
    let inARow = 0;
    return onAnswer('served', (answer, request, kernel) => {
      inARow = isPlain(request) ? inARow + 1 : 0;
      return inARow > 0 && inARow % many === 0 ? change(answer, request, kernel) : answer;
    })(behavior);
  };

/** Answers plain requests of a client beyond this number that come together in another way. */
export const whenCrowded =
  (many: number, change: AnswerChange): Patch =>
  (behavior) => {
    const crowds = new Map<string, { readonly sinceMs: number; count: number }>();
    return onAnswer('served', (answer, request, kernel) => {
      if (!isPlain(request)) return answer;
      const client = clientOf(request);
      const nowMs = kernel.clock.now();
      const last = crowds.get(client);
      const crowd = last && nowMs - last.sinceMs <= TOGETHER_MS ? last : { sinceMs: nowMs, count: 0 };
      crowds.set(client, crowd);
      crowd.count += 1;
      return crowd.count > many ? change(answer, request, kernel) : answer;
    })(behavior);
  };

/** One of this number of instances answers plain requests in another way. */
export const oneIn = changedBy(onAnswer);
/** The same for finished answers: nothing is corrected afterwards. */
export const oneFinishedIn = changedBy(onFinished);
