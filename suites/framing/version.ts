import type { CheckContext } from '../../harness/engine/check/suite.ts';
import { sample } from '../stimuli/sample.ts';

/**
 * Ends a check of what HTTP/1.1 alone demands where the service answers in HTTP/1.0: it then knows no higher version
 * (RFC 9110 §6.2), and RFC 1945 has neither transfer codings nor a Host that is demanded.
 */
export async function speaksHttp11({ probe, notApplicable }: CheckContext): Promise<void> {
  const { response } = (await probe(sample)).exchange;
  if (response?.httpVersion === '1.0')
    notApplicable('the service answers in HTTP/1.0, which has no such rule');
}
