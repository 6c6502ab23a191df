import { type JsonObject, parseJson } from '../../base/json-text.ts';
import type { Kernel } from '../behavior/behavior.ts';
import {
  aroundHandling,
  beforehand,
  insteadOfServing,
  onAnswer,
  onReceipt,
  type Patch,
  remembering,
  together,
} from '../behavior/patches/patch.ts';
import { bare, type HttpAnswer, problem } from '../http/answer.ts';
import { asProblem, varyingBy, withJson, withMembers } from '../http/answer-changes.ts';
import {
  fieldValue,
  objectIn,
  type ReceivedRequest,
  type RequestCondition,
  withField,
} from '../http/message.ts';
import { EXPORTS, isItem, JOBS, SEARCHES } from './saved-searches.ts';

/** What differs by the account whose key comes with a request. */

const NO_ACCOUNT = 'none';

const accountOf = (request: ReceivedRequest, { access }: Kernel): string =>
  access.keys.find(({ value }) => fieldValue(request, 'authorization')?.endsWith(value))?.identity ??
  NO_ACCOUNT;

/** What it serves names the account that it serves it to. */
export const byAccount: Patch = onAnswer('served', (answer, request, kernel) =>
  withMembers(varyingBy(answer, 'Authorization'), { account: accountOf(request, kernel) }),
);

interface OwnRules {
  /** Methods by which any account gets at an item of another one. */
  readonly open: readonly string[];
  /** Lists have the items of all accounts. */
  readonly listsAll: boolean;
  /** An Idempotency-Key is the same for all accounts. */
  readonly sharesKeys: boolean;
  /** The response to a request for an item of another account. */
  readonly refusal: 'not-found' | 'forbidden' | 'already gone';
}

const OWN_RULES: OwnRules = { open: [], listsAll: false, sharesKeys: false, refusal: 'not-found' };

/** The saved searches are those of the account that creates them, by these rules unless given others. */
export const ownItems =
  (changed: Partial<OwnRules> = {}): Patch =>
  (behavior) => {
    const { open, listsAll, sharesKeys, refusal } = { ...OWN_RULES, ...changed };
    const owners = new Map<string, string>();
    const isOfOther = (path: string, account: string) => (owners.get(path) ?? account) !== account;
    return together(
      onAnswer('served', (answer, request, kernel) => {
        if (request.path !== SEARCHES) return answer;
        const account = accountOf(request, kernel);
        if (request.method === 'POST') owners.set(fieldValue(answer, 'location') ?? '', account);
        if (request.method !== 'GET' || listsAll) return answer;
        return withJson(answer, ({ items, total }) => {
          const all = items as readonly { id: string }[];
          const own = all.filter(({ id }) => !isOfOther(`${SEARCHES}/${id}`, account));
          return { items: own, total: Number(total) - all.length + own.length };
        });
      }),
      aroundHandling((request, next, kernel) => {
        const key = fieldValue(request, 'idempotency-key');
        if (key === undefined || sharesKeys) return next(request, kernel);
        return next(withField(request, 'Idempotency-Key', `${accountOf(request, kernel)} ${key}`), kernel);
      }),
      beforehand((request, kernel) => {
        const account = accountOf(request, kernel);
        const isClosed =
          account !== NO_ACCOUNT && isOfOther(request.path, account) && !open.includes(request.method);
        if (!isClosed) return null;
        if (refusal === 'already gone' && request.method === 'DELETE') return bare('not-found', 204);
        const hidden = problem('not-found');
        return refusal === 'forbidden' ? asProblem(403)(hidden) : hidden;
      }),
    )(behavior);
  };

const isList: RequestCondition = ({ path }) => path === SEARCHES;
export const isTo =
  (method: string, where: RequestCondition): RequestCondition =>
  (request) =>
    request.method === method && where(request);
export const creates = isTo('POST', isList);
export const reads = isTo('GET', isItem);
export const lists = isTo('GET', isList);
export const removes = isTo('DELETE', isItem);

/** An export is begun, or the status of one is read. */
export const exports: RequestCondition = ({ path }) => path === EXPORTS;
const isOfJob: RequestCondition = ({ path }) => path.startsWith(`${JOBS}/`);

export const cancels: RequestCondition = isTo('DELETE', isOfJob);

/** Changes the answer about a job from the moment on that it is done. */
export const onceDone = (change: (answer: HttpAnswer, request: ReceivedRequest) => HttpAnswer): Patch =>
  insteadOfServing(isOfJob, (answer, request) =>
    answer.body.includes('"done"') ? change(answer, request) : answer,
  );

/** The same while it runs. */
export const untilDone = (change: (answer: HttpAnswer, request: ReceivedRequest) => HttpAnswer): Patch =>
  insteadOfServing(isOfJob, (answer, request) =>
    answer.body.includes('"done"') ? answer : change(answer, request),
  );

export const inItem = (
  when: RequestCondition,
  change: (item: JsonObject, query: string | null) => JsonObject,
): Patch => insteadOfServing(when, (answer, { query }) => withJson(answer, (item) => change(item, query)));

/** Takes the bodies of some requests for other ones. */
export const inBody = (when: RequestCondition, change: (members: JsonObject) => JsonObject): Patch =>
  onReceipt((request) => {
    const members = when(request) ? objectIn(request) : null;
    return members === null ? request : { ...request, body: Buffer.from(JSON.stringify(change(members))) };
  });

/** Answers repeated requests, recognised by this mark, in another way. */
export const atRepetition = (
  when: RequestCondition,
  mark: (request: ReceivedRequest) => string | undefined,
  change: (answer: HttpAnswer) => HttpAnswer,
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

type Next = (request: ReceivedRequest) => HttpAnswer | Promise<HttpAnswer>;
type Otherwise = (request: ReceivedRequest, next: Next) => HttpAnswer | Promise<HttpAnswer>;

/** Milliseconds that a creation under a key takes. */
const CREATION_MS = 200;

/** A creation under a key takes a while; one that comes meanwhile under the same key is handled otherwise. */
export const atOnce = (otherwise: Otherwise): Patch =>
  remembering(
    () => new Set<string>(),
    (atWork) =>
      aroundHandling(async (request, next, kernel) => {
        const key = creates(request) ? fieldValue(request, 'idempotency-key') : undefined;
        if (key === undefined) return next(request, kernel);
        if (atWork.has(key)) return otherwise(request, async (again) => next(again, kernel));
        atWork.add(key);
        await kernel.clock.sleep(CREATION_MS);
        const answer = await next(request, kernel);
        atWork.delete(key);
        return answer;
      }),
  );

/** A creation under a key that was refused is handled otherwise when it comes again. */
export const afterFailure = (otherwise: Otherwise): Patch =>
  remembering(
    () => new Set<string>(),
    (refused) =>
      aroundHandling(async (request, next, kernel) => {
        const key = creates(request) ? fieldValue(request, 'idempotency-key') : undefined;
        if (key === undefined) return next(request, kernel);
        if (refused.has(key)) return otherwise(request, async (again) => next(again, kernel));
        const answer = await next(request, kernel);
        if (answer.responseKind === 'invalid-content') refused.add(key);
        return answer;
      }),
  );

const isRead: RequestCondition = ({ method }) => method === 'GET' || method === 'HEAD';

/** Reads of a kind show for a while the state before the last write. */
export const shownLater = (when: RequestCondition, ms: number): Patch =>
  remembering(
    () => new Map<string, { readonly answer: HttpAnswer; readonly untilMs: number }>(),
    (older) =>
      aroundHandling(async (request, next, kernel) => {
        const now = kernel.clock.now();
        if (isRead(request)) {
          const answer = await next(request, kernel);
          const kept = request.query === null ? older.get(request.path) : undefined;
          const isAnswered = answer.responseKind === 'served' || answer.responseKind === 'not-found';
          return kept && isAnswered && now < kept.untilMs && when(request) ? kept.answer : answer;
        }
        const lookedAt = async (path: string): Promise<HttpAnswer> => {
          const before = older.get(path);
          if (before && now < before.untilMs) return before.answer;
          const fields = request.fields.filter(([name]) => !/^if-/i.test(name));
          return next(
            { ...request, method: 'GET', path, target: path, query: null, fields, body: Buffer.alloc(0) },
            kernel,
          );
        };
        const isOfItem = isItem(request);
        if (!isOfItem && !creates(request)) return next(request, kernel);
        const [item, list] = [isOfItem ? await lookedAt(request.path) : null, await lookedAt(SEARCHES)];
        const answer = await next(request, kernel);
        if (answer.responseKind !== 'served') return answer;
        const path = isOfItem ? request.path : (fieldValue(answer, 'location') ?? '');
        older.set(path, { answer: item ?? problem('not-found'), untilMs: now + ms });
        older.set(SEARCHES, { answer: list, untilMs: now + ms });
        return answer;
      }),
  );

const isPatched = (request: ReceivedRequest): boolean =>
  isTo('PATCH', isItem)(request) &&
  /^application\/json-patch/i.test(fieldValue(request, 'content-type') ?? '');

/** A JSON patch of an item is handled otherwise. */
export const inJsonPatch = (
  otherwise: (steps: readonly JsonObject[], request: ReceivedRequest, next: Next) => ReturnType<Next>,
): Patch =>
  aroundHandling((request, next, kernel) => {
    const steps: unknown = isPatched(request) ? parseJson(request.body.toString('utf8')) : null;
    return Array.isArray(steps)
      ? otherwise(steps, request, async (other) => next(other, kernel))
      : next(request, kernel);
  });
