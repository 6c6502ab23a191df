import { expect, it } from 'vitest';
import { OPCODE } from '../../../harness/wire/conversation/frame.ts';
import { otherThan, type Service, sendingIn, sentTo } from '../fixtures/memory-session.ts';
import { echoing, type Peer } from '../fixtures/peer.ts';
import { configOf } from '../fixtures/said.ts';
import { server, type TalkEvents } from '../fixtures/talk.ts';
import * as pusher from './pusher.ts';
import * as misuse from './pusher-misuse.ts';

const PROBES = sendingIn(pusher, misuse);
const PUSHER = configOf({ dialect: 'pusher', echo: false });
const KEYLESS = configOf(
  { dialect: 'pusher', echo: false },
  { credentials: { ...PUSHER.credentials, app: null } },
);

/** The answer to a subscription, or to an event of a client; null for none. */
interface Answering {
  readonly subscription: (channel: string) => 'succeeded' | 'error' | 'end' | null;
  /** Passed on to the subscribers. */
  readonly passes: (event: string, channel: string) => boolean | 'end';
  readonly greets?: boolean;
}

const SUBSCRIBED = 'pusher_internal:subscription_succeeded';

/** A service of the Pusher protocol, version 7, for all connections of a probe. */
function pusherService({ subscription, passes, greets = true }: Answering): Service {
  const subscribers: { readonly channel: string; readonly say: (events: TalkEvents) => void }[] = [];
  const lower = echoing();
  const peer: Peer = (frame, say) => {
    if (frame.opcode !== OPCODE.text) return frame.opcode === OPCODE.pong ? [] : lower(frame, say);
    const { event, data, channel } = JSON.parse(`${Buffer.from(frame.payload)}`.replace(/^(?!\{).*/, '{}'));
    if (event === 'pusher:ping') return [server.json({ event: 'pusher:pong', data: '{}' })];
    if (event === 'pusher:subscribe' && typeof data?.channel === 'string') {
      const answer = subscription(data.channel);
      if (answer === 'end') return [server.close(4009), server.ends()];
      if (answer === null) return [];
      if (answer === 'succeeded') subscribers.push({ channel: data.channel, say });
      const name = answer === 'succeeded' ? SUBSCRIBED : 'pusher:subscription_error';
      return [server.json({ event: name, channel: data.channel, data: '{}' })];
    }
    if (typeof channel !== 'string') return [];
    const isPassed = passes(event, channel);
    if (isPassed === 'end') return [server.close(4009), server.ends()];
    const others = subscribers.filter((each) => each.channel === channel && each.say !== say);
    if (isPassed) for (const each of others) each.say([server.json({ event, channel, data })]);
    return [];
  };
  const greeting = server.json({
    event: 'pusher:connection_established',
    data: '{"socket_id":"1.2","activity_timeout":120}',
  });
  return ({ target }) =>
    target ? { peer: lower, status: 404 } : { peer, greeting: greets ? [greeting] : [] };
}

const isLawful = (channel: string) => /^conform-public$|-signed$|^presence-conform$/.test(channel);
const lawful: Answering = {
  subscription: (channel) => (isLawful(channel) ? 'succeeded' : 'error'),
  passes: (event, channel) => event.startsWith('client-') && channel.startsWith('private-'),
};
const never = () => false;

const SERVICES: Readonly<Record<string, readonly [Answering, typeof PUSHER]>> = {
  'confirms nothing': [{ subscription: () => 'error', passes: never }, PUSHER],
  'answers no subscription': [{ subscription: () => null, passes: never }, PUSHER],
  'ends the connection over what it forbids': [
    {
      subscription: (channel) => (isLawful(channel) ? 'succeeded' : 'end'),
      passes: (event, channel) =>
        event.startsWith('client-') && channel.endsWith('-signed') ? false : 'end',
    },
    PUSHER,
  ],
  'sends no greeting': [{ ...lawful, greets: false }, PUSHER],
  'has an application that is not configured': [lawful, KEYLESS],
};

const usual = await sentTo(() => pusherService(lawful), PUSHER, PROBES);

it('to a Pusher service each stimulus is sent as it always was', async () => {
  const all = await sentTo(() => pusherService(lawful), PUSHER, PROBES);
  await expect(otherThan(new Map(), all)).toMatchFileSnapshot('./fixtures/sent/pusher.txt');
});

it.each(Object.entries(SERVICES))(
  'to one that %s, these are sent otherwise',
  async (what, [answering, config]) => {
    const all = await sentTo(() => pusherService(answering), config, PROBES);
    const file = `./fixtures/sent/pusher-${what.replaceAll(' ', '-')}.txt`;
    await expect(otherThan(usual, all)).toMatchFileSnapshot(file);
  },
);
