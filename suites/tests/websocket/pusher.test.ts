import { describe, expect, it } from 'vitest';
import { shipped } from '../../../harness/config/fixtures/config-folder.ts';
import { startWsEndpoint } from '../../../harness/wire/fixtures/ws-endpoint.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { judgedInTurn } from '../fixtures/judged.ts';

const CHECKS = ['websocket.pusher-private-channel', 'websocket.pusher-forged-signature'];

/** The name of an event, an end without a word, or both; null for silence. */
type Answer = (channel: string) => string | null;
const END = ' and the end';

const confirmed: Answer = () => 'pusher_internal:subscription_succeeded';
const refused: Answer = () => 'pusher:subscription_error';
const silent: Answer = () => null;
const ended: Answer = () => END;
const isLawful = (channel: string) => /^conform-public$|-signed$/.test(channel);

/** The outcomes for a Pusher service that answers each subscription with such an event. */
async function outcomesOf(answer: Answer): Promise<readonly unknown[]> {
  const { url, stop } = await startWsEndpoint((socket) => {
    const say = (event: string, more: object) => socket.send(JSON.stringify({ event, ...more }));
    const greeting = { socket_id: '1.2', activity_timeout: 120 };
    say('pusher:connection_established', { data: JSON.stringify(greeting) });
    socket.on('message', (content) => {
      const text = String(content);
      const { event: asked, data } = text.startsWith('{"event":"pusher:') ? JSON.parse(text) : {};
      if (asked === 'pusher:ping') say('pusher:pong', { data: '{}' });
      const channel = data?.channel;
      const name = asked === 'pusher:subscribe' && typeof channel === 'string' ? answer(channel) : null;
      const [event, isEnd] = name?.endsWith(END) ? [name.slice(0, -END.length), true] : [name, false];
      if (event) say(event, { channel, data: '{}' });
      if (isEnd) socket.close();
    });
  });
  const config = await shipped('realtime');
  const endpoint = { url: '/', dialect: 'pusher', echo: false, origin: null, subprotocols: [] } as const;
  const timeouts = { ...config.timeouts, connectMs: 1_000, responseMs: 300 };
  const checks = websocket.checks.filter(({ id }) => CHECKS.includes(id));
  const suite = { ...websocket, checks };
  const { outcomes } = await judgedInTurn({ ...config, timeouts, websocket: endpoint }, [suite], {
    url,
  }).finally(stop);
  return CHECKS.map((id) => outcomes[id]);
}

describe('a channel without a right to it', () => {
  it.for<readonly [string, Answer, readonly string[]]>([
    ['is not refused by a service that answers no subscription', silent, ['blocked', 'blocked']],
    ['is refused by name', refused, ['pass', 'pass']],
    ['is opened', confirmed, ['fail', 'blocked']],
    [
      'is refused by silence where a lawful subscription is confirmed',
      (channel) => (isLawful(channel) ? confirmed(channel) : null),
      ['pass', 'pass'],
    ],
    [
      'is refused by a service that has no private channels',
      (channel) => (channel === 'conform-public' ? confirmed(channel) : refused(channel)),
      ['pass', 'pass'],
    ],
    [
      'is refused by the end of the connection where a lawful subscription is confirmed',
      (channel) => (isLawful(channel) ? confirmed : ended)(channel),
      ['pass', 'pass'],
    ],
    [
      'is not refused by an end before it was asked for',
      (channel) => (isLawful(channel) ? `${confirmed(channel)}${END}` : ended(channel)),
      ['blocked', 'blocked'],
    ],
    [
      'is opened on a connection of its own, behind the end of another one',
      (channel) => (isLawful(channel) || channel.endsWith('-empty-signature') ? confirmed : ended)(channel),
      ['pass', 'fail'],
    ],
  ])('%s', async ([, answer, wanted]) => {
    expect(await outcomesOf(answer)).toEqual(wanted);
  });
});
