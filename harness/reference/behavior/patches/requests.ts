import { type Answer, bare, CREDENTIAL_REFUSALS, problem, served } from '../../http/answer.ts';
import { asProblem, varyingBy, withJson, withMembers } from '../../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest, withField } from '../../http/message.ts';
import type { Kernel } from '../behavior.ts';
import { aroundHandling, beforehand, onAnswer, onReceipt, type Patch, together } from './patch.ts';

/** Other readings of a path than its octets, as proxies and applications have them. */

/** RFC 3986 §5.2.4: without its dot segments. */
export function withoutDotSegments(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

export const withoutRepeatedSlashes = (path: string): string => path.replace(/\/{2,}/g, '/');

export const withoutMatrixParameters = (path: string): string => path.replace(/;[^/]*/g, '');

/** Takes each path for another one, which decides on everything else, the credential included. */
export const readingPaths = (read: (path: string) => string): Patch =>
  onReceipt((request) => ({ ...request, path: read(request.path) }));

/** What services do for pages of other origins, and for clients that find their own way. */

/** Lets pages of an origin read the answers, and answers their preflights without asking for a credential. */
export const allowingOrigin = (originFor: (asking: string) => string, fields: string): Patch =>
  together(
    onAnswer('served', (answer, request) => {
      const asking = fieldValue(request, 'origin');
      return asking === undefined
        ? answer
        : withField(answer, 'Access-Control-Allow-Origin', originFor(asking));
    }),
    beforehand((request) => {
      const asking = fieldValue(request, 'origin');
      const method = fieldValue(request, 'access-control-request-method');
      if (request.method !== 'OPTIONS' || asking === undefined || method === undefined) return null;
      return bare('options', 204, [
        ['Access-Control-Allow-Origin', originFor(asking)],
        ['Access-Control-Allow-Methods', method],
        ['Access-Control-Allow-Headers', fields],
      ]);
    }),
  );

export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Names its metadata in each challenge (RFC 9728 §5.1), and serves them as `change` has it. */
export const namingMetadata = (change: (answer: Answer) => Answer = (answer) => answer): Patch =>
  together(
    onAnswer(CREDENTIAL_REFUSALS, (answer, request) =>
      withField(
        answer,
        'WWW-Authenticate',
        `Bearer realm="api", resource_metadata="http://${fieldValue(request, 'host')}${METADATA_PATH}"`,
      ),
    ),
    beforehand((request) => {
      if (request.path !== METADATA_PATH) return null;
      const resource = `http://${fieldValue(request, 'host')}/`;
      return change({
        ...served({ resource, bearer_methods_supported: ['header'] }),
        responseKind: 'options',
      });
    }),
  );

interface Offer {
  /** The value of Accept-Query. */
  readonly accepts?: string;
  /** Whether content of this type is served; undefined where none is named. */
  readonly takes?: (type: string | undefined) => boolean;
  readonly refuses?: (answer: Answer, type: string | undefined) => Answer;
}

/** Serves QUERY (RFC 10008) where GET is served, and says so. */
export const offeringQuery = ({
  accepts = 'application/json',
  takes = (type) => type === 'application/json',
  refuses = (answer) => answer,
}: Offer = {}): Patch =>
  aroundHandling(async (request, next, kernel) => {
    if (request.method !== 'QUERY') {
      const answer = await next(request, kernel);
      if (answer.responseKind !== 'options' || request.target === '*') return answer;
      const allow = fieldValue(answer, 'allow');
      return withField(withField(answer, 'Allow', `${allow}, QUERY`), 'Accept-Query', accepts);
    }
    const answer = await next({ ...request, method: 'GET' }, kernel);
    const type = fieldValue(request, 'content-type');
    if (answer.responseKind !== 'served' || takes(type)) return answer;
    const malformed = problem('malformed');
    const refusal = type === undefined ? malformed : asProblem(415)(malformed);
    return refuses(withField(refusal, 'Accept-Query', accepts), type);
  });

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
