import type { CheckContext } from '../../harness/engine/check/suite.ts';
import { sample } from '../stimuli/sample.ts';

/** Why nothing is to be judged of the ETag (RFC 9110 §8.8.3) of the documented response, or by it. */
export const NO_TAG = 'the documented response has no ETag';
export const TAG_CHANGED = 'the ETag has changed in between';

/** The ETag of the documented response; without one the check does not apply. */
export async function ownTag({ probe, notApplicable }: CheckContext): Promise<string> {
  return (await probe(sample)).response.entityTag ?? notApplicable(NO_TAG);
}
