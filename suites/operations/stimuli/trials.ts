import { isJsonType } from '../../../harness/config/operation/call/call.ts';
import type { ExpectedResponse, Operation, ServiceConfig } from '../../../harness/config/service.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import { EndlessSchema, SchemaBook, type SchemaJudge } from '../../../harness/wire/json/schema.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';
import type { Order, TrialKind, Unexercised } from './plan.ts';

/** What came of a request to an operation. */
export class OperationReply extends Reply {
  readonly order: Order;

  constructor(order: Order, { exchange }: Reply) {
    super(exchange);
    this.order = order;
  }

  get operation(): Operation {
    return this.order.operation;
  }

  get documentedAt(): string {
    return this.operation.place;
  }

  /** The documented response of that status; null when it is documented for none. */
  get expected(): ExpectedResponse | null {
    const { response, alternatives } = this.operation;
    return [response, ...alternatives].find(({ status }) => status === this.status) ?? null;
  }

  /** Its media type where that is none of those that are documented for it, in words; null when it is one. */
  get foreignMediaType(): string | null {
    const wanted = this.expected?.mediaTypes ?? [];
    const got = this.response.mediaType?.essence;
    if (got !== undefined && wanted.some((type) => covers(type, got))) return null;
    return `${visible(this.response.field('content-type') ?? 'none', 80)} instead of ${wanted.join(', ')}`;
  }
}

/** `application/*+json` covers `application/hal+json`. */
function covers(documented: string, got: string): boolean {
  const parts = got.split('/');
  return documented.split('/').every((wanted, index) => fits(wanted, parts[index] ?? ''));
}

function fits(wanted: string, got: string): boolean {
  const star = wanted.indexOf('*');
  if (star === -1) return wanted === got;
  const [before, after] = [wanted.slice(0, star), wanted.slice(star + 1)];
  return got.length >= before.length + after.length && got.startsWith(before) && got.endsWith(after);
}

// Generators write a range for whatever the framework makes of it.
function asksForAnything(mediaTypes: readonly string[]): boolean {
  return (
    mediaTypes.some((type) => type === '*/*' || type === 'application/*') && !mediaTypes.some(isJsonType)
  );
}

/** Why a reply is not held to something. */
export type ReasonAgainst = Pick<Unexercised, 'reason' | 'why'>;

/** Why no more was sent. `blocked`: the service could not be asked; else it took too long. */
export interface Ending {
  readonly reason: string;
  readonly blocked: boolean;
}

export function reasonFor({ reason, blocked }: Ending): ReasonAgainst {
  return { reason, why: blocked ? 'left' : 'capped' };
}

/** Operations, and reasons, named in a remark. */
const NAMED = 3;

const OUT_OF_REACH: ReadonlySet<Unexercised['why']> = new Set(['unsafe', 'open']);

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

  /** Operations whose call is answered with a status that is documented as success. */
  get called(): ReadonlySet<Operation> {
    const answered = this.all.filter((reply) => reply.answered && reply.expected !== null);
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
    if (this.ended?.blocked) return { end: 'blocked', reason: remark };
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

export function labelOf({ method, template }: Operation): string {
  return `${method} ${template}`;
}

const NO_JSON: ReasonAgainst = {
  reason: 'it is no JSON, which its documented media type does not ask for',
  why: 'open',
};

/** Octets of content that are held against a schema; patterns may take long over more. */
const MAX_JUDGED = 512 * 1024;

/** Each schema is compiled once for a config. */
const judges = new WeakMap<ServiceConfig, ResponseSchemas>();

export function responseSchemas(config: ServiceConfig): ResponseSchemas {
  const known = judges.get(config);
  if (known !== undefined) return known;
  const made = new ResponseSchemas(config);
  judges.set(config, made);
  return made;
}

/** The documented schemas of a service's responses. */
class ResponseSchemas {
  readonly book: SchemaBook;
  readonly #compiled = new Map<unknown, SchemaJudge>();

  constructor({ definitions }: ServiceConfig) {
    this.book = new SchemaBook(definitions);
  }

  /** Why a reply cannot be held against its schema; null when `fault` can tell. */
  whyNotJudged({ expected, response }: OperationReply): ReasonAgainst | null {
    const schema = expected?.schema ?? null;
    if (schema === null) return { reason: 'no schema is documented for its response', why: 'open' };
    if (asksForAnything(expected?.mediaTypes ?? []) && !isJsonType(response.mediaType?.essence ?? ''))
      return NO_JSON;
    if (response.unreadJson !== null) return { reason: response.unreadJson, why: 'left' };
    const octets = response.content.length;
    if (octets > MAX_JUDGED)
      return {
        reason: `its content of ${octets} octets is too large to be held against a schema`,
        why: 'left',
      };
    try {
      this.#judge(schema)(response.json.value);
      return null;
    } catch (error) {
      // The document's fault, and no word about the service.
      if (error instanceof EndlessSchema) return { reason: error.message, why: 'left' };
      throw error;
    }
  }

  /** The first thing in the body that its schema refuses, in one line; null when it fits. */
  fault({ expected, response }: OperationReply): string | null {
    const { value, faults } = response.json;
    if (value === undefined) return faults[0]?.message ?? 'no JSON';
    const fault = this.#judge(expected?.schema ?? true)(value);
    return fault === null ? null : `one in which ${fault.message}`;
  }

  #judge(schema: unknown): SchemaJudge {
    const known = this.#compiled.get(schema);
    if (known !== undefined) return known;
    const judge = this.book.compile(schema);
    this.#compiled.set(schema, judge);
    return judge;
  }
}
