import { HarnessError } from '../base/exit.ts';
import { NoRoomYet } from '../transport/pace/budget.ts';
import { isPutOff, type Port, type Probe, PutOff, type PutsOff, type Remembered } from './probe.ts';
import { onBehalfOf } from './turn/asking.ts';
import type { SessionMeans } from './turn/means.ts';
import type { RunTime } from './turn/run-time.ts';
import { openTurn, type Turn } from './turn/turn.ts';

/** How a probe in its turn comes to the evidence of others. */
type Asking = Pick<Port, 'ask' | 'borrow'>;

/** Sends the probes that checks ask for, each in a turn of its own, with the service as it reaches it in that turn. */
export class Probing {
  readonly #means: Pick<SessionMeans, 'log' | 'outage'>;
  readonly #time: Pick<RunTime, 'signal' | 'endIfTooSlow'>;
  readonly #closed: AbortSignal;
  readonly #portFor: (turn: Turn, asking: Asking) => Port;
  readonly #memory = new ProbeMemory();

  constructor(
    means: Pick<SessionMeans, 'log' | 'outage'>,
    time: Pick<RunTime, 'signal' | 'endIfTooSlow'>,
    closed: AbortSignal,
    portFor: (turn: Turn, asking: Asking) => Port,
  ) {
    this.#means = means;
    this.#time = time;
    this.#closed = closed;
    this.#portFor = portFor;
  }

  /** As `ask` of the session. */
  async ask<E>(asked: Probe<E>, signal: AbortSignal, putsOff: PutsOff = 'nothing'): Promise<Remembered<E>> {
    const { outage } = this.#means;
    this.#time.endIfTooSlow();
    if (!this.#memory.knows(asked)) {
      const over = this.#time.signal;
      if (over.aborted) return { evidence: [], failed: over.reason };
      if (outage.reason !== null && !asked.evenInOutage) return { evidence: [], failed: outage.blocked() };
      if (isPutOff(asked, putsOff)) {
        if (asked.begunBy !== undefined) await this.ask(asked.begunBy, signal, putsOff);
        return { evidence: [], failed: new PutOff(asked.name, 'last') };
      }
    }
    const answer = await this.#memory.recall(asked, () => this.#send(asked, signal, putsOff));
    if ('failed' in answer && answer.failed instanceof PutOff) this.#memory.forget(asked);
    if (asked.evenInOutage || !outage.hides(answer.evidence)) return answer;
    return { evidence: answer.evidence, failed: outage.blocked() };
  }

  async #send<E>(asked: Probe<E>, signal: AbortSignal, putsOff: PutsOff): Promise<Remembered<E>> {
    const { log, outage } = this.#means;
    const ends = AbortSignal.any([signal, this.#time.signal, this.#closed]);
    const turn = openTurn(log, outage, ends, putsOff === 'waiting');
    try {
      const port = this.#portFor(turn, this.#askingIn(turn, putsOff));
      const value = await onBehalfOf(asked.name, () => asked.send(port));
      // It may go on to gather evidence.
      return {
        get evidence() {
          return [...turn.trail];
        },
        value,
      };
    } catch (thrown) {
      const failed = thrown instanceof NoRoomYet ? new PutOff(asked.name, 'waiting') : thrown;
      return { evidence: [...turn.trail], failed };
    }
  }

  #askingIn(turn: Turn, putsOff: PutsOff): Asking {
    return {
      ask: async (other) => {
        const answer = await this.ask(other, turn.signal, putsOff);
        for (const id of answer.evidence) turn.trail.add(id);
        if ('failed' in answer) throw answer.failed;
        return answer.value;
      },
      borrow: async (other, restsOn) => {
        if (!this.#memory.knows(other)) return null;
        const answer = await this.ask(other, turn.signal, putsOff);
        if ('failed' in answer) return null;
        for (const id of restsOn(answer.value)) turn.trail.add(id);
        return answer.value;
      },
    };
  }
}

/**
 * Each probe is sent once per session; every check that asks shares its evidence. A probe is known by its name,
 * so two different ones of the same name would silently answer for each other: refused.
 */
class ProbeMemory {
  readonly #answers = new Map<
    string,
    { readonly probe: Probe<unknown>; readonly answer: Promise<unknown> }
  >();

  recall<A>(probe: Probe<unknown>, send: () => Promise<A>): Promise<A> {
    const known = this.#answers.get(probe.name);
    if (known !== undefined) {
      if (known.probe !== probe) throw new HarnessError(`two probes are called ${probe.name}`);
      // Stored by the same probe, whose answers all have one type.
      return known.answer as Promise<A>;
    }
    const answer = send();
    this.#answers.set(probe.name, { probe, answer });
    return answer;
  }

  knows(probe: Probe<unknown>): boolean {
    return this.#answers.has(probe.name);
  }

  /** It is sent when it is asked for again. */
  forget(probe: Probe<unknown>): void {
    this.#answers.delete(probe.name);
  }
}
