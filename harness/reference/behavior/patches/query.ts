import { type Answer, problem } from '../../http/answer.ts';
import { asProblem } from '../../http/answer-changes.ts';
import { fieldValue, withField } from '../../http/message.ts';
import { aroundHandling, type Patch } from './patch.ts';

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
