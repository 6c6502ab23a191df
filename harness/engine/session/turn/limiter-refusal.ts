import type { Exchange } from '../../../wire/exchange.ts';
import { faceOf, isLimitersRefusal, type RefusalFace } from '../../../wire/limit/observed/observation.ts';

/** How the limiter of the service refuses: 429, and whatever was met when the limit was exceeded on purpose. */
export class LimiterRefusal {
  #face: RefusalFace | null = null;

  /** What was met; null while nothing was. */
  get face(): RefusalFace | null {
    return this.#face;
  }

  /** The first one that is met is what it looks like. */
  met(refusal: Pick<Exchange, 'response'>): void {
    this.#face ??= faceOf(refusal);
  }

  isIn(answer: Pick<Exchange, 'response' | 'failure'>): boolean {
    return isLimitersRefusal(answer, this.#face);
  }
}
