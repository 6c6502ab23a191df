import { reasonOf } from '../../base/thrown.ts';
import { type LeftBehind, stillThere } from '../../report/results/fold/events.ts';
import type { ServiceHttp } from './http/service-http.ts';
import { requestOf, type Stimulus } from './http/stimulus.ts';
import { openTurn, type SessionContext } from './turn/session-context.ts';

/** Resources that a run created and has to remove. */
export interface CleanupPort {
  /** Sends this request when the session closes, also when interrupted, unless the returned function was called. */
  leave(removal: Stimulus): () => void;
}

/** Milliseconds for the removal of everything. */
const REMOVAL_MS = 10_000;

/** The remaining resources of a session. They are in the journal, so another process can remove them. */
export class Cleanup implements CleanupPort {
  readonly #context: SessionContext;
  readonly #left = new Map<Stimulus, LeftBehind>();

  /** `before`: of an earlier session. */
  constructor(context: SessionContext, before: readonly LeftBehind[]) {
    this.#context = context;
    for (const each of before) {
      if (each.request !== null) this.#left.set(stimulusOf(each, each.request), each);
    }
  }

  leave(removal: Stimulus): () => void {
    const { config, documented, transport, record } = this.#context;
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
    this.#left.set(removal, created);
    record(created);
    return () => this.#settle(removal, created);
  }

  #settle(removal: Stimulus, { service, method, target }: LeftBehind): void {
    if (this.#left.delete(removal)) this.#context.record({ type: 'removed', service, method, target });
  }

  /** The last one first. Reports each failure. */
  async remove(http: ServiceHttp): Promise<void> {
    if (this.#left.size === 0) return;
    const { log, outage, remark } = this.#context;
    const turn = openTurn(log, outage, AbortSignal.timeout(REMOVAL_MS));
    for (const [removal, created] of [...this.#left].reverse()) {
      try {
        const { served, status } = await http.reply(removal, turn);
        if (!served && status !== 404 && status !== 410) {
          remark(stillThere(created, `was answered ${status ?? 'by nothing'}`));
        }
      } catch (error) {
        remark(stillThere(created, `was not possible (${reasonOf(error)})`));
      }
      this.#settle(removal, created);
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
