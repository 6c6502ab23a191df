import { parseJson } from '../../../base/json-text.ts';
import { REST, tableOf, type Variant } from '../../behavior/deviation.ts';
import { onAnswer, onReceipt, type Patch } from '../../behavior/patches/patch.ts';
import { type ProblemName, problem } from '../../http/answer.ts';
import { fieldValue, type ReceivedRequest } from '../../http/message.ts';

const JSON_TYPE = /^application\/(?:[a-z.-]+\+)?json *(?:;|$)/i;

const isPosted = ({ method, path }: ReceivedRequest): boolean => method === 'POST' && path === '/v1/matches';

const refusing = (when: (request: ReceivedRequest) => boolean, responseKind: ProblemName): Patch =>
  onAnswer(
    ['served', 'invalid-content'],
    () => problem(responseKind),
    (request) => isPosted(request) && when(request),
  );

/** What parsers make of JSON that they need not take. */
const readingLeniently = (text: string): string =>
  text
    .replace(/^\ufeff/, '')
    .replace(/,"conform":(?:NaN|1e99999)/, '')
    .replaceAll(/\\ud800|\\u0000|\ufffd/g, '');

/** Other ways to take the bodies of requests. */
export const BODY_VARIANTS = tableOf<Variant>(REST, {
  'demands-json-type': {
    summary: 'says 415 to a body that does not call itself JSON, and to any content coding',
    changes: ['operations.body-as-text'],
    patch: refusing(
      (request) =>
        !JSON_TYPE.test(fieldValue(request, 'content-type') ?? '') ||
        fieldValue(request, 'content-encoding') !== undefined,
      'unsupported-media-type',
    ),
  },
  'takes-lenient-json': {
    summary: 'takes JSON with a byte order mark, NaN, numbers of any size and text that is none',
    patch: onReceipt((request) =>
      isPosted(request) && parseJson(request.body.toString('utf8').replace('NaN', '0')) !== null
        ? { ...request, body: Buffer.from(readingLeniently(request.body.toString('utf8'))) }
        : request,
    ),
  },
  'takes-small-bodies': {
    summary: 'says 413 to a body of more than 8 KiB',
    patch: refusing(({ body }) => body.length > 8_192, 'content-too-large'),
  },
});
