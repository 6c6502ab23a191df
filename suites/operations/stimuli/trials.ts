import type { FaultSide } from '../../../harness/base/finding.ts';
import { listed } from '../../../harness/base/text.ts';
import type { AnswerContent, Input } from '../../../harness/config/operation/call/call.ts';
import type { DocumentedAnswer, ExpectedResponse, Operation } from '../../../harness/config/service.ts';
import type { OperationCoverage } from '../../../harness/report/results/results.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { DocumentedReply } from './documented-reply.ts';
import type { Order, ReasonAgainst, TrialKind, Unexercised } from './plan.ts';

/** What came of a request to an operation. */
export class OperationReply extends DocumentedReply {
  readonly order: Order;

  constructor(order: Order, reply: Reply) {
    super(order.operation, reply, order.kind === 'call');
    this.order = order;
  }

  /** The side that a refusal of the call is mended on: the key of the run, and values that only name something, are not the service's. */
  get refusalSide(): FaultSide {
    const { status, operation, exchange, order } = this;
    if (this.isIndistinct) return 'document';
    const own = operation.call.inputs.filter(
      ({ in: place, name }) => place === 'path' && !order.values?.has(name),
    );
    const isOfExample = OF_THINGS.has(status ?? 0) && own.some(({ from }) => from === 'example');
    if ((status === 401 || status === 403) && exchange.credential === 'right' && !isOfExample)
      return 'config';
    if (!OF_THINGS.has(status ?? 0)) return 'service';
    if (own.some(({ from }) => from === 'config')) return 'config';
    return isOfExample ? 'document' : 'service';
  }

  /** Why a refusal is no fault: it may be about values that no document vouches for. null for others. */
  get whyNoFault(): ReasonAgainst | null {
    const { status, operation, order } = this;
    const { inputs, body } = operation.call;
    const named = (from: Input['from']) =>
      inputs.flatMap((each) => (each.from === from && !order.values?.has(each.name) ? [each.name] : []));
    const [made, shown] = [named('made'), named('example')];
    const unfit = (what: string) =>
      ({ reason: `${what} with status ${status}`, why: 'unfit', fault: 'document' }) as const;
    const isOfThing = OF_THINGS.has(status ?? 0);
    const mayLack = operation.answers.some(namesMissing);
    if (shown.length > 0 && isOfThing && mayLack)
      return unfit(`its example of ${quoted(shown)} names nothing here, and is answered`);
    const isOfLogin = status === 401 && operation.auth !== 'required';
    // A made-up body finds its path: 404 says that the path is missing, unless the document says of what.
    const isOfValues = isOfLogin || OF_VALUES.has(status ?? 0) || (isOfThing && (made.length > 0 || mayLack));
    if (!isOfValues) return null;
    if (made.length > 0) return unfit(`its ${quoted(made)} is made up, and is refused`);
    return body?.isMade ? unfit('its body is made up, and is refused') : null;
  }

  /** Why a call was none after all: the document alone is to blame for its refusal. null for others. */
  get whyNoCall(): NonNullable<OperationCoverage['notExercised']> | null {
    if (this.expected !== null || this.isIndistinct || this.refusalSide !== 'document') return null;
    const reason = `its example names nothing here, and is answered with status ${this.status}`;
    return { reason, why: 'unfit', fault: 'document' };
  }

  /** Of the input that it tries. */
  get change(): string | null {
    return this.order.change ?? null;
  }

  /** The documented response of that status; null when it is documented for none. */
  get expected(): ExpectedResponse | null {
    const { response, alternatives } = this.operation;
    return [response, ...alternatives].find(({ status }) => status === this.status) ?? null;
  }

  /** The config may describe it alone. */
  override get contents(): readonly AnswerContent[] {
    if (this.operation.answers.length > 0) return super.contents;
    const { mediaTypes = [], schema = null } = this.expected ?? {};
    return mediaTypes.map((mediaType) => ({ mediaType, schema }));
  }

  override get schema(): unknown {
    return super.schema ?? this.expected?.schema ?? null;
  }
}

/** Such a thing does not exist, or not for this client. */
const OF_THINGS: ReadonlySet<number> = new Set([403, 404, 410]);

function quoted(names: readonly string[]): string {
  return listed(names.map((name) => JSON.stringify(name)));
}

/** Content that a server does not take, or not in its present state. */
const OF_VALUES: ReadonlySet<number> = new Set([400, 403, 409, 422]);

function namesMissing({ code }: DocumentedAnswer): boolean {
  return code === '404' || code === '4XX';
}

/** Why no more was sent. `blocked`: the service could not be asked; else it took too long. */
export interface Ending {
  readonly reason: string;
  readonly blocked: boolean;
}

export function reasonFor({ reason, blocked }: Ending): ReasonAgainst {
  return { reason, why: blocked ? 'left' : 'capped', fault: 'service' };
}

/** Operations, and reasons, named in a remark. */
const NAMED = 3;

const OUT_OF_REACH: ReadonlySet<Unexercised['why']> = new Set(['unsafe', 'open', 'beyond']);

/** What came of the requests to operations, and which of them were not sent or show nothing. */
export class Trials {
  readonly all: readonly OperationReply[];
  readonly unexercised: readonly Unexercised[];
  /** null when everything was sent that there was. */
  readonly ended: Ending | null;

  private constructor(
    all: readonly OperationReply[],
    unexercised: readonly Unexercised[],
    ended: Ending | null,
  ) {
    this.all = all;
    this.unexercised = unexercised;
    this.ended = ended;
  }

  static of(all: readonly OperationReply[]): Trials {
    return new Trials(all, [], null);
  }

  /** Nothing of these was sent. */
  static none(orders: readonly Order[], ended: Ending): Trials {
    const left = orders.map(({ operation, kind }) => ({ operation, kind, ...reasonFor(ended) }));
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

  without(isLeftOut: (reply: OperationReply) => boolean): Trials {
    return new Trials(
      this.all.filter((reply) => !isLeftOut(reply)),
      this.unexercised,
      this.ended,
    );
  }

  /** Lists only these operations as unexercised. */
  exercising(isListed: (operation: Operation) => boolean): Trials {
    const unexercised = this.unexercised.filter(({ operation }) => isListed(operation));
    return new Trials(this.all, unexercised, this.ended);
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
      this.all.filter(({ operation }) => operations.has(operation)),
      this.unexercised.filter(({ operation }) => operations.has(operation)),
      this.ended,
    );
  }

  /** Only those that can be judged; the others are listed with the reason against it. */
  judgeable(reasonAgainst: (reply: OperationReply) => ReasonAgainst | null): Trials {
    const left: Unexercised[] = [];
    const kept = this.all.filter((reply) => {
      const against = reasonAgainst(reply);
      const { operation, kind } = reply.order;
      if (against !== null) left.push({ operation, kind, ...against });
      return against === null;
    });
    return new Trials(kept, [...this.unexercised, ...left], this.ended);
  }

  /** Operations whose call is answered with a status that is documented as success, however long the answer is. */
  get called(): ReadonlySet<Operation> {
    const answered = this.all.filter((reply) => (reply.answered || reply.cut) && reply.expected !== null);
    return new Set(answered.map(({ operation }) => operation));
  }

  /** What is to be said of what is missing, once the replies conform; null for nothing. */
  get shortfall(): { readonly end: 'note' | 'blocked' | 'not-applicable'; readonly reason: string } | null {
    const { remark, unexercised } = this;
    const isNothing = this.all.length === 0;
    if (remark === null) {
      const reason = unexercised[0]?.reason ?? 'the documented operations give no occasion for it';
      return isNothing ? { end: 'not-applicable', reason } : null;
    }
    if (this.ended?.blocked || unexercised.some(({ why }) => why === 'refused'))
      return { end: 'blocked', reason: remark };
    if (!isNothing) return { end: 'note', reason: remark };
    const reasons = new Set(unexercised.map(({ why }) => why));
    // Those that were sent give no occasion; that others were not is told of the run.
    if (reasons.has('open')) reasons.delete('capped');
    const isOutOfReach = reasons.isSubsetOf(OUT_OF_REACH);
    return { end: isOutOfReach ? 'not-applicable' : 'blocked', reason: remark };
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

export function labelOf({ method, template }: Pick<Operation, 'method' | 'template'>): string {
  return `${method} ${template}`;
}

/** A redirect or a server error neither carries a request out nor refuses it; null for another status. */
export function whyUndecided({ response: { status, statusClass } }: OperationReply): string | null {
  return statusClass === 3 || statusClass === 5 ? `its status is ${status}` : null;
}
