import { documentedSample } from '../../../base/clause.ts';
import { Blocked, NotApplicable } from '../../../base/verdict.ts';
import { credentialUse, placeCredential } from '../../../config/credential/placing.ts';
import { Reply } from '../../../wire/exchange/reply.ts';
import type { EvidenceId, Exchange } from '../../../wire/exchange.ts';
import type { RawForm } from '../../../wire/http/raw.ts';
import type { HttpTransport } from '../../../wire/http/transport.ts';
import { unsayable } from '../../../wire/http2/http2-request.ts';
import { reportedRemaining, spendingKind } from '../../../wire/limit/observed/spending.ts';
import { visible } from '../../../wire/octets/utf8.ts';
import type { Spent } from '../../../wire/pace/budget.ts';
import { traces } from '../../../wire/redaction/marker.ts';
import { type HttpRequest, SAFE_METHODS } from '../../../wire/request.ts';
import { addressOf } from '../../../wire/socket/address.ts';
import { isOfNoHttp1 } from '../../../wire/socket/http-versions.ts';
import { type Occasion, receptionOf } from '../turn/key-trial.ts';
import type { AnswerTimes } from '../turn/run-time.ts';
import { blockedByBudget, rateLimited, type SessionContext, type Turn } from '../turn/session-context.ts';
import { quotaAsFound, quotaOpening, sampleTrial, spendingTrial } from './quota-trials.ts';
import { declaredBy, isSample, requestOf, type Stimulus } from './stimulus.ts';

/** Ordinary requests. */
export interface HttpPort {
  /** One request. @throws Blocked if it was refused for its rate. */
  send(stimulus: Stimulus): Promise<Reply>;
  /** Octets that followed responses so far. @throws Blocked if unknown. */
  unasked(): readonly Unasked[];
}

/** Octets on a connection after a whole response, without a request. */
export interface Unasked {
  readonly to: string;
  readonly evidence: string;
  readonly octets: string;
}

/** Milliseconds to wait for octets after a whole response on a raw socket. */
const RAW_GRACE_MS = 50;

/** Milliseconds to wait for each of several responses of a quick service on one connection, and then for its end. */
const SERIES_PATIENCE_MS = 2_000;
const SERIES_GRACE_MS = 1_000;

/** null if it uses no raw socket. */
function rawFormOf({ raw, responses, listen }: Stimulus, answerTimes: AnswerTimes): RawForm | null {
  const form = typeof raw === 'object' ? raw : {};
  if (responses !== undefined) {
    const series = { expected: responses, patienceMs: answerTimes.patienceMs(SERIES_PATIENCE_MS) };
    return { ...form, series, graceMs: answerTimes.patienceMs(SERIES_GRACE_MS) };
  }
  if (listen !== undefined) return { ...form, listen };
  return raw ? { ...form, graceMs: RAW_GRACE_MS } : null;
}

/** Number of unsolicited octet sequences to keep. */
const MOST_UNASKED = 20;

const ALONE =
  'the service speaks HTTP/2 alone, and is judged over it; rules about the bytes of HTTP/1.1 do not apply';
const AS_CONFIGURED =
  'the service is judged over HTTP/2, as its config says; rules about the bytes of HTTP/1.1 use that, if the service speaks it';

/** An unusual way to send a request. */
interface Way {
  /** The request without its credential. Default: that of the stimulus. */
  readonly bare?: HttpRequest;
  readonly via?: HttpTransport;
  /** Ahead of the budget's queue, which waits for it. */
  readonly atOnce?: boolean;
  /** As octets of HTTP/1.1, whatever the service speaks. */
  readonly inHttp1?: boolean;
}

/**
 * Answers are recorded without secrets. A request that repeats a part of one, such as an ETag, would send the marker in
 * place of the secret.
 * @throws Blocked for such a request.
 */
function requireOwnText({ target, fields, body }: HttpRequest): void {
  const parts = [target, ...fields.flat(), ...(body === null || body === undefined ? [] : [body])];
  const [trace] = parts.flatMap((part) => traces(part));
  if (trace !== undefined)
    throw new Blocked(`the request would repeat what an answer has in it of the secret ${trace.name}`);
}

export class ServiceHttp {
  readonly transport: HttpTransport;
  readonly #context: SessionContext;
  readonly #unasked: Unasked[] = [];
  #askedInHttp1: Promise<void> | null = null;
  #saidHttp2 = false;
  readonly #opened: ReturnType<typeof quotaOpening>;
  readonly #foundQuota: ReturnType<typeof quotaAsFound>;
  readonly #tried: ReturnType<typeof sampleTrial>;
  /** The known costs of kinds of requests, before milliseconds are spent waiting for quota. */
  readonly costs: ReturnType<typeof spendingTrial>;

  constructor(context: SessionContext) {
    this.#context = context;
    this.transport = context.wire.openHttp(context.transport);
    this.#opened = quotaOpening(context);
    this.#foundQuota = quotaAsFound(context);
    this.#tried = sampleTrial(context, (purpose, signal) => this.exchange({ purpose }, signal));
    this.costs = spendingTrial(context, (purpose, signal) =>
      this.exchange({ purpose }, signal, { atOnce: true }),
    );
  }

  /**
   * Sends one request within the budget, without recording it. If an obtained key is refused, obtains a new one once.
   * @throws Blocked if the budget is spent, the service is gone or no key is available.
   */
  async exchange(stimulus: Stimulus, signal: AbortSignal, way: Way = {}): Promise<Exchange> {
    const { credentials, log } = this.#context;
    return credentials.send(stimulus.credential ?? 'right', () => this.#attempt(stimulus, signal, way), {
      isIn: ({ response }) => response?.status === 401,
      dismiss: (refused) => log.keep(refused, 1),
    });
  }

  async #attempt(stimulus: Stimulus, signal: AbortSignal, way: Way): Promise<Exchange> {
    const { credentials, documented, transport, wire, budget, outage, answerTimes, limiter, log, pauses } =
      this.#context;
    const { bare = requestOf(stimulus, documented), via = this.transport, atOnce = false } = way;
    outage.requireReachable();
    const choice = stimulus.credential ?? 'right';
    const placed = async () =>
      placeCredential(bare, choice, await credentials.for(choice), {
        at: transport.clock.wallNow(),
        pathPrefix: addressOf(transport.baseUrl).prefix,
      });
    requireOwnText(bare);
    // Fails before it counts as a request.
    const first = await placed();
    const rawForm = way.inHttp1 ? {} : await this.#formOf(stimulus, first, signal);
    const id = log.nextId();
    const { purpose } = stimulus;
    const about = {
      id,
      purpose,
      credential: credentialUse(choice),
      signal,
      onKept: stimulus.onKept ?? false,
      besideReset: stimulus.besideReset ?? false,
      onOwn: stimulus.onOwn ?? false,
      listen: stimulus.listen,
      unasked: (octets: Uint8Array, evidence: EvidenceId) =>
        this.#note({ to: `${bare.method} ${purpose}`, evidence }, octets),
    };
    const send = async (spent: Spent) => {
      const request = await placed();
      const { listen } = stimulus;
      if (listen)
        pauses.portFor(signal).announce(transport.clock.now() + listen.forMs, 'listens to a stream');
      const done = await (rawForm
        ? wire.sendRaw(transport, request, rawForm, about)
        : via.send(request, about));
      spent.kind = spendingKind(done);
      // A limiter may hold back those of a burst.
      const isUsual = via === this.transport && !rawForm && !stimulus.listen;
      if (done.response !== null && isUsual) answerTimes.answered(done.timing.durationMs);
      return done;
    };
    const { cost } = declaredBy(stimulus);
    for (let behind = 1; behind < cost; behind++) {
      await budget.take(signal).catch(blockedByBudget);
    }
    const done = await (atOnce ? send(budget.count()) : budget.run(send, signal)).catch(blockedByBudget);
    signal.throwIfAborted();
    if (await this.#turnsToHttp2(done, signal)) return this.#attempt(stimulus, signal, way);
    if (way.inHttp1) return done;
    // A limiter may end connections.
    if (!limiter.isIn(done)) {
      const onPurpose = stimulus.responses !== undefined;
      const plain = done.request.url.startsWith('http:');
      outage.saw(
        { to: `${done.request.method} ${done.purpose}`, id: done.id, plain },
        { ...done, onPurpose },
      );
    }
    if (isSample(stimulus) && done.response !== null && new Reply(done).response.expectsTls)
      outage.expectsTls(done);
    const origin = isSample(stimulus) && done.response !== null ? new Reply(done).response.overTls : null;
    if (origin !== null) outage.moved(done, origin);
    this.#foundQuota(done);
    const { plan } = budget;
    const remaining = plan && reportedRemaining(done, { ...plan, refusal: limiter.face });
    if (remaining !== null) budget.reportRemaining(remaining, done.timing.startedMs);
    return done;
  }

  /**
   * The form of a stimulus on a raw socket; null for an ordinary request.
   * @throws NotApplicable for octets of HTTP/1.1, if the service speaks HTTP/2 alone.
   */
  async #formOf(stimulus: Stimulus, request: HttpRequest, signal: AbortSignal): Promise<RawForm | null> {
    const { versions, answerTimes } = this.#context;
    const form = rawFormOf(stimulus, answerTimes);
    if (!versions.isHttp2) return form;
    const unsaid = unsayable(request);
    if (form === null && unsaid === null) return null;
    if (versions.speaksHttp1 === null) await this.#askInHttp1(signal);
    if (versions.speaksHttp1) return form ?? {};
    const isOrdinary = stimulus.responses === undefined && typeof stimulus.raw !== 'object';
    const why = isOrdinary ? unsaid : 'it is about the bytes of HTTP/1.1';
    if (why !== null) throw new NotApplicable(`${why}, and the service speaks HTTP/2 alone`);
    return null;
  }

  /** One ordinary request in HTTP/1.1, to see whether that is spoken beside HTTP/2. */
  #askInHttp1(signal: AbortSignal): Promise<void> {
    const ask = async () => {
      const { log, versions } = this.#context;
      const purpose = 'as documented, to see whether HTTP/1.1 is spoken as well';
      const done = await this.#attempt({ purpose }, signal, { inHttp1: true });
      versions.sawHttp1(done);
      // Without an answer it is no evidence for any rule.
      if (done.response !== null) log.keep(done, 1);
    };
    this.#askedInHttp1 ??= ask();
    return this.#askedInHttp1;
  }

  /** Whether the service, of which nothing was heard in HTTP/1.1, speaks HTTP/2: then it is asked in that from now on. */
  async #turnsToHttp2({ response, failure }: Exchange, signal: AbortSignal): Promise<boolean> {
    const { versions, wire, transport, outage, remark } = this.#context;
    if (versions.isHttp2) {
      if (response?.httpVersion === '2' && !this.#saidHttp2) {
        this.#saidHttp2 = true;
        remark(AS_CONFIGURED);
      }
      return false;
    }
    const isRecorded = response?.httpVersion === '2';
    const isInDoubt = failure !== null && response === null && !outage.wasAnswered && isOfNoHttp1(failure);
    if (!isRecorded && !(isInDoubt && (await wire.detectHttp2(transport, signal)))) return false;
    versions.turnToHttp2();
    this.#saidHttp2 = true;
    remark(ALONE);
    return !isRecorded;
  }

  /** Sends and records one request. @throws Blocked if the key is refused. */
  async kept(stimulus: Stimulus, turn: Turn, bare?: HttpRequest): Promise<Exchange> {
    const done = turn.keep(await this.exchange(stimulus, turn.signal, bare ? { bare } : {}));
    const { key, limiter } = this.#context;
    await this.#tried(done, turn.signal);
    // A refusal for the rate is not one of the key.
    if ((stimulus.credential ?? 'right') === 'right' && !limiter.isIn(done)) {
      await key.received(receptionOf(done.response), turn.signal);
    }
    return done;
  }

  async reply(stimulus: Stimulus, turn: Turn): Promise<Reply> {
    return new Reply(await this.kept(stimulus, turn));
  }

  /** Documented requests that need the key: the sample, and another safe operation. */
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
        const reply = await (isOwn ? this.#opened(send, turn.signal) : send());
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
