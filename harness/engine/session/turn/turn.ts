import { Blocked } from '../../../base/verdict.ts';
import type { Conversation } from '../../../wire/conversation.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import type { EvidenceLog } from './evidence-log.ts';
import type { OutageWatch } from './outage.ts';

/** A probe being sent: what it records is what its answer rests on. */
export interface Turn {
  /** Ends when the check that asked is given up. */
  readonly signal: AbortSignal;
  /** Ids of the evidence so far. */
  readonly trail: Set<string>;
  /** Puts what was done on record; it counts as so many requests to the service. @throws Blocked where it shows nothing of what it was for. */
  keep<E extends Exchange | Conversation>(done: E, requests?: number): E;
}

export function openTurn(log: EvidenceLog, outage: OutageWatch, signal: AbortSignal): Turn {
  const trail = new Set<string>();
  return {
    signal,
    trail,
    keep(done, requests = 1) {
      trail.add(log.keep(done, requests).id);
      outage.requireReachable();
      if (done.failure?.kind === 'not-sent') throw new Blocked(done.failure.message);
      return done;
    },
  };
}
