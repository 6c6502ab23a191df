import type { ReferenceName } from '../../../config/service.ts';
import type { Patch } from '../conduct/patch.ts';
import { type Answer, fieldValues, withField } from '../http/message.ts';

/** Another conduct that conforms just as well; no check may complain about it. */
export interface Variant {
  readonly name: string;
  readonly services: readonly ReferenceName[];
  /** The setting of the proof under which it is seen, where it is not under the shipped config. */
  readonly setting?: string;
  /** What it does otherwise, in one sentence. */
  readonly summary: string;
  /** Ids of the observations that record something else of it. */
  readonly shows?: readonly string[];
  readonly patch: Patch;
}

/** The answer depends on one more field of the request. */
export function varyingBy(answer: Answer, name: string): Answer {
  return withField(answer, 'Vary', [...fieldValues(answer, 'vary'), name].join(', '));
}
