import { overRecord, probe } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { withoutCredential } from '../../auth/stimuli/credential.ts';
import { rawSample, sample, variation } from '../../stimuli/sample.ts';
import { unknownPath } from '../../stimuli/target.ts';

/** Every response in HTTP/2, and every malformed message in place of one. */
export const everyHttp2Message = overRecord<Reply>(
  'every-http2-message',
  [sample, withoutCredential, unknownPath],
  ({ recorded }) =>
    recorded.exchanges.filter(
      ({ exchange: { request, response, failure } }) =>
        request.httpVersion === '2' && (response !== null || failure?.kind === 'malformed'),
    ),
);

/** The sample once more in each version, in the same order: content that changes with time differs from itself. */
export const inBothAgain = probe<{ readonly newer: Reply; readonly older: Reply }>(
  'in-both-versions-again',
  { needs: [sample, rawSample], cost: 2, usualCost: 0 },
  async ({ http }) => ({
    newer: await http.send({ purpose: 'as documented, in HTTP/2 again' }),
    older: await http.send({ purpose: 'as documented, in HTTP/1.1 again', raw: true }),
  }),
);

/**
 * A request right behind the same one that is reset (RFC 9113 §5.4.2). Without a credential: whether a request that is
 * reset counts against the quota is up to the service.
 */
export const besideReset = variation('beside-reset', 'without a credential, beside a request that is reset', {
  credential: 'none',
  besideReset: true,
});

/** The difference of two answers that a client has to do with; null for none. */
export function difference({ response }: Reply, { response: usual }: Reply): string | null {
  if (response.status !== usual.status) return `status ${response.status} in place of ${usual.status}`;
  const [type, usualType] = [response, usual].map(({ mediaType }) => mediaType?.essence ?? 'none');
  if (type !== usualType) return `media type ${type} in place of ${usualType}`;
  return usual.shape === null || response.hasContentLike(usual) ? null : 'JSON of another shape';
}
