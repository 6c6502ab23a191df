import {
  check,
  getDocumented,
  IN_CONTENT,
  marked,
  practice,
  type Reply,
} from '../../harness/engine/check/suite.ts';
import { withoutCredential } from '../auth/stimuli/credential.ts';
import { sample, samplesInARow } from '../stimuli/sample.ts';
import { unmarkedSample, unmarkedWithoutCredential } from '../stimuli/target.ts';
import { stable } from './documented-answer.ts';

const essenceOf = ({ response }: Reply): string => response.mediaType?.essence ?? 'no Content-Type';

// A result that holds for the test client alone tells nothing of the others.
export const unmarked = check('status.unmarked', {
  title: 'answers other clients as it answers this one',
  headline: 'A client without the User-Agent and the run id of conform gets {got}',
  why: 'What this run found holds for the test client alone. Your clients get something else.',
  change: 'Remove the rule that looks for User-Agent or X-Conform-Run, or name User-Agent in Vary.',
  grounds: [practice('the same answer to every client')],
  applies: [getDocumented, marked],
  restsOn: [stable],
  uses: [sample, samplesInARow, unmarkedSample, withoutCredential, unmarkedWithoutCredential],
  async judge({ probe, expect }) {
    const own = [await probe(sample), ...(await probe(samplesInARow))];
    const [first = await probe(sample)] = own;
    // A counter or a union of shapes differs for each client alike.
    const isSteady = own.every(({ response }) => response.hasContentLike(first.response));
    const isRefused = !(await probe(withoutCredential)).served;
    if (isRefused) await expect(unmarkedWithoutCredential).toBeUnserved();
    await expect(unmarkedSample)
      // Some services refuse clients that they do not know.
      .where(({ response }) => response.statusClass !== 4, 'another client is refused')
      .where(
        ({ response }) =>
          ![response, first.response].some(({ vary }) => vary.includes('user-agent') || vary.includes('*')),
        'Vary says that the answer depends on the client',
      )
      .toConform(
        'the same status, media type and shape',
        (reply) => {
          if (reply.status !== first.status) return `status ${reply.status}`;
          if (essenceOf(reply) !== essenceOf(first)) return essenceOf(reply);
          return isSteady && !reply.response.hasContentLike(first.response)
            ? 'content of another shape'
            : null;
        },
        IN_CONTENT,
      );
  },
});
