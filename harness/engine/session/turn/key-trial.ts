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
export type KeyTrial = ReturnType<typeof keyTrial>;

export function keyTrial({
  config,
  outage,
  remark,
}: {
  config: ServiceConfig;
  outage: OutageWatch;
  remark: (text: string) => void;
}) {
  const { given, obtain } = config.credentials;
  const key =
    given !== null && obtain !== null
      ? `the token that was obtained with the ${given}`
      : given && `the ${given}`;
  let occasions: () => readonly Occasion[] = () => [];
  let isOver = false;
  let underWay: Promise<void> | null = null;

  function doubt(why: string): void {
    if (key !== null) remark(`whether ${key} is refused is not certain: it was ${why}`);
  }

  async function decide(as: string, signal: AbortSignal): Promise<void> {
    if (key === null) return;
    const contradictions: string[] = [];
    let asked = 0;
    for (const { what, send } of occasions()) {
      const reception = await send(signal);
      asked += 1;
      if (reception.kind === 'taken') contradictions.push(`${what} is served with it`);
      if (reception.kind === 'open') contradictions.push(`${what} is ${reception.as}`);
    }
    isOver = true;
    if (asked > 0 && contradictions.length === 0) {
      const reason = `${key} is refused (${as})`;
      outage.giveUp(reason, 'config');
      throw new Blocked(reason);
    }
    const why = asked === 0 ? 'nothing is documented that needs it' : contradictions.join(', ');
    doubt(`answered ${as} once, and ${why}`);
  }

  return {
    /** The requests to send. */
    triesAt(known: () => readonly Occasion[]): void {
      occasions = known;
    },
    /** Takes every response to the key. @throws Blocked if the key is refused. */
    async received(reception: Reception, signal: AbortSignal): Promise<void> {
      if (isOver) return;
      if (reception.kind === 'taken') isOver = true;
      if (reception.kind === 'open' && reception.as === FORBIDDEN) doubt(FORBIDDEN);
      if (reception.kind !== 'refused') return;
      underWay ??= decide(reception.as, signal).finally(() => {
        underWay = null;
      });
      await underWay;
    },
  };
}
