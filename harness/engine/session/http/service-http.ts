import { documentedSample } from '../../../base/clause.ts';
import { Blocked } from '../../../base/verdict.ts';
import { credentialUse, placeCredential } from '../../../config/credential/placing.ts';
import { Reply } from '../../../wire/exchange/reply.ts';
import type { EvidenceId, Exchange } from '../../../wire/exchange.ts';
import type { HttpTransport } from '../../../wire/http/http-client.ts';
import type { RawForm } from '../../../wire/http/raw.ts';
import { reportedRemaining, type Spendings, spendingKind } from '../../../wire/limit/observed/spending.ts';
import { visible } from '../../../wire/octets/utf8.ts';
import type { Spent } from '../../../wire/pace/budget.ts';
import { type HttpRequest, SAFE_METHODS } from '../../../wire/request.ts';
import { addressOf } from '../../../wire/socket/address.ts';
import { type Occasion, receptionOf } from '../turn/key-trial.ts';
import type { AnswerTimes } from '../turn/run-time.ts';
import { blockedByBudget, rateLimited, type SessionContext, type Turn } from '../turn/session-context.ts';
import { QuotaAsFound, QuotaOpening, SampleTrial, SpendingTrial } from './quota-as-found.ts';
import { isSample, requestOf, type Stimulus } from './stimulus.ts';

/** Ordinary requests. */
export interface HttpPort {
  /** One request. @throws Blocked when it was refused for its rate: then it shows nothing of what it was for. */
  send(stimulus: Stimulus): Promise<Reply>;
  /** What followed responses so far, unasked for. @throws Blocked where nobody can tell. */
  unasked(): readonly Unasked[];
}

/** Octets that came on a connection when its last response was whole, and nothing else was asked. */
export interface Unasked {
  readonly to: string;
  readonly evidence: string;
  /** Their first line, redacted. */
  readonly octets: string;
}

/** After a whole response on a raw socket, how long octets that should not be there are waited for, in ms. */
const RAW_GRACE_MS = 50;

/** How long each of several responses of a quick service on one connection is waited for, and behind them its end, in ms. */
const SERIES_PATIENCE_MS = 2_000;
const SERIES_GRACE_MS = 1_000;

/** How the request of a stimulus goes over a raw socket; null where it does not. */
function rawFormOf({ raw, responses }: Stimulus, answerTimes: AnswerTimes): RawForm | null {
  const form = typeof raw === 'object' ? raw : {};
  if (responses !== undefined) {
    const series = { expected: responses, patienceMs: answerTimes.patienceMs(SERIES_PATIENCE_MS) };
    return { ...form, series, graceMs: answerTimes.patienceMs(SERIES_GRACE_MS) };
  }
  return raw ? { ...form, graceMs: RAW_GRACE_MS } : null;
}

/** So many are remembered of what followed responses. */
const MOST_UNASKED = 20;

/** How a request is sent that is not sent as others are. */
interface Way {
  /** The request before its credential is placed; that of the stimulus when left out. */
  readonly bare?: HttpRequest;
  readonly via?: HttpTransport;
  /** It does not wait for its turn: others wait for it. */
  readonly atOnce?: boolean;
}

/** The HTTP side of a session. */
export class ServiceHttp {
  readonly transport: HttpTransport;
  readonly #context: SessionContext;
  readonly #unasked: Unasked[] = [];
  readonly #opening: QuotaOpening;
  readonly #quotaAsFound: QuotaAsFound;
  readonly #trial: SampleTrial;
  readonly #spending: SpendingTrial;

  constructor(context: SessionContext) {
    this.#context = context;
    this.transport = context.wire.openHttp(context.transport);
    this.#opening = new QuotaOpening(context);
    this.#quotaAsFound = new QuotaAsFound(context.transport.clock, context.budget);
    this.#trial = new SampleTrial(context, (purpose, signal) => this.exchange({ purpose }, signal));
    this.#spending = new SpendingTrial(context, (purpose, signal) =>
      this.exchange({ purpose }, signal, { atOnce: true }),
    );
  }

  /** What is known of the kinds of requests, before so many ms are waited for what they may have spent. */
  costs(forMs: number, signal: AbortSignal): Promise<Spendings> {
    return this.#spending.costs(forMs, signal);
  }

  /**
   * Sends one request within the budget; the exchange is not yet kept as evidence. Where the key was obtained and is
   * refused, one that is new is tried once.
   *
   * @throws Blocked when the budget is spent, nobody is there or no key can be had.
   */
  async exchange(stimulus: Stimulus, signal: AbortSignal, way: Way = {}): Promise<Exchange> {
    const { credentials, log } = this.#context;
    return credentials.send(stimulus.credential ?? 'right', () => this.#attempt(stimulus, signal, way), {
      isIn: ({ response }) => response?.status === 401,
      dismiss: (refused) => log.keep(refused, 1),
    });
  }

  async #attempt(stimulus: Stimulus, signal: AbortSignal, way: Way): Promise<Exchange> {
    const { credentials, documented, transport, wire, budget, outage, answerTimes, limiter, log } =
      this.#context;
    const { bare = requestOf(stimulus, documented), via = this.transport, atOnce = false } = way;
    outage.requireReachable();
    const choice = stimulus.credential ?? 'right';
    const placed = async () =>
      placeCredential(bare, choice, await credentials.for(choice), {
        at: transport.clock.wallNow(),
        pathPrefix: addressOf(transport.baseUrl).prefix,
      });
    // What cannot be placed is told before it counts as a request.
    await placed();
    const id = log.nextId();
    const { purpose } = stimulus;
    const about = {
      id,
      purpose,
      credential: credentialUse(choice),
      signal,
      onKept: stimulus.onKept ?? false,
      unasked: (octets: Uint8Array, evidence: EvidenceId) =>
        this.#note({ to: `${bare.method} ${purpose}`, evidence }, octets),
    };
    const rawForm = rawFormOf(stimulus, answerTimes);
    const send = async (spent: Spent) => {
      const request = await placed();
      const done = await (rawForm
        ? wire.sendRaw(transport, request, rawForm, about)
        : via.send(request, about));
      spent.kind = spendingKind(done);
      if (done.response !== null && !rawForm) answerTimes.answered(done.timing.durationMs);
      return done;
    };
    for (let behind = 1; behind < (stimulus.responses ?? 1); behind++) {
      await budget.take(signal).catch(blockedByBudget);
    }
    const done = await (atOnce ? send(budget.count()) : budget.run(send, signal)).catch(blockedByBudget);
    signal.throwIfAborted();
    // Whoever ends connections to limit a rate is there.
    if (!limiter.isIn(done)) {
      const onPurpose = stimulus.responses !== undefined;
      outage.saw({ to: `${done.request.method} ${done.purpose}`, id: done.id }, { ...done, onPurpose });
    }
    const origin = isSample(stimulus) && done.response !== null ? new Reply(done).response.overTls : null;
    if (origin !== null) outage.moved(done, origin);
    this.#quotaAsFound.saw(done);
    const { plan } = budget;
    const remaining = plan && reportedRemaining(done, { ...plan, refusal: limiter.face });
    if (remaining !== null) budget.reportRemaining(remaining, done.timing.startedMs);
    return done;
  }

  /** One request, kept as evidence, whatever came of it; `bare` as for `exchange`. @throws Blocked where the key is refused. */
  async kept(stimulus: Stimulus, turn: Turn, bare?: HttpRequest): Promise<Exchange> {
    const done = turn.keep(await this.exchange(stimulus, turn.signal, bare ? { bare } : {}));
    const { key, limiter } = this.#context;
    await this.#trial.heard(done, turn.signal);
    // Who refuses for the rate does not refuse the key, whatever the status.
    if ((stimulus.credential ?? 'right') === 'right' && !limiter.isIn(done)) {
      await key.received(receptionOf(done.response), turn.signal);
    }
    return done;
  }

  async reply(stimulus: Stimulus, turn: Turn): Promise<Reply> {
    return new Reply(await this.kept(stimulus, turn));
  }

  /** The documented requests that need the key: the sample, and another operation that changes nothing. */
  occasions(): readonly Occasion[] {
    const { config, log } = this.#context;
    const sample = documentedSample(config.contract);
    const other = config.operations.find(
      ({ method, path, auth, uncallable }) =>
        SAFE_METHODS.has(method) && auth === 'required' && uncallable === null && path !== sample?.path,
    );
    const stimuli: readonly Omit<Stimulus, 'purpose'>[] = [
      ...(sample ? [{}] : []),
      ...(other ? [{ target: () => other.path, fields: other.fields, withoutSampleFields: true }] : []),
    ];
    return stimuli.map((stimulus) => {
      const request = requestOf({ ...stimulus, purpose: '' }, this.#context.documented);
      return {
        what: `${request.method} ${request.target}`,
        send: async (signal) => {
          const purpose = 'to see whether the key is taken at all';
          const done = await this.exchange({ ...stimulus, purpose }, signal);
          return receptionOf(log.keep(done, 1).response);
        },
      };
    });
  }

  portFor(turn: Turn): HttpPort {
    return {
      send: async (stimulus) => {
        const send = () => this.reply(stimulus, turn);
        const isOwn = credentialUse(stimulus.credential ?? 'right') === 'right';
        const reply = await (isOwn ? this.#opening.reply(send, turn.signal) : send());
        const { exchange } = reply;
        if (this.#context.limiter.isIn(exchange)) throw new Blocked(rateLimited(this.#context, exchange));
        return reply;
      },
      unasked: () => {
        const { deafness } = this.#context.wire;
        if (deafness !== null) throw new Blocked(deafness);
        return this.#unasked;
      },
    };
  }

  #note(after: Pick<Unasked, 'to' | 'evidence'>, octets: Uint8Array): void {
    if (this.#unasked.length >= MOST_UNASKED) return;
    const { config, record, remark, transport } = this.#context;
    const [line = ''] = transport.redaction
      .text(Buffer.from(octets).toString('latin1'))
      .trimStart()
      .split(/\r?\n/);
    const shown = visible(line, 80);
    if (this.#unasked.length === 0) {
      remark(
        `after the response ${after.evidence} came what nobody had asked for ("${shown}"): it answers nothing`,
      );
    }
    this.#unasked.push({ ...after, octets: shown });
    record({ type: 'unasked', service: config.service, after: after.evidence, octets: shown });
  }

  close(): Promise<void> {
    return this.transport.close();
  }
}
