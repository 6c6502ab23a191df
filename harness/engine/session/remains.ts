import { reasonOf } from '../../base/thrown.ts';
import { Blocked } from '../../base/verdict.ts';
import { type LeftBehind, stillThere } from '../../report/results/fold/events.ts';
import type { Reply } from '../../wire/exchange/reply.ts';
import type { ServiceHttp } from './http/service-http.ts';
import { requestOf, type Stimulus } from './http/stimulus.ts';
import { openTurn, type SessionContext, type Turn } from './turn/session-context.ts';

/** Resources that a run created and has to remove. */
export interface CleanupPort {
  /** Sends this request when the probe ends, also when interrupted, unless the returned function was called. */
  leave(removal: Stimulus): () => void;
  /** @throws Blocked if the budget has no room for a creation and its removal. */
  requireRoom(): void;
  /** Reports something that the run may have created and cannot remove. */
  lost(what: string): void;
}

/** Milliseconds for the requests of a removal, without its waits for quota. */
const REMOVAL_MS = 10_000;
/** At most, in ms, for a removal with its waits. */
const LONGEST_MS = 5 * 60_000;
/** Requests for the removal of one resource while the limiter refuses them. */
const MOST_TRIES = 3;

interface Leftover {
  readonly created: LeftBehind;
  /** Name of the probe that created it; null if an earlier session did. */
  readonly by: string | null;
  /** Its share of the budget. */
  readonly release: () => void;
}

/** The remaining resources of a session. They are in the journal, so another process can remove them. */
export class Cleanup {
  readonly #context: SessionContext;
  readonly #left = new Map<Stimulus, Leftover>();
  readonly #lost = new Set<string>();
  #removal: Promise<void> = Promise.resolve();

  /** `before`: of an earlier session. */
  constructor(context: SessionContext, before: readonly LeftBehind[]) {
    this.#context = context;
    for (const created of before) {
      if (created.request === null) continue;
      this.#left.set(stimulusOf(created, created.request), {
        created,
        by: null,
        release: context.budget.reserve(),
      });
    }
  }

  portFor(by: string): CleanupPort {
    return {
      leave: (removal) => this.#leave(removal, by),
      requireRoom: () => this.#requireRoom(),
      lost: (what) => this.#lose(what),
    };
  }

  /** Removes everything, or what that probe created; the last one first. Reports each failure. */
  remove(http: ServiceHttp, by?: string): Promise<void> {
    const isMeant = (each: Leftover) => by === undefined || each.by === by;
    const removeNow = () => this.#remove([...this.#left].filter(([, each]) => isMeant(each)).reverse(), http);
    this.#removal = this.#removal.then(removeNow);
    return this.#removal;
  }

  #leave(removal: Stimulus, by: string): () => void {
    const { budget, config, documented, transport, record } = this.#context;
    const { method, target, fields } = requestOf(removal, documented);
    const { content = null } = removal;
    const isText = !(content instanceof Uint8Array);
    const written = JSON.stringify([target, fields, content]);
    const created: LeftBehind = {
      type: 'created',
      service: config.service,
      purpose: removal.purpose,
      method,
      target: transport.redaction.sink(target),
      // Neither secrets nor octets are recorded: then only this session can remove it.
      request: isText && transport.redaction.sink(written) === written ? { fields, content } : null,
      isAnonymous: removal.credential === 'none',
    };
    this.#left.set(removal, { created, by, release: budget.reserve() });
    record(created);
    return () => this.#settle(removal);
  }

  #requireRoom(): void {
    const { budget, config } = this.#context;
    if (budget.left() >= 2) return;
    const { maxRequests } = config.safety;
    throw new Blocked(
      `the budget of ${maxRequests} requests has no room to create something and remove it again (safety.maxRequests)`,
    );
  }

  #lose(what: string): void {
    const text = `what this run created may still be there: ${what}`;
    if (!this.#lost.has(text)) this.#context.remark(text);
    this.#lost.add(text);
  }

  #settle(removal: Stimulus): void {
    const left = this.#left.get(removal);
    if (left === undefined) return;
    this.#left.delete(removal);
    left.release();
    const { service, method, target } = left.created;
    this.#context.record({ type: 'removed', service, method, target });
  }

  async #remove(all: readonly (readonly [Stimulus, Leftover])[], http: ServiceHttp): Promise<void> {
    if (all.length === 0) return;
    const { budget, log, outage, remark } = this.#context;
    const { requests, windowMs } = budget.rate;
    const waitsMs = 2 * windowMs * Math.ceil(all.length / requests);
    const signal = AbortSignal.timeout(Math.min(REMOVAL_MS + waitsMs, LONGEST_MS));
    const turn = openTurn(log, outage, signal);
    for (const [removal, { created, release }] of all) {
      release();
      try {
        const { served, status } = await this.#admitted(removal, http, turn);
        if (!served && status !== 404 && status !== 410) {
          remark(stillThere(created, `was answered ${status ?? 'by nothing'}`));
        }
      } catch (error) {
        remark(stillThere(created, `was not possible (${reasonOf(error)})`));
      }
      this.#settle(removal);
    }
  }

  /** Waits for the quota while the limiter refuses: an earlier session, or another client, may have spent it. */
  async #admitted(removal: Stimulus, http: ServiceHttp, turn: Turn): Promise<Reply> {
    const { budget, limiter, pauses, transport } = this.#context;
    for (let tries = 1; ; tries++) {
      const reply = await http.reply(removal, turn);
      if (!limiter.isIn(reply.exchange) || tries === MOST_TRIES) return reply;
      const { windowMs } = budget.rate;
      const forMs = Math.min(reply.response.retryAfterMs ?? windowMs, windowMs);
      const why = 'the quota is spent: what this run created is removed as soon as it is back';
      await pauses.portFor(turn.signal).until(transport.clock.now() + forMs, why);
    }
  }
}

function stimulusOf(
  { purpose, method, target, isAnonymous }: LeftBehind,
  { fields, content }: NonNullable<LeftBehind['request']>,
): Stimulus {
  return {
    purpose,
    method,
    target: () => target,
    fields: fields.map(([name = '', value = '']) => [name, value]),
    withoutSampleFields: true,
    credential: isAnonymous ? 'none' : 'right',
    ...(content === null ? {} : { content }),
  };
}
