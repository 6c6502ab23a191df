import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { shipped } from '../../../harness/config/fixtures/config-folder.ts';
import { startWsEndpoint } from '../../../harness/wire/fixtures/ws-endpoint.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { judgedInTurn, saidOf } from '../fixtures/judged.ts';

const CHECKS = ['websocket.pusher-private-channel', 'websocket.pusher-forged-signature'];

/** The name of an event, an end without a word, or both; null for silence. */
type Answer = (channel: string) => string | null;
const END = ' and the end';

const confirmed: Answer = () => 'pusher_internal:subscription_succeeded';
const refused: Answer = () => 'pusher:subscription_error';
const silent: Answer = () => null;
const ended: Answer = () => END;
const isLawful = (channel: string) => /^conform-public$|-signed$/.test(channel);

interface Behavior {
  readonly answer: Answer;
  /** What it does upon another message. */
  readonly hear?: (text: string, socket: WebSocket, others: ReadonlySet<WebSocket>) => void;
  /** Said after the greeting. */
  readonly greets?: string;
  readonly schemas?: Readonly<Record<string, object>>;
}

/** A Pusher service that answers each subscription with such an event. */
async function judgedPusher(ids: readonly string[], { answer, hear, greets, schemas }: Behavior) {
  const all = new Set<WebSocket>();
  const { url, stop } = await startWsEndpoint((socket) => {
    all.add(socket);
    const say = (event: string, more: object) => socket.send(JSON.stringify({ event, ...more }));
    const greeting = { socket_id: '1.2', activity_timeout: 120 };
    say('pusher:connection_established', { data: JSON.stringify(greeting) });
    if (greets !== undefined) say('conform-greets', { data: { name: greets } });
    socket.on('message', (content) => {
      const text = String(content);
      const { event: asked, data } = text.startsWith('{"event":"pusher:') ? JSON.parse(text) : {};
      if (asked === undefined) hear?.(text, socket, all);
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
  const suite = { ...websocket, checks: websocket.checks.filter(({ id }) => ids.includes(id)) };
  const given = { ...config, timeouts, websocket: { ...endpoint, ...(schemas && { messages: schemas }) } };
  return judgedInTurn(given, [suite], { url }).finally(stop);
}

async function outcomesOf(answer: Answer): Promise<readonly unknown[]> {
  const { outcomes } = await judgedPusher(CHECKS, { answer });
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

describe('client events that their sender may not send', () => {
  const ID = 'websocket.pusher-forbidden-event';
  const saidWith = async (hear: Behavior['hear']) =>
    saidOf(await judgedPusher([ID], { answer: confirmed, ...(hear && { hear }) }), ID);

  it('are judged where each ends the connection of its sender', async () => {
    expect(await saidWith((_, socket) => socket.close())).toMatch(/^pass/);
  });

  it('are each sent, whatever the first one ends', async () => {
    const passesOn = await saidWith((text, socket, others) => {
      for (const each of others) if (text.includes('foreign')) each.send(text);
      socket.close();
    });
    expect(passesOn).toMatch(/^fail: .*has not entered/);
  });

  it('show nothing to a subscriber whose connection is ended', async () => {
    const ended = await saidWith((_, __, others) => {
      for (const each of others) each.close();
    });
    expect(ended).toMatch(
      /^blocked: a connection ended before a client event on a public channel could show/,
    );
  });
});

describe('an event with a schema', () => {
  const ID = 'websocket.message-schema';
  const schemas = { 'conform-greets': { properties: { name: { maxLength: 3 } } } };
  const saidOfGreeting = async (greets: string) =>
    saidOf(await judgedPusher([ID], { answer: confirmed, greets, schemas }), ID);

  it('is held to it, and is not left out by its length', async () => {
    expect(await saidOfGreeting('abc')).toMatch(/^pass/);
    expect(await saidOfGreeting('abcd')).toMatch(/^fail/);
    expect(await saidOfGreeting('a'.repeat(100 * 1024))).toMatch(/^blocked: .*too long to be judged/);
  });
});
