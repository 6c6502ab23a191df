import type { ReferenceName } from '../../../config/service.ts';
import type { Patch } from '../conduct/patch.ts';

/** A named, deliberate fault of the reference provider, used to prove that a check can fail. */
export interface Defect {
  /** Kebab-case, named for the fault. */
  readonly name: string;
  /** Those that can have it; it is proven on the first. */
  readonly services: readonly ReferenceName[];
  /** The setting of the proof under which it is seen, where it is not under the shipped config. */
  readonly setting?: string;
  /** What the service does wrong, in one sentence. */
  readonly summary: string;
  /** What a client sees of it. */
  readonly breaks: string;
  /** Ids of the checks that it proves: each fails or warns of it, for its own reason. */
  readonly trips?: readonly string[];
  /** Ids of the observations that record something else of it. */
  readonly shows?: readonly string[];
  readonly patch: Patch;
}

export const REST: readonly ReferenceName[] = ['search', 'messaging'];
export const REALTIME: readonly ReferenceName[] = ['realtime'];
export const EVERY: readonly ReferenceName[] = [...REST, ...REALTIME];
