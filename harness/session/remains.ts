import { reasonOf } from '../base/thrown.ts';
import type { ServiceHttp } from './http/service-http.ts';
import type { Stimulus } from './http/stimulus.ts';
import type { SessionMeans } from './turn/means.ts';
import { openTurn } from './turn/turn.ts';

/** What a run has created at the service and has to remove again. */
export interface RemainsPort {
  /**
   * Something is there that this request removes: it is sent when the session closes, an interrupted one too, unless
   * the function that comes back was called before.
   */
  leave(removal: Stimulus): () => void;
}

/** How long the removal of everything may take, in ms. */
const REMOVAL_MS = 10_000;

/** Whatever is left when a session closes. */
export class Remains implements RemainsPort {
  readonly #left = new Set<Stimulus>();

  leave(removal: Stimulus): () => void {
    this.#left.add(removal);
    return () => this.#left.delete(removal);
  }

  /** The last created first. What cannot be removed is told. */
  async remove(http: ServiceHttp, { log, outage, remark }: SessionMeans): Promise<void> {
    if (this.#left.size === 0) return;
    const turn = openTurn(log, outage, AbortSignal.timeout(REMOVAL_MS));
    for (const removal of [...this.#left].reverse()) {
      const about = `${removal.method} ${removal.purpose}`;
      try {
        const { served, status } = await http.reply(removal, turn);
        if (!served && status !== 404 && status !== 410) {
          remark(`what this run created may still be there: ${about} was answered ${status ?? 'by nothing'}`);
        }
      } catch (error) {
        remark(`what this run created may still be there: ${about} was not possible (${reasonOf(error)})`);
      }
    }
    this.#left.clear();
  }
}
