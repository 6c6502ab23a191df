import { HarnessError } from '../../base/exit.ts';
import { neededIn, type Port, type Probe, type Remembered, requireDeclared } from './probe.ts';
import { onBehalfOf } from './turn/asking.ts';
import type { RunTime } from './turn/run-time.ts';
import type { SessionContext } from './turn/session-context.ts';
import { openTurn, type Turn } from './turn/turn.ts';

/** How a probe in its turn comes to the evidence of others. */
type Asking = Pick<Port, 'ask' | 'borrow'>;

/** What a session knows of probes. */
export interface Probing {
  /** As the session's `ask`. */
  ask<E>(asked: Probe<E>, signal: AbortSignal): Promise<Remembered<E>>;
  /** Whether it was asked for already. */
  knows(probe: Probe<unknown>): boolean;
}

/**
 * Sends the probes that checks ask for, each in a turn of its own. `closed` ends them all; `portFor`: the service as a
 * probe reaches it in its turn.
 */
export function openProbing(
  { config, log, outage }: Pick<SessionContext, 'config' | 'log' | 'outage'>,
  time: Pick<RunTime, 'signal' | 'endIfTooSlow'>,
  closed: AbortSignal,
  portFor: (turn: Turn, asking: Asking) => Port,
): Probing {
  const memory = new ProbeMemory();

  async function ask<E>(asked: Probe<E>, signal: AbortSignal): Promise<Remembered<E>> {
    time.endIfTooSlow();
    if (!memory.knows(asked)) {
      if (time.signal.aborted) return { evidence: [], failed: time.signal.reason };
      if (outage.reason !== null && !asked.evenInOutage) return { evidence: [], failed: outage.blocked() };
    }
    // The record grows: it is looked at anew each time.
    const isOfRecord = asked.place === 'record';
    const answer = await (isOfRecord ? send(asked, signal) : memory.recall(asked, () => send(asked, signal)));
    if (asked.evenInOutage || !outage.hides(answer.evidence)) return answer;
    return { evidence: answer.evidence, failed: outage.blocked() };
  }

  async function send<E>(asked: Probe<E>, signal: AbortSignal): Promise<Remembered<E>> {
    const ends = AbortSignal.any([signal, time.signal, closed]);
    const turn = openTurn(log, outage, ends);
    try {
      const port = portFor(turn, askingIn(asked, turn));
      const value = await onBehalfOf(asked.name, () => asked.send(port));
      // It may go on to gather evidence.
      return {
        get evidence() {
          return [...turn.trail];
        },
        value,
      };
    } catch (failed) {
      return { evidence: [...turn.trail], failed };
    }
  }

  function askingIn(asker: Probe<unknown>, turn: Turn): Asking {
    const needed = [asker.needs, asker.mayNeed].flatMap((needs) => neededIn(needs, config));
    return {
      async ask(other) {
        requireDeclared(asker.name, needed, other);
        const answer = await ask(other, turn.signal);
        for (const id of answer.evidence) turn.trail.add(id);
        if ('failed' in answer) throw answer.failed;
        return answer.value;
      },
      async borrow(other, restsOn) {
        if (!memory.knows(other)) return null;
        const answer = await ask(other, turn.signal);
        if ('failed' in answer) return null;
        for (const id of restsOn(answer.value)) turn.trail.add(id);
        return answer.value;
      },
    };
  }

  return { ask, knows: (probe) => memory.knows(probe) };
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
}
