import { Blocked, NotApplicable, unlessBlocked, unlessUnjudged } from '../../../harness/base/verdict.ts';
import type { Stimulus } from '../../../harness/engine/session/http/stimulus.ts';
import { derived, type Probe, probe } from '../../../harness/engine/session/probe.ts';
import type { Burst } from '../../../harness/wire/evidence.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { oneByOne, TOLERANCE } from '../../../harness/wire/limit/observed/observation.ts';
import { spendingKind, spendingsOf } from '../../../harness/wire/limit/observed/spending.ts';
import { namedOrigin } from '../../cors/stimuli/page.ts';
import { streamsOf } from '../../events/stimuli/heard.ts';
import { type Difference, sample } from '../../stimuli/sample.ts';
import { siblingOf } from '../../stimuli/target.ts';
import {
  exhaust,
  exhaustion,
  flowedBack,
  observedSoFar,
  planOf,
  type QuotaParts,
  refusal,
  slotMs,
} from './quota.ts';

/** Requests while the quota is spent. It may come back at any moment: an answer counts only if that cannot explain it. */

/** Windows end once; whoever is still in doubt after that stands before an even flow. */
const ROUNDS = 3;
/** Requests at most until the quota is spent again. */
const SPENDING = 10;
/** Requests of one round at the most. */
const PATIENCE = 12;

/** How long a refusal takes at the least, beside a served request; times in ms. */
export const refusalDelay: Probe<{ typicalMs: number; refusalMs: number; evidence: string }> = probe(
  'refusal-delay',
  { needs: () => [exhaustion, refusal, spentAgain], cost: 0 },
  async (port) => {
    const { typicalMs } = await port.ask(exhaustion);
    const met = await port.ask(refusal);
    const again = await port.ask(spentAgain);
    // A busy machine holds back some refusals, a tarpit each of them.
    const others = oneByOne(observedSoFar(port)).filter(({ fate }) => fate === 'refused');
    const refusalMs = Math.min(
      ...[met, again].map(({ exchange }) => exchange.timing.durationMs),
      ...others.map(({ sentMs, finishedMs }) => finishedMs - sentMs),
    );
    return { typicalMs, refusalMs, evidence: again.evidence };
  },
);

/** The first refusal. @throws NotApplicable where only requests sent together were refused: then no quota is ever spent. */
const spent = derived(
  'quota-spent',
  () => [refusal, exhaustion, aloneAfterParallel],
  async ({ ask }) => {
    const met = await ask(refusal);
    const { parallel } = await ask(exhaustion);
    if (parallel === null) return met;
    const alone = await ask(aloneAfterParallel);
    if (alone.served) throw new NotApplicable('one request after the other is never refused');
    return met;
  },
);

const aloneAfterParallel = probe('alone-after-parallel', ({ quota }) =>
  quota.sendWhileSpent({ purpose: 'alone, after requests sent together were refused' }),
);

/** A further refusal, whatever it takes to meet one. */
export const spentAgain = probe('spent-again', { needs: [spent], cost: SPENDING }, async (port) => {
  await port.ask(spent);
  return ensureSpent(port);
});

const AGAIN = 'to spend the quota once more';
/** A quota that comes back more often while others are asked is not spent for long enough to tell anything. */
const MOST_AGAIN = 3;

/** In ms: where one request flows back sooner than that, none from afar sees a spent quota for long. */
const SHORT_SLOT_MS = 20;

/** Not seen because of the documented rate, which the service cannot choose, or for another reason. */
function unseen({ config }: Pick<QuotaParts, 'config'>): typeof NotApplicable | typeof Blocked {
  return slotMs(planOf(config)) < SHORT_SLOT_MS ? NotApplicable : Blocked;
}

async function ensureSpent(port: QuotaParts): Promise<Reply> {
  const reply = await port.quota.sendWhileSpent({ purpose: 'to see whether the quota is still spent' });
  if (!reply.served) return reply;
  const bursts = port.quota.evidenceSoFar().filter((each): each is Burst => each.kind === 'burst');
  if (bursts.filter(({ purpose }) => purpose === AGAIN).length >= MOST_AGAIN)
    throw new (unseen(port))('the quota comes back too fast to see what shares it');
  const isUnmetInTurn = bursts[0]?.refusal === null && slotMs(planOf(port.config)) < SHORT_SLOT_MS;
  if (isUnmetInTurn) throw new (unseen(port))('requests in turn take too long to spend the quota again');
  const { refusal: met } = await exhaust(port, { before: 1, purpose: AGAIN });
  if (met === null) throw new (unseen(port))('the quota cannot be spent a second time');
  return met;
}

const SECOND_KEY: Stimulus = {
  purpose: 'with the second key, while the quota of the first is spent',
  credential: 'second',
};

/** The refusal of the second key while the quota of the first is spent, or its service. */
export const secondKeyWhileExhausted = probe(
  'second-key-while-exhausted',
  { needs: [spent], cost: 3 * ROUNDS + SPENDING },
  async (port) => {
    await port.ask(spent);
    const flowBack = async () => {
      await port.pause.until(
        port.clock.now() + TOLERANCE.slotsToRefill * slotMs(planOf(port.config)),
        'the time in which one request of the second key flows back',
      );
      return ensureSpent(port);
    };
    for (let round = 1; round < ROUNDS; round++) {
      let reply = await port.quota.sendWhileSpent(SECOND_KEY);
      if (!reply.served) {
        // A bucket of its own may be empty at first.
        await flowBack();
        reply = await port.quota.sendWhileSpent(SECOND_KEY);
        if (!reply.served) return reply;
      }
      const first = await port.quota.sendWhileSpent({ purpose: 'with the first key, whose quota is spent' });
      if (!first.served) return reply;
      // Where requests may not follow each other closely, the second key must not be refused for its own haste.
      await flowBack();
    }
    const beyond = await servedBeyondFlow(port, SECOND_KEY);
    if (beyond.served) return beyond;
    await flowBack();
    const again = await port.quota.sendWhileSpent(SECOND_KEY);
    if (!again.served) return again;
    throw new (unseen(port))('the second key may have been refused for its own haste');
  },
);

/** Each refused, or served although the quota is spent; but not where another spelling is the path of something else. */
export const variantsWhileExhausted = probe(
  'variants-while-exhausted',
  { needs: [spent, sample], cost: 4 * ROUNDS * 2 + SPENDING },
  async (port) => {
    await port.ask(spent);
    const samePath: readonly Stimulus[] = [
      { purpose: 'while the quota is spent', method: 'HEAD' },
      { purpose: 'with another query, while the quota is spent', target: ({ path }) => `${path}?conform=1` },
    ];
    const otherPath: readonly Stimulus[] = [
      { purpose: 'with a slash more, while the quota is spent', target: ({ path }) => withSlash(path) },
      {
        purpose: 'with a path in other letter case, while the quota is spent',
        target: ({ path }) => path.toUpperCase(),
      },
    ];
    const replies: Reply[] = [];
    for (const variant of samePath) replies.push(await whileSpent(port, variant));
    const { response: documented } = await port.ask(sample);
    for (const variant of otherPath) {
      const first = await port.quota.sendWhileSpent(variant);
      if (first.served && first.response.unread !== null)
        throw new Blocked(`it is unknown what is served ${variant.purpose}: ${first.response.unread}`);
      // A page for people is not what the quota is of.
      if (first.served && !first.response.hasContentLike(documented)) continue;
      replies.push(first.served ? await whileSpent(port, variant) : first);
    }
    return replies;
  },
);

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}

/** Of the range that is set aside for documentation (RFC 5737): nobody's. */
const CLAIMED_ADDRESS = '192.0.2.7';

/** Of one kind between two refusals: more of them than may have flowed back. */
const OF_A_KIND = 2;

/** Such as others wait to send. */
const OTHER_KINDS: readonly Stimulus[] = [
  { purpose: 'with a wrong key, while the quota is spent', credential: { wrong: 'wrong' } },
  { purpose: 'without a credential, while the quota is spent', credential: 'none' },
  {
    purpose: 'at a path that does not exist, while the quota is spent',
    target: ({ path }) => siblingOf(path),
  },
  { purpose: 'while the quota is spent', method: 'OPTIONS', without: ['content-type'] },
];

/** Whether handshakes, refused keys and the like spend the quota, where that is not known: tried between two refusals. */
export const otherKindsWhileExhausted = probe(
  'other-kinds-while-exhausted',
  { needs: [spent], cost: 2 * OF_A_KIND * 5 + SPENDING },
  async (port) => {
    await port.ask(spent);
    const { config, quota } = port;
    const reading = { ...planOf(config), refusal: quota.refusal };
    const evidence = quota.evidenceSoFar();
    const known = spendingsOf(evidence, reading);
    const taken = evidence.flatMap((each) =>
      each.kind === 'conversation' ? (spendingKind(each) ?? []) : [],
    );
    const isOpen = quota.isAwaited || taken.some((kind) => !known.has(kind));
    const handshake = () => quota.shakeWhileSpent('a WebSocket as configured, while the quota is spent');
    const others = OTHER_KINDS.map((stimulus) => () => quota.sendWhileSpent(stimulus));
    const kinds: readonly (() => Promise<unknown>)[] = [
      ...(config.websocket !== null && isOpen ? [handshake] : []),
      ...(quota.isAwaited ? others : []),
    ];
    for (const send of kinds) {
      await ensureSpent(port);
      for (let count = 0; count < OF_A_KIND; count++) await send().catch(unlessUnjudged);
    }
    if (kinds.length > 0) await ensureSpent(port);
  },
);

/** Milliseconds that a stream is listened to at the most. */
const STREAM_MS = 200;

/** Refused, or served because the request differs in this. */
const differingWhileSpent = (name: string, purpose: string, difference: Difference): Probe<Reply> =>
  probe(name, { needs: [spent], cost: 2 * ROUNDS }, async (port) => {
    await port.ask(spent);
    return whileSpent(port, { purpose: `${purpose}, while the quota is spent`, ...difference });
  });
export const forwardedWhileExhausted = differingWhileSpent(
  'forwarded-while-exhausted',
  'with X-Forwarded-For',
  { fields: [['X-Forwarded-For', CLAIMED_ADDRESS]] },
);
export const otherAgentWhileExhausted = differingWhileSpent(
  'other-agent-while-exhausted',
  'as another User-Agent',
  { fields: [['User-Agent', 'Mozilla/5.0 (conform)']] },
);
export const apartWhileExhausted = differingWhileSpent(
  'apart-while-exhausted',
  'on an HTTP/2 connection of its own',
  { onOwn: true },
);
/** The first stream that can be called, for its first item: the limiter's refusal, or its service. */
export const streamWhileExhausted: Probe<Reply> = probe(
  'stream-while-exhausted',
  { needs: [spent], cost: 2 * ROUNDS },
  async (port) => {
    const stream = streamsOf(port.config).find(
      ({ method, uncallable, auth }) => method === 'GET' && uncallable === null && auth !== 'none',
    );
    if (stream === undefined) throw new NotApplicable('no stream can be called with the key');
    const met = await port.ask(spent);
    const reply = await whileSpent(port, {
      purpose: `${stream.template}, a stream, while the quota is spent`,
      method: 'GET',
      target: () => stream.path,
      fields: stream.fields,
      withoutSampleFields: true,
      listen: { items: 1, forMs: STREAM_MS },
    });
    if (reply.served || reply.status === met.status) return reply;
    throw new Blocked(`the stream is refused otherwise than for its rate: status ${reply.status}`);
  },
);
export const pageWhileExhausted: Probe<Reply> = probe(
  'page-while-exhausted',
  { needs: [spent], cost: 2 * ROUNDS },
  async (port) => {
    await port.ask(spent);
    const fields = [['Origin', namedOrigin(port.config)]] as const;
    return whileSpent(port, { purpose: 'for a page of a named origin, while the quota is spent', fields });
  },
);
export const spelledWhileExhausted = differingWhileSpent(
  'spelled-while-exhausted',
  'with the scheme name in other letter case',
  { credential: { spelled: 'other-case-scheme' } },
);
export const spacedWhileExhausted = differingWhileSpent(
  'spaced-while-exhausted',
  'with more spaces behind the scheme name',
  { credential: { spelled: 'spaced-scheme' } },
);

/** Its refusal; or its service, if it is served again and again while the sample is refused. */
async function whileSpent(port: QuotaParts, variant: Stimulus): Promise<Reply> {
  for (let round = 0; round < ROUNDS; round++) {
    const reply = await servedBeyondFlow(port, variant);
    if (!reply.served) return reply;
    const plain = await port.quota.sendWhileSpent({ purpose: 'as documented, while the quota is spent' });
    if (!plain.served) return (await refusedBy(port, variant)) ?? reply;
    await ensureSpent(port);
  }
  throw new Blocked(UNSEEN);
}

/**
 * As often in a row served, and the sample refused, it is no chance: another worker with a count of its own may have
 * answered. Of a small quota of its own it takes a quarter.
 */
const TIMES_AGAIN = 4;
const OWN_SHARE = 0.25;
const UNSEEN = 'the quota came back each time before it could be seen whether it is shared';

/** Its refusal; null if it is served each time while the sample is refused. */
async function refusedBy(port: QuotaParts, variant: Stimulus): Promise<Reply | null> {
  // No record of an earlier version has it.
  const send = (stimulus: Stimulus) => port.quota.sendWhileSpent(stimulus).catch(unlessBlocked);
  const enough = Math.min(TIMES_AGAIN, Math.floor(OWN_SHARE * planOf(port.config).requests));
  let times = 0;
  for (let round = 0; times < enough; round++) {
    if (round === ROUNDS * enough) throw new Blocked(UNSEEN);
    const reply = await send(variant);
    if (reply === null) return null;
    if (!reply.served) return reply;
    const plain = await send({ purpose: 'as documented, while the quota is spent' });
    if (plain === null) return null;
    if (plain.served) await ensureSpent(port);
    times = plain.served ? 0 : times + 1;
  }
  return null;
}

/** The first refusal; or the last service, once so many have been served that an even flow cannot explain it. */
async function servedBeyondFlow(port: QuotaParts, stimulus: Stimulus): Promise<Reply> {
  const { clock, quota, config } = port;
  // It was surely spent when the last refusal was on its way, not when that was answered.
  const startedMs = observedSoFar(port).findLast(({ fate }) => fate === 'refused')?.sentMs ?? clock.now();
  for (let served = 1; served <= PATIENCE; served++) {
    const reply = await quota.sendWhileSpent(stimulus);
    if (!reply.served) return reply;
    // One more may have come back just before.
    if (served > 1 + flowedBack(planOf(config), clock.now() - startedMs)) return reply;
  }
  throw new (unseen(port))(`${PATIENCE} requests take so long from here that the quota flows back meanwhile`);
}
