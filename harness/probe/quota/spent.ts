import type { Reply } from '../../evidence/exchange/reply.ts';
import type { Stimulus } from '../../session/stimulus.ts';
import { type Probe, probe, type Stimuli } from '../../session.ts';
import { Blocked, NotApplicable } from '../../verdict.ts';
import { exhaust, exhaustion, flowedBack, planOf, refusal } from './quota.ts';

/**
 * What is asked while the quota is spent. It may come back at any moment, by a window that ends or by an even
 * flow: an answer counts only when that cannot explain it.
 */

/** Windows end once; whoever is still in doubt after that stands before an even flow. */
const ROUNDS = 3;
/** Requests of one round at the most. */
const PATIENCE = 12;

/** How long a refusal takes at the least, beside a served request; times in ms. */
export const refusalDelay: Probe<{ typicalMs: number; refusalMs: number; evidence: string }> = probe(
  'refusal-delay',
  async (stimuli) => {
    const { typicalMs } = await stimuli.ask(exhaustion);
    const met = await stimuli.ask(refusal);
    // A busy machine holds back one refusal, a tarpit each of them.
    const again = await stimuli.ask(spentAgain);
    const refusalMs = Math.min(...[met, again].map(({ exchange }) => exchange.timing.durationMs));
    return { typicalMs, refusalMs, evidence: again.evidence };
  },
);

/** @throws NotApplicable where only requests sent together were refused: then no quota is ever spent. */
async function requireSpent(stimuli: Stimuli): Promise<void> {
  await stimuli.ask(refusal);
  const { parallel } = await stimuli.ask(exhaustion);
  if (parallel === null) return;
  const alone = await stimuli.ask(aloneAfterParallel);
  if (alone.served) throw new NotApplicable('one request after the other is never refused');
}

const aloneAfterParallel: Probe<Reply> = probe('alone-after-parallel', (stimuli) =>
  stimuli.replyWhileSpent({ purpose: 'alone, after requests sent together were refused' }),
);

/** A further refusal, whatever it takes to meet one. */
export const spentAgain: Probe<Reply> = probe('spent-again', async (stimuli) => {
  await requireSpent(stimuli);
  return ensureSpent(stimuli);
});

async function ensureSpent(stimuli: Stimuli): Promise<Reply> {
  const reply = await stimuli.replyWhileSpent({ purpose: 'to see whether the quota is still spent' });
  if (!reply.served) return reply;
  const { refusal: met } = await exhaust(stimuli, 1, 'to spend the quota once more');
  if (met === null) throw new Blocked('the quota cannot be spent a second time');
  return met;
}

const SECOND_KEY: Stimulus = {
  purpose: 'with the second key, while the quota of the first is spent',
  credential: 'second',
};

/** The refusal of the second key while the quota of the first is spent, or its service. */
export const secondKeyWhileExhausted: Probe<Reply> = probe('second-key-while-exhausted', async (stimuli) => {
  await requireSpent(stimuli);
  for (let round = 1; round < ROUNDS; round++) {
    const reply = await stimuli.replyWhileSpent(SECOND_KEY);
    if (!reply.served) return reply;
    const first = await stimuli.replyWhileSpent({ purpose: 'with the first key, whose quota is spent' });
    if (!first.served) return reply;
    await ensureSpent(stimuli);
  }
  return servedBeyondFlow(stimuli, SECOND_KEY);
});

/** Each refused, or served although the quota is spent. */
export const variantsWhileExhausted: Probe<readonly Reply[]> = probe(
  'variants-while-exhausted',
  async (stimuli) => {
    await requireSpent(stimuli);
    const variants: readonly Stimulus[] = [
      { purpose: 'while the quota is spent', method: 'HEAD' },
      { purpose: 'with a slash more, while the quota is spent', target: ({ path }) => withSlash(path) },
      {
        purpose: 'with a path in other letter case, while the quota is spent',
        target: ({ path }) => path.toUpperCase(),
      },
      { purpose: 'with another query, while the quota is spent', target: ({ path }) => `${path}?conform=1` },
    ];
    const replies: Reply[] = [];
    for (const variant of variants) replies.push(await whileSpent(stimuli, variant));
    return replies;
  },
);

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}

/** Of the range that is set aside for documentation (RFC 5737): nobody's. */
const CLAIMED_ADDRESS = '192.0.2.7';

/** Refused, or served because of an address that the client has made up. */
export const forwardedWhileExhausted: Probe<Reply> = probe('forwarded-while-exhausted', async (stimuli) => {
  await requireSpent(stimuli);
  const fields = [['X-Forwarded-For', CLAIMED_ADDRESS]] as const;
  return whileSpent(stimuli, { purpose: 'with X-Forwarded-For, while the quota is spent', fields });
});

/** Refused, or served because the same credential is written in another way. */
export const spelledWhileExhausted: Probe<Reply> = probe('spelled-while-exhausted', async (stimuli) => {
  await requireSpent(stimuli);
  return whileSpent(stimuli, {
    purpose: 'with the scheme name in other letter case, while the quota is spent',
    credential: { spelled: 'other-case-scheme' },
  });
});

/** Its refusal; or its service, if it is served again and again while the sample is refused. */
async function whileSpent(stimuli: Stimuli, variant: Stimulus): Promise<Reply> {
  for (let round = 0; round < ROUNDS; round++) {
    const reply = await servedBeyondFlow(stimuli, variant);
    if (!reply.served) return reply;
    const plain = await stimuli.replyWhileSpent({ purpose: 'as documented, while the quota is spent' });
    if (!plain.served) return reply;
    await ensureSpent(stimuli);
  }
  throw new Blocked('the quota came back each time before it could be seen whether it is shared');
}

/** The first refusal; or the last service, once so many have been served that an even flow cannot explain it. */
async function servedBeyondFlow(stimuli: Stimuli, stimulus: Stimulus): Promise<Reply> {
  const startedMs = stimuli.clock.now();
  for (let served = 1; served <= PATIENCE; served++) {
    const reply = await stimuli.replyWhileSpent(stimulus);
    if (!reply.served) return reply;
    // One more may have come back just before.
    if (served > 1 + flowedBack(planOf(stimuli), stimuli.clock.now() - startedMs)) return reply;
  }
  throw new Blocked(`${PATIENCE} requests take so long from here that the quota flows back meanwhile`);
}
