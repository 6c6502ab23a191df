import { bare, problem } from '../../http/answer.ts';
import { asProblem, varyingBy, withJson, withMembers } from '../../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest } from '../../http/message.ts';
import type { Kernel } from '../behavior.ts';
import { beforehand, onAnswer, type Patch, together } from './patch.ts';

/** What differs by the account whose key comes with a request. */

const NOBODY = 'none';

const accountOf = (request: ReceivedRequest, { access }: Kernel): string =>
  access.keys.find(({ value }) => fieldValue(request, 'authorization')?.endsWith(value))?.identity ?? NOBODY;

/** What it serves names the account that it serves it to. */
export const byAccount: Patch = onAnswer('served', (answer, request, kernel) =>
  withMembers(varyingBy(answer, 'Authorization'), { account: accountOf(request, kernel) }),
);

interface OwnRules {
  /** Methods by which any account gets at an item of another one. */
  readonly open: readonly string[];
  /** Lists have the items of all accounts. */
  readonly listsAll: boolean;
  /** What comes of a request for an item of another account. */
  readonly refusal: 'not-found' | 'forbidden' | 'already gone';
}

const OWN_RULES: OwnRules = { open: [], listsAll: false, refusal: 'not-found' };

/** The items of a collection are those of the account that creates them, by these rules unless it is told otherwise. */
export const ownItems =
  (collection: string, changed: Partial<OwnRules> = {}): Patch =>
  (behavior) => {
    const { open, listsAll, refusal } = { ...OWN_RULES, ...changed };
    const owners = new Map<string, string>();
    const isOfOther = (path: string, account: string) => (owners.get(path) ?? account) !== account;
    return together(
      onAnswer('served', (answer, request, kernel) => {
        if (request.path !== collection) return answer;
        const account = accountOf(request, kernel);
        if (request.method === 'POST') owners.set(fieldValue(answer, 'location') ?? '', account);
        if (request.method !== 'GET' || listsAll) return answer;
        return withJson(answer, ({ items, total }) => {
          const all = items as readonly { id: string }[];
          const own = all.filter(({ id }) => !isOfOther(`${collection}/${id}`, account));
          return { items: own, total: Number(total) - all.length + own.length };
        });
      }),
      beforehand((request, kernel) => {
        const account = accountOf(request, kernel);
        const isClosed =
          account !== NOBODY && isOfOther(request.path, account) && !open.includes(request.method);
        if (!isClosed) return null;
        if (refusal === 'already gone' && request.method === 'DELETE') return bare('not-found', 204);
        const hidden = problem('not-found');
        return refusal === 'forbidden' ? asProblem(403)(hidden) : hidden;
      }),
    )(behavior);
  };
