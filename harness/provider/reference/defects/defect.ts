import type { ReferenceName } from '../../../config/service.ts';
import type { Patch } from '../conduct/patch.ts';

/** A named, deliberate fault of the reference provider, used to prove that a check can fail. */
export interface Defect {
  /** Kebab-case, named for the fault. */
  readonly name: string;
  readonly services: readonly ReferenceName[];
  /** What the service does wrong, in one sentence. */
  readonly summary: string;
  /** What a client sees of it. */
  readonly breaks: string;
  readonly patch: Patch;
}

export const REST: readonly ReferenceName[] = ['search', 'messaging'];
export const REALTIME: readonly ReferenceName[] = ['realtime'];
export const EVERY: readonly ReferenceName[] = [...REST, ...REALTIME];
