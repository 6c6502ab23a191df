import { Blocked } from '../../../base/verdict.ts';
import type { ServiceConfig } from '../../../config/service.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import { fieldValues } from '../../../wire/fields/grammar/field-grammar.ts';
import { parseChallenges } from '../../../wire/fields/security/challenge.ts';
import type { OutageWatch } from './outage.ts';

/** How an ordinary request with the key of the run was received. */
export type Reception =
  | { readonly kind: 'taken' }
  /** `as`: `401`, or what stands for it. */
  | { readonly kind: 'refused'; readonly as: string }
  /** Neither is certain. */
  | { readonly kind: 'open'; readonly as: string };

/** An ordinary request for which the key has to be taken. */
export interface Occasion {
  /** `GET /v1/orders`. */
  readonly what: string;
  send(signal: AbortSignal): Promise<Reception>;
}

/** It may be about the plan of the account, or about what is asked for. */
const FORBIDDEN = 'answered 403';

/** How the answer to an ordinary request receives its key (RFC 9110 §15.5.2). */
export function receptionOf(response: Exchange['response']): Reception {
  if (response === null) return { kind: 'open', as: 'not answered' };
  const { status, fields } = response;
  if (status >= 200 && status < 300) return { kind: 'taken' };
  const isKnown = parseChallenges(fieldValues(fields, 'www-authenticate')).challenges.some(
    // RFC 6750 §3.1: the token is good, and not for this.
    ({ parameters }) => parameters.get('error') === 'insufficient_scope',
  );
  if (status !== 401 || isKnown) return { kind: 'open', as: `answered ${status}` };
  return { kind: 'refused', as: String(status) };
}

/**
 * Finds out whether the service takes the key of the run at all. The first answer that refuses it has all ordinary
 * requests sent that need the key, the same one once more among them. Where each is refused it is the key, and nothing
 * that is asked with it shows anything of the service. Where one is served the service has spoken with two tongues,
 * which is for the checks to tell.
 */
export class KeyTrial {
  readonly #config: ServiceConfig;
  readonly #outage: OutageWatch;
  readonly #remark: (text: string) => void;
  #occasions: () => readonly Occasion[] = () => [];
  #isOver = false;
  #underWay: Promise<void> | null = null;

  constructor({
    config,
    outage,
    remark,
  }: { config: ServiceConfig; outage: OutageWatch; remark: (text: string) => void }) {
    this.#config = config;
    this.#outage = outage;
    this.#remark = remark;
  }

  /** Where requests are sent for which the key has to be taken. */
  triesAt(occasions: () => readonly Occasion[]): void {
    this.#occasions = occasions;
  }

  /** Told of every answer to the key. @throws Blocked when the key is refused. */
  async received(reception: Reception, signal: AbortSignal): Promise<void> {
    if (this.#isOver) return;
    if (reception.kind === 'taken') this.#isOver = true;
    if (reception.kind === 'open' && reception.as === FORBIDDEN) this.#doubt(FORBIDDEN);
    if (reception.kind !== 'refused') return;
    this.#underWay ??= this.#decide(reception.as, signal).finally(() => {
      this.#underWay = null;
    });
    await this.#underWay;
  }

  async #decide(as: string, signal: AbortSignal): Promise<void> {
    if (this.#key === null) return;
    const told: string[] = [];
    let asked = 0;
    for (const { what, send } of this.#occasions()) {
      const reception = await send(signal);
      asked += 1;
      if (reception.kind === 'taken') told.push(`${what} is served with it`);
      if (reception.kind === 'open') told.push(`${what} is ${reception.as}`);
    }
    this.#isOver = true;
    if (asked > 0 && told.length === 0) {
      const reason = `${this.#key} is refused (${as})`;
      this.#outage.giveUp(reason);
      throw new Blocked(reason);
    }
    const why = asked === 0 ? 'nothing is documented that needs it' : told.join(', ');
    this.#doubt(`answered ${as} once, and ${why}`);
  }

  get #key(): string | null {
    const { given, obtain } = this.#config.credentials;
    if (given === null || obtain === null) return given && `the ${given}`;
    return `the token that was obtained with the ${given}`;
  }

  #doubt(why: string): void {
    if (this.#key !== null) this.#remark(`whether ${this.#key} is refused is not certain: it was ${why}`);
  }
}
