import type { FieldLine } from '../../../wire/exchange.ts';
import { fieldValues, type ReceivedRequest } from '../../http/message.ts';
import type { AnswerChange } from '../behavior.ts';
import { onAnswer, onFinished, type Patch } from './patch.ts';

/** Several instances behind one address, of which one is unlike the others. */

/** What comes within so short a time was sent together. */
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

/** Of the plain requests of a client so many come to each round of instances; tells those that come to the last one. */
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

/** Of so many plain requests that follow each other, with no other between them, the last is answered otherwise. */
export const lastInARow =
  (many: number, change: AnswerChange): Patch =>
  (behavior) => {
    let inARow = 0;
    return onAnswer('served', (answer, request, kernel) => {
      inARow = isPlain(request) ? inARow + 1 : 0;
      return inARow > 0 && inARow % many === 0 ? change(answer, request, kernel) : answer;
    })(behavior);
  };

/** Of plain requests of a client that come together each one behind so many is answered otherwise. */
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

/** One of so many instances answers plain requests otherwise. */
export const oneIn = changedBy(onAnswer);
/** The same, when the answer is finished: nothing is corrected after it. */
export const oneFinishedIn = changedBy(onFinished);
