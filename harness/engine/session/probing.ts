import { HarnessError } from '../../base/exit.ts';
import { NoRoomYet } from '../../wire/pace/budget.ts';
import {
  isPutOff,
  neededIn,
  type Port,
  type Probe,
  PutOff,
  type PutsOff,
  type Remembered,
  requireDeclared,
} from './probe.ts';
import { onBehalfOf } from './turn/asking.ts';
import type { SessionMeans } from './turn/means.ts';
import type { RunTime } from './turn/run-time.ts';
import { openTurn, type Turn } from './turn/turn.ts';

/** How a probe in its turn comes to the evidence of others. */
type Asking = Pick<Port, 'ask' | 'borrow'>;

/** Asks a probe, as the session's `ask`. */
type AskProbe = <E>(asked: Probe<E>, signal: AbortSignal, putsOff?: PutsOff) => Promise<Remembered<E>>;

/**
 * Sends the probes that checks ask for, each in a turn of its own. `closed` ends them all; `portFor`: the service as a
 * probe reaches it in its turn.
 */
export function openProbing(
  { config, log, outage }: Pick<SessionMeans, 'config' | 'log' | 'outage'>,
  time: Pick<RunTime, 'signal' | 'endIfTooSlow'>,
  closed: AbortSignal,
  portFor: (turn: Turn, asking: Asking) => Port,
): AskProbe {
  const memory = new ProbeMemory();

  async function ask<E>(
    asked: Probe<E>,
    signal: AbortSignal,
    putsOff: PutsOff = 'nothing',
  ): Promise<Remembered<E>> {
    time.endIfTooSlow();
    if (!memory.knows(asked)) {
      if (time.signal.aborted) return { evidence: [], failed: time.signal.reason };
      if (outage.reason !== null && !asked.evenInOutage) return { evidence: [], failed: outage.blocked() };
      if (isPutOff(asked, putsOff)) {
        if (asked.begunBy !== undefined) await ask(asked.begunBy, signal, putsOff);
        return { evidence: [], failed: new PutOff(asked.name, 'last') };
      }
    }
    const answer = await memory.recall(asked, () => send(asked, signal, putsOff));
    if ('failed' in answer && answer.failed instanceof PutOff) memory.forget(asked);
    if (asked.evenInOutage || !outage.hides(answer.evidence)) return answer;
    return { evidence: answer.evidence, failed: outage.blocked() };
  }

  async function send<E>(asked: Probe<E>, signal: AbortSignal, putsOff: PutsOff): Promise<Remembered<E>> {
    const ends = AbortSignal.any([signal, time.signal, closed]);
    const turn = openTurn(log, outage, ends, putsOff === 'waiting');
    try {
      const port = portFor(turn, askingIn(asked, turn, putsOff));
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

  function askingIn(asker: Probe<unknown>, turn: Turn, putsOff: PutsOff): Asking {
    const needed = neededIn(asker.needs, config);
    return {
      async ask(other) {
        requireDeclared(asker.name, needed, other);
        const answer = await ask(other, turn.signal, putsOff);
        for (const id of answer.evidence) turn.trail.add(id);
        if ('failed' in answer) throw answer.failed;
        return answer.value;
      },
      async borrow(other, restsOn) {
        if (!memory.knows(other)) return null;
        const answer = await ask(other, turn.signal, putsOff);
        if ('failed' in answer) return null;
        for (const id of restsOn(answer.value)) turn.trail.add(id);
        return answer.value;
      },
    };
  }

  return ask;
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
