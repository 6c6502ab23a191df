import {
  type CheckDefinition,
  check,
  type Ground,
  type Probe,
  type Reply,
} from '../../harness/engine/check/suite.ts';
import type { Notes } from '../row.ts';
import { sample } from '../stimuli/sample.ts';

interface Repeated extends Notes<'title' | 'headline'> {
  readonly ground: Ground;
}

const NEEDED = ['Cache-Control', 'Content-Location', 'ETag', 'Vary'];

/** An answer in place of a 200 has what caches need of that one. */
export const repeatsFields = (
  id: string,
  asked: Probe<Reply>,
  status: 206 | 304,
  { ground, ...notes }: Repeated,
): CheckDefinition =>
  check(id, {
    ...notes,
    grounds: [ground],
    uses: [sample, asked],
    async judge({ probe, expect }) {
      const { response: full } = await probe(sample);
      const needed = NEEDED.filter((name) => full.has(name));
      await expect(asked)
        .where((reply) => reply.status === status, `no request was answered ${status}`)
        .toConform(`the ${needed.join(', ')} of the 200`, ({ response }) => {
          const lost = needed.filter((name) => !response.has(name));
          return lost.length === 0 ? null : `no ${lost.join(', no ')}`;
        });
    },
  });
