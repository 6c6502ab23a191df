import type { HttpAnswer, ResponseKind } from '../../http/answer.ts';
import { dropped, writtenAs } from '../../http/answer-changes.ts';
import type { ReceivedRequest, RequestCondition } from '../../http/message.ts';
import { inChunks } from '../../http/octets.ts';
import type { AnswerChange, Behavior, Handling, Kernel } from '../behavior.ts';

/**
 * One deviation from the conforming behavior, right or wrong. Patches compose in any number; what a patch remembers
 * it creates when it is applied, so that every running instance has its own.
 */
export type Patch = (behavior: Behavior) => Behavior;

/** Applies patches one after another; the last is the outermost. */
export function patched(behavior: Behavior, patches: readonly Patch[]): Behavior {
  return patches.reduce((changed, patch) => patch(changed), behavior);
}

export const together =
  (...patches: readonly Patch[]): Patch =>
  (behavior) =>
    patched(behavior, patches);

type ResponseKinds = ResponseKind | readonly ResponseKind[] | 'every';

function concerns(kinds: ResponseKinds, answer: HttpAnswer): boolean {
  if (kinds === 'every') return true;
  return typeof kinds === 'string' ? answer.responseKind === kinds : kinds.includes(answer.responseKind);
}

const changing =
  (step: 'compose' | 'finish') =>
  (kinds: ResponseKinds, change: AnswerChange, when: RequestCondition = () => true): Patch =>
  (behavior) => ({
    ...behavior,
    [step]: ((...of) => {
      const answer = behavior[step](...of);
      const [, request, kernel] = of;
      return concerns(kinds, answer) && when(request) ? change(answer, request, kernel) : answer;
    }) satisfies AnswerChange,
  });

/**
 * Changes certain answers before their length is counted, `when`: to requests of a kind alone. The message stays well
 * framed.
 */
export const onAnswer = changing('compose');

/** Changes all refusals at the limit but the first. */
export const onLaterRefusals =
  (change: (answer: HttpAnswer, nowMs: number) => HttpAnswer): Patch =>
  (behavior) => {
    let refusals = 0;
    return onAnswer('rate-limited', (answer, _request, { clock }) => {
      refusals += 1;
      return refusals > 1 ? change(answer, clock.now()) : answer;
    })(behavior);
  };

/** The same for finished answers: nothing is corrected afterwards. */
export const onFinished = changing('finish');

/** Sends certain answers as the octets that `render` makes of them, and closes the connection. */
export const onWire = (kinds: ResponseKinds, render: (head: Buffer, body: Buffer) => Buffer): Patch =>
  onFinished(kinds, (answer, request) =>
    writtenAs((head, body) => render(head, request.method === 'HEAD' ? Buffer.alloc(0) : body))(answer),
  );

/** The same with another head before the same content. */
export const onWireHead = (kinds: ResponseKinds, change: (head: string) => string): Patch =>
  onWire(kinds, (head, body) =>
    Buffer.concat([Buffer.from(change(head.toString('latin1')), 'latin1'), body]),
  );

/** Sends a trailer after served content, to clients that can read it. */
export const withTrailer = (field: string): Patch =>
  onFinished(
    'served',
    writtenAs((head, body) => inChunks(head, body, `${field}\r\n`)),
    ({ httpVersion, method }) => httpVersion !== '1.0' && method !== 'HEAD',
  );

export const droppedInsteadOf = (kinds: ResponseKinds): Patch => onFinished(kinds, dropped);

export const aroundHandling =
  (
    around: (request: ReceivedRequest, next: Handling, kernel: Kernel) => HttpAnswer | Promise<HttpAnswer>,
  ): Patch =>
  (behavior) => ({
    ...behavior,
    handle: async (request, kernel) => around(request, behavior.handle, kernel),
  });

/** Answers some requests before the credential is looked at. */
export const beforehand = (answer: (request: ReceivedRequest, kernel: Kernel) => HttpAnswer | null): Patch =>
  aroundHandling((request, next, kernel) => answer(request, kernel) ?? next(request, kernel));

/** Handles some requests later by these milliseconds. */
export const slowed = (when: RequestCondition, ms: number): Patch =>
  aroundHandling(async (request, next, kernel) => {
    if (when(request)) await kernel.clock.sleep(ms);
    return next(request, kernel);
  });

/** Gives each running provider its own memory. */
export const remembering =
  <M>(fresh: () => M, patch: (memory: M) => Patch): Patch =>
  (behavior) =>
    patch(fresh())(behavior);

/** Answers authorised requests of a kind in another way. */
export const insteadOfServing = (when: RequestCondition, change: AnswerChange): Patch =>
  onAnswer('served', change, when);

/** Takes requests of a kind for other ones. */
export const onReceipt =
  (rewrite: (request: ReceivedRequest) => ReceivedRequest, when: RequestCondition = () => true): Patch =>
  (behavior) => ({
    ...behavior,
    receive: (given) => {
      const request = behavior.receive(given);
      return when(request) ? rewrite(request) : request;
    },
  });

/** Changes the head of the first request of a connection, as it was received. */
export const onHead = (change: (head: string) => string): Patch =>
  onFirstOctets((text) => {
    const end = text.indexOf(HEAD_END);
    return end === -1 ? change(text) : change(text.slice(0, end)) + text.slice(end);
  });

/** Changes the first octets of a connection, whatever they are: one request, or several at once. */
export const onFirstOctets =
  (change: (text: string, segments: number) => string): Patch =>
  (behavior) => ({
    ...behavior,
    intake: (octets, segments) => {
      const given = behavior.intake?.(octets, segments) ?? octets;
      return Buffer.from(change(given.toString('latin1'), segments), 'latin1');
    },
  });

const HEAD_END = '\r\n\r\n';
