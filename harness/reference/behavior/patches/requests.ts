import { bare, CREDENTIAL_REFUSALS, type HttpAnswer, problem, served } from '../../http/answer.ts';
import { asProblem } from '../../http/answer-changes.ts';
import { fieldValue, withField, withFields } from '../../http/message.ts';
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
export const namingMetadata = (change: (answer: HttpAnswer) => HttpAnswer = (answer) => answer): Patch =>
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

interface QueryOffer {
  /** The value of Accept-Query. */
  readonly accepts?: string;
  /** Whether content of this type is served; undefined where none is named. */
  readonly takes?: (type: string | undefined) => boolean;
  readonly refuses?: (answer: HttpAnswer, type: string | undefined) => HttpAnswer;
}

/** Serves QUERY (RFC 10008) where GET is served, and says so. */
export const offeringQuery = ({
  accepts = 'application/json',
  takes = (type) => type === 'application/json',
  refuses = (answer) => answer,
}: QueryOffer = {}): Patch =>
  aroundHandling(async (request, next, kernel) => {
    if (request.method !== 'QUERY') {
      const answer = await next(request, kernel);
      if (answer.responseKind !== 'options' || request.target === '*') return answer;
      const allow = fieldValue(answer, 'allow');
      return withFields(answer, { Allow: `${allow}, QUERY`, 'Accept-Query': accepts });
    }
    const answer = await next({ ...request, method: 'GET' }, kernel);
    const type = fieldValue(request, 'content-type');
    if (answer.responseKind !== 'served' || takes(type)) return answer;
    const malformed = problem('malformed');
    const refusal = type === undefined ? malformed : asProblem(415)(malformed);
    return refuses(withField(refusal, 'Accept-Query', accepts), type);
  });
