import { Blocked } from '../../../base/verdict.ts';
import type { ServiceConfig } from '../../../config/service.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import { fieldValues } from '../../../wire/fields/grammar/field-grammar.ts';
import { parseChallenges } from '../../../wire/fields/security/challenge.ts';
import type { OutageWatch } from './outage.ts';

/** The reaction to the key of the run. */
export type Reception =
  | { readonly kind: 'taken' }
  /** `as`: `401`, or its equivalent. */
  | { readonly kind: 'refused'; readonly as: string }
  /** Uncertain. */
  | { readonly kind: 'open'; readonly as: string };

/** An ordinary request that needs the key. */
export interface Occasion {
  readonly what: string;
  send(signal: AbortSignal): Promise<Reception>;
}

/** It may be about the plan of the account or about the resource. */
const FORBIDDEN = 'answered 403';

/** By the response to an ordinary request (RFC 9110 §15.5.2). */
export function receptionOf(response: Exchange['response']): Reception {
  if (response === null) return { kind: 'open', as: 'not answered' };
  const { status, fields } = response;
  if (status >= 200 && status < 300) return { kind: 'taken' };
  const isKnown = parseChallenges(fieldValues(fields, 'www-authenticate')).challenges.some(
    // RFC 6750 §3.1: the token is good, but has another scope.
    ({ parameters }) => parameters.get('error') === 'insufficient_scope',
  );
  if (status !== 401 || isKnown) return { kind: 'open', as: `answered ${status}` };
  return { kind: 'refused', as: String(status) };
}

/**
 * Finds out whether the service takes the key of the run at all. After the first refusal it sends all ordinary
 * requests that need the key. If each is refused, the key is bad, and no evidence with it shows anything. If one is
 * served, the checks report the contradiction.
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

  /** The requests to send. */
  triesAt(occasions: () => readonly Occasion[]): void {
    this.#occasions = occasions;
  }

  /** Takes every response to the key. @throws Blocked if the key is refused. */
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
