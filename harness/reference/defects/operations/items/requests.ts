import type { JsonObject } from '../../../../base/json-text.ts';
import { insteadOfServing, onReceipt, type Patch, remembering } from '../../../behavior/patches/patch.ts';
import type { Answer } from '../../../http/answer.ts';
import { withJson } from '../../../http/answer-changes.ts';
import { objectIn, type ReceivedRequest } from '../../../http/message.ts';
import { isItem, SEARCHES } from '../../../services/saved-searches.ts';

const isList = ({ path }: ReceivedRequest): boolean => path === SEARCHES;
export const isTo =
  (method: string, where: (request: ReceivedRequest) => boolean) => (request: ReceivedRequest) =>
    request.method === method && where(request);
export const creates = isTo('POST', isList);
export const reads = isTo('GET', isItem);
export const lists = isTo('GET', isList);
export const removes = isTo('DELETE', isItem);

export const inItem = (
  when: (request: ReceivedRequest) => boolean,
  change: (item: JsonObject, query: string | null) => JsonObject,
): Patch => insteadOfServing(when, (answer, { query }) => withJson(answer, (item) => change(item, query)));

/** Takes the bodies of some requests for other ones. */
export const inBody = (
  when: (request: ReceivedRequest) => boolean,
  change: (members: JsonObject) => JsonObject,
): Patch =>
  onReceipt((request) => {
    const members = when(request) ? objectIn(request) : null;
    return members === null ? request : { ...request, body: Buffer.from(JSON.stringify(change(members))) };
  });

/** Answers what comes a second time in another way, told apart by this mark. */
export const atRepetition = (
  when: (request: ReceivedRequest) => boolean,
  mark: (request: ReceivedRequest) => string | undefined,
  change: (answer: Answer) => Answer,
): Patch =>
  remembering(
    () => new Set<string | undefined>(),
    (seen) =>
      insteadOfServing(when, (answer, request) => {
        const again = mark(request);
        const isRepeated = again !== undefined && seen.has(again);
        seen.add(again);
        return isRepeated ? change(answer) : answer;
      }),
  );

/** The items of a list changed, and what it says of their number. */
export const inList = (change: (items: readonly JsonObject[]) => readonly JsonObject[]): Patch =>
  inItem(
    (request) => lists(request) && request.query === null,
    ({ items, ...rest }) => ({ ...rest, items: change(items as readonly JsonObject[]) }),
  );
