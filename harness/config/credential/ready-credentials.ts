import { HarnessError } from '../../base/exit.ts';
import { Blocked } from '../../base/verdict.ts';
import type { CredentialChoice } from './placing.ts';
import type { Credentials, ObtainingPort } from './scheme.ts';

interface RenewalClock {
  /** Milliseconds, monotonic. */
  now(): number;
}

interface Renewal {
  readonly credentials: Credentials;
  readonly renewAtMs: number;
  readonly untilMs: number;
}

interface Refusal<R> {
  readonly isIn: (result: R) => boolean;
  readonly dismiss: (result: R) => void;
}

/** Milliseconds before its end at which a key is renewed; a short-lived key is renewed after three quarters of its time. */
const MARGIN_MS = 30_000;

/** Most keys of one session that are obtained because the one before was refused. */
const MOST_AFTER_REFUSALS = 20;

/** The credentials of a service, fit to be placed at any moment of a session. */
export class ReadyCredentials {
  readonly #configured: Credentials;
  readonly #port: ObtainingPort;
  readonly #clock: RenewalClock;
  readonly #without: (reason: string) => void;
  #held: Renewal | null = null;
  #underWay: Promise<void> | null = null;
  /** Why no further key can be obtained; set once, it ends all attempts. */
  #failure: string | null = null;
  /** A new key was refused like the one before it, so that the next refusal is no reason for another one. */
  #vain = false;
  #afterRefusals = 0;

  /** `without`: called with the reason if no key can be obtained. */
  constructor(
    configured: Credentials,
    port: ObtainingPort,
    clock: RenewalClock,
    without: (reason: string) => void = () => undefined,
  ) {
    this.#without = without;
    this.#configured = configured;
    this.#port = port;
    this.#clock = clock;
  }

  /** For this choice, now. @throws Blocked where the key cannot be had. */
  async for(choice: CredentialChoice): Promise<Credentials> {
    const isKey = choice === 'right' || (typeof choice === 'object' && !('recorded' in choice));
    if (!isKey || this.#configured.obtain === null) return this.#configured;
    if (this.#held === null || this.#clock.now() >= this.#held.renewAtMs) await this.#renew();
    if (this.#held === null) throw new HarnessError('no key was obtained, for an unknown reason');
    return this.#held.credentials;
  }

  /** Sends a request; if its key is refused, once more with a new one. @throws Blocked as `for` does. */
  async send<R>(choice: CredentialChoice, attempt: () => Promise<R>, refusal: Refusal<R>): Promise<R> {
    const used = await this.for(choice);
    const first = await attempt();
    const mayBeOver = choice === 'right' && used.obtain !== null && !this.#vain;
    if (!mayBeOver || !refusal.isIn(first)) return first;
    refusal.dismiss(first);
    if (this.#held?.credentials === used) {
      this.#afterRefusals += 1;
      if (this.#afterRefusals > MOST_AFTER_REFUSALS) {
        this.#failure = `${MOST_AFTER_REFUSALS} keys of this run were refused soon after they were obtained`;
        this.#held = null;
      }
      await this.#renew();
    }
    if (this.#held?.credentials === used) throw new Blocked(this.#failure ?? 'no other key could be had');
    const second = await attempt();
    this.#vain = refusal.isIn(second);
    return second;
  }

  /** All who wait for a key wait for the same one. */
  async #renew(): Promise<void> {
    if (this.#failure === null) {
      this.#underWay ??= this.#obtain().finally(() => {
        this.#underWay = null;
      });
      await this.#underWay;
    }
    if (this.#failure !== null && !(this.#held && this.#clock.now() < this.#held.untilMs)) {
      this.#without(this.#failure);
      throw new Blocked(this.#failure);
    }
  }

  async #obtain(): Promise<void> {
    const askedMs = this.#clock.now();
    try {
      const obtained = await this.#configured.obtain?.(this.#port);
      if (!obtained) return;
      const { key, forMs } = obtained;
      const lastsMs = forMs ?? Number.POSITIVE_INFINITY;
      this.#held = {
        credentials: { ...this.#configured, secret: key },
        renewAtMs: askedMs + lastsMs - Math.min(MARGIN_MS, lastsMs / 4),
        untilMs: askedMs + lastsMs,
      };
    } catch (error) {
      if (!(error instanceof Blocked)) throw error;
      this.#failure = error.message;
    }
  }
}
