import { type JsonObject, parseJsonObject } from '../../../../base/json-text.ts';
import { onAnswer, onReceipt, type Patch } from '../../conduct/patch.ts';
import { withText } from '../../http/answer-changes.ts';
import type { Answer, ReceivedRequest } from '../../http/message.ts';
import { SEARCHES } from '../../services/saved-searches.ts';

const isList = ({ path }: ReceivedRequest): boolean => path === SEARCHES;
export const isItem = ({ path }: ReceivedRequest): boolean => path.startsWith(`${SEARCHES}/`);
export const isTo =
  (method: string, where: (request: ReceivedRequest) => boolean) => (request: ReceivedRequest) =>
    request.method === method && where(request);
export const creates = isTo('POST', isList);
export const reads = isTo('GET', isItem);
export const lists = isTo('GET', isList);
export const removes = isTo('DELETE', isItem);

/** Answers some requests in another way, once they are carried out. */
export const onServed = (
  when: (request: ReceivedRequest) => boolean,
  change: (answer: Answer, request: ReceivedRequest) => Answer,
): Patch => onAnswer('served', (answer, request) => (when(request) ? change(answer, request) : answer));

export const inItem = (
  when: (request: ReceivedRequest) => boolean,
  change: (item: JsonObject) => JsonObject,
): Patch => onServed(when, (answer) => withText(answer, (text) => JSON.stringify(change(JSON.parse(text)))));

/** Takes the bodies of some requests for other ones. */
export const inBody = (
  when: (request: ReceivedRequest) => boolean,
  change: (members: JsonObject) => JsonObject,
): Patch =>
  onReceipt((request) => {
    const members = when(request) ? parseJsonObject(request.body.toString('utf8')) : null;
    return members === null ? request : { ...request, body: Buffer.from(JSON.stringify(change(members))) };
  });

/** What is found out while it runs is of one provider. */
export const remembering =
  <M>(fresh: () => M, patch: (memory: M) => Patch): Patch =>
  (conduct) =>
    patch(fresh())(conduct);

/** The items of a list changed, and what it says of their number. */
export const inList = (change: (items: readonly JsonObject[]) => readonly JsonObject[]): Patch =>
  onServed(
    (request) => lists(request) && request.query === null,
    (answer) =>
      withText(answer, (text) => {
        const { items, ...rest } = JSON.parse(text);
        return JSON.stringify({ ...rest, items: change(items) });
      }),
  );
