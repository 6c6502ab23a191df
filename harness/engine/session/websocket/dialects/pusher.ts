import type { MessageDialect } from '../../../../config/blocks/dialect.ts';
import { readPusherEvent } from '../../../../wire/conversation/dialect.ts';
import { queryOf, withQuery } from '../../../../wire/request.ts';

/** The Pusher protocol, version 7. Its handshakes carry no key but that of the application, in the address. */
export const pusher: MessageDialect = {
  name: 'pusher',
  /** Adds the usual parameters of its clients, except for those that are configured. */
  target(target, { version }) {
    const given = new Set(queryOf(target).map(([name]) => name));
    const usual = [
      ['protocol', '7'],
      ['client', 'conform'],
      ['version', version],
    ] as const;
    return withQuery(
      target,
      usual.filter(([name]) => !given.has(name)),
    );
  },
  read(text) {
    const read = readPusherEvent(text);
    return read && { event: read.event, channel: read.channel, data: read.data ?? undefined };
  },
  greeting: 'pusher:connection_established',
  heartbeat: { send: JSON.stringify({ event: 'pusher:ping', data: {} }), answer: 'pusher:pong' },
  answerHeartbeat: (text) =>
    readPusherEvent(text)?.event === 'pusher:ping'
      ? JSON.stringify({ event: 'pusher:pong', data: {} })
      : null,
  subscribe: {
    send: (channel) => JSON.stringify({ event: 'pusher:subscribe', data: { channel } }),
    answer: 'pusher_internal:subscription_succeeded',
    channel: 'conform-public',
  },
};
