import { NotApplicable } from '../../../harness/base/verdict.ts';
import { connecting, derived, type Probe } from '../../../harness/engine/session/probe.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { echoes, echoesAsConfigured } from './echo.ts';
import { alive, taken } from './ordinary-client.ts';
import { alongHandshake } from './series.ts';

/** Messages in a burst and one after the other, and a client that comes back. */

/** Messages of a burst. */
export const BURST = 200;
const text = (index: number) => `conform ${index}`;
const texts = (count: number) => Array.from({ length: count }, (_, index) => text(index));

/** Number of other messages that may come meanwhile. */
const MORE = 50;
/** Number of messages whose round trip is measured. */
const MEASURED = 20;

export const {
  handshake: unknownSubprotocol,
  burst,
  measured,
} = alongHandshake({
  name: 'websocket-unknown-subprotocol',
  stimulus: {
    purpose: 'a WebSocket handshake that offers an unknown subprotocol',
    fields: [['Sec-WebSocket-Protocol', 'conform.unknown']],
  },
  held: taken,
  when: echoesAsConfigured,
  twins: [echoes],
  exchanges: {
    // RFC 6455 §5.4: messages keep their order. In one write, so that they meet.
    burst: [
      'websocket-burst',
      `a WebSocket with ${BURST} messages at once`,
      async (conversation) => {
        await conversation.atOnce(`the texts "${text(0)}" to "${text(BURST - 1)}"`, texts(BURST));
        const wanted = new Set(texts(BURST));
        let inOrder = 0;
        const all = await conversation.message(
          'for all of them to come back',
          (message) => {
            wanted.delete(message.text ?? '');
            if (message.text === text(inOrder)) inOrder += 1;
            return wanted.size === 0;
          },
          { most: BURST + MORE },
        );
        return all !== null && inOrder === BURST;
      },
    ],
    measured: [
      'websocket-echo-latency',
      `a WebSocket with ${MEASURED} messages, one after the other`,
      async (conversation) => {
        for (let index = 0; index < MEASURED; index++) {
          if (!(await conversation.echo('text', `conform, message ${index}`))) return false;
        }
        return true;
      },
    ],
  },
});

/** The texts of a burst that are missing or misplaced; null if none. */
export function burstFault({ messages }: ConversationView): string | null {
  const wanted = texts(BURST);
  const known = new Set(wanted);
  const got = messages.flatMap(({ text }) => (text !== null && known.has(text) ? [text] : []));
  const lost = wanted.filter((each) => !got.includes(each));
  if (lost.length > 0) return `${BURST - lost.length} of them, and not "${lost[0]}"`;
  if (got.length > BURST) return `${got.length} of them, some twice`;
  const misplaced = got.findIndex((each, index) => each !== wanted[index]);
  return misplaced === -1 ? null : `"${got[misplaced]}" before "${wanted[misplaced]}"`;
}

/** Milliseconds before each attempt to come back (RFC 6455 §7.2.3). */
const COMES_BACK_AFTER_MS = [0, 250, 1_000];

/** The connection is cut without a Close, as when a network fails; the client comes back. Yields its last attempt. */
export const comesBack = connecting(
  'websocket-comes-back',
  { needs: [alive], cost: 1 + COMES_BACK_AFTER_MS.length },
  async ({ ask, websocket, clock, signal }) => {
    await ask(alive);
    await websocket.hold('a WebSocket that is cut without a Close', async (conversation) => {
      await conversation.text('conform', { fin: false });
    });
    for (let attempts = 1; ; attempts++) {
      await clock.sleep(COMES_BACK_AFTER_MS[attempts - 1] ?? 0, signal);
      const conversation = await websocket.converse(
        `a WebSocket of a client that was cut, attempt ${attempts}`,
        async (each) => {
          await each.ping('back again');
          await each.close(1000);
        },
      );
      if (conversation.opened || attempts >= COMES_BACK_AFTER_MS.length) return { conversation, attempts };
    }
  },
);

/** Milliseconds from sending to receiving, shortest first. */
export interface Latency {
  readonly path: string;
  readonly tookMs: readonly number[];
}

/** There and back, one after the other. */
export const echoLatency: Probe<Latency> = derived('websocket-latency', [measured], async ({ ask }) => {
  const view = await ask(measured);
  const tookMs = view.echoes.flatMap(({ sent, back, isSame }) =>
    back !== null && isSame ? [back.atMs - sent.atMs] : [],
  );
  if (tookMs.length < MEASURED) throw new NotApplicable('not every message came back');
  return { path: 'sent and echoed', tookMs: tookMs.sort((a, b) => a - b) };
});

/** By rank. */
export function percentile(sorted: readonly number[], percent: number): number | null {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? null;
}
