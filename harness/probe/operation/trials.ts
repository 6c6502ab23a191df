import type { ExpectedResponse, Operation } from '../../config/service.ts';
import type { Reply } from '../../evidence/exchange/reply.ts';
import { HarnessError } from '../../exit.ts';
import type { Order, TrialKind, Unexercised } from './plan.ts';

/** A request to an operation and what came of it. */
export interface Trial {
  readonly order: Order;
  readonly reply: Reply;
}

/** Why no more was sent. `blocked`: the service could not be asked; else it took too long. */
export interface Ending {
  readonly reason: string;
  readonly blocked: boolean;
}

/** Operations, and reasons, named in a remark. */
const NAMED = 3;

/** What came of the requests to operations, and which of them were not sent or show nothing. */
export class Trials {
  readonly all: readonly Trial[];
  readonly unexercised: readonly Unexercised[];
  /** null when everything was sent that there was. */
  readonly ended: Ending | null;
  readonly #trialOf: ReadonlyMap<Reply, Trial>;

  private constructor(all: readonly Trial[], unexercised: readonly Unexercised[], ended: Ending | null) {
    this.all = all;
    this.unexercised = unexercised;
    this.ended = ended;
    this.#trialOf = new Map(all.map((trial) => [trial.reply, trial]));
  }

  static of(all: readonly Trial[]): Trials {
    return new Trials(all, [], null);
  }

  /** Nothing of these was sent. */
  static none(orders: readonly Order[], ended: Ending): Trials {
    const left = orders.map(({ operation, kind }) => ({
      operation,
      kind,
      reason: ended.reason,
      why: 'left' as const,
    }));
    return new Trials([], left, ended);
  }

  static together(parts: readonly Trials[]): Trials {
    return parts.reduce((whole, part) => whole.with(part), Trials.of([]));
  }

  with(more: Partial<Pick<Trials, 'all' | 'unexercised' | 'ended'>>): Trials {
    return new Trials(
      [...this.all, ...(more.all ?? [])],
      [...this.unexercised, ...(more.unexercised ?? [])],
      this.ended ?? more.ended ?? null,
    );
  }

  ofKind(wanted: TrialKind): Trials {
    return new Trials(
      this.all.filter(({ order }) => order.kind === wanted),
      this.unexercised.filter(({ kind }) => kind === wanted),
      this.ended,
    );
  }

  /** Only what is about these operations. */
  about(operations: ReadonlySet<Operation>): Trials {
    return new Trials(
      this.all.filter(({ order }) => operations.has(order.operation)),
      this.unexercised.filter(({ operation }) => operations.has(operation)),
      this.ended,
    );
  }

  /** Only those that can be judged; the others are listed with the reason against it. */
  judgeable(reasonAgainst: (trial: Trial) => Pick<Unexercised, 'reason' | 'why'> | null): Trials {
    const left: Unexercised[] = [];
    const kept = this.all.filter((trial) => {
      const against = reasonAgainst(trial);
      const { operation, kind } = trial.order;
      if (against !== null) left.push({ operation, kind, ...against });
      return against === null;
    });
    return new Trials(kept, [...this.unexercised, ...left], this.ended);
  }

  /** Operations whose call is answered with a status that is documented as success. */
  get called(): ReadonlySet<Operation> {
    return new Set(
      this.all
        .filter(({ order, reply }) => reply.answered && expectedFor(order.operation, reply) !== null)
        .map(({ order }) => order.operation),
    );
  }

  get replies(): readonly Reply[] {
    return this.all.map(({ reply }) => reply);
  }

  /** @throws HarnessError for a reply to something else. */
  operationOf(reply: Reply): Operation {
    const trial = this.#trialOf.get(reply);
    if (trial === undefined) throw new HarnessError(`${reply.evidence} is no reply to an operation`);
    return trial.order.operation;
  }

  /** The documented response of that status; null when it is documented for none. */
  expectedOf(reply: Reply): ExpectedResponse | null {
    return expectedFor(this.operationOf(reply), reply);
  }

  /** Which operations were not exercised and why, in one sentence; null when there are none. */
  get remark(): string | null {
    const left = this.unexercised.filter(({ why }) => why !== 'open');
    if (left.length === 0) return null;
    const byReason = Map.groupBy(left, ({ reason }) => reason);
    const groups = [...byReason].map(([reason, each]) => {
      const labels = [...new Set(each.map(({ operation }) => labelOf(operation)))];
      return `${fewOf(labels, ', ')} (${reason})`;
    });
    return `Not exercised: ${fewOf(groups, '; ')}.`;
  }
}

function fewOf(texts: readonly string[], separator: string): string {
  const more = texts.length > NAMED ? ` and ${texts.length - NAMED} more` : '';
  return `${texts.slice(0, NAMED).join(separator)}${more}`;
}

/** The documented response of that status; null when it is documented for none. */
export function expectedFor({ response, alternatives }: Operation, reply: Reply): ExpectedResponse | null {
  const status = reply.exchange.response?.status;
  return [response, ...alternatives].find((each) => each.status === status) ?? null;
}

export function labelOf({ method, template }: Operation): string {
  return `${method} ${template}`;
}
