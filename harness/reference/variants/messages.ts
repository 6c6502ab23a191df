import { REALTIME, tableOf, under, type Variant } from '../behavior/deviation.ts';
import { EVENT, FAILURE, talking } from '../behavior/patches/talk.ts';

/** Services that keep an AsyncAPI document, each in its way. */
export const MESSAGE_VARIANTS = tableOf<Variant>(under('documented messages', REALTIME), {
  'talks-as-documented': {
    summary: 'says what its AsyncAPI document says',
    patch: talking(),
  },
  'talks-with-more-members': {
    summary: 'sends members that its document leaves open',
    patch: talking({ send: (socket, message) => socket.send(JSON.stringify({ ...message, sent: 1 })) }),
  },
  'talks-between': {
    summary: 'sends an event before each reply',
    patch: talking({ ping: ({ id }) => [EVENT, { type: 'pong', id }] }),
  },
  'talks-first': {
    summary: 'sends an event before its client has said anything',
    patch: talking({ greeting: [EVENT] }),
  },
  'talks-in-binary': {
    summary: 'sends JSON in binary messages',
    patch: talking({ send: (socket, message) => socket.send(Buffer.from(JSON.stringify(message))) }),
  },
  'talks-after-refusal': {
    summary: 'refuses a subscription with the documented error',
    patch: talking({ subscribe: () => [FAILURE] }),
  },
  'talks-without-events': {
    summary: 'has no events for a subscription',
    patch: talking({ subscribe: ({ id, topic }) => [{ type: 'subscribed', id, topic }] }),
  },
  'talks-not-of-misfits': {
    summary: 'ignores messages that do not fit',
    patch: talking({ otherwise: () => [] }),
  },
  'talks-no-more-upon-misfits': {
    summary: 'closes with 1007 upon a message that does not fit',
    patch: talking({
      otherwise(socket) {
        socket.close(1007);
        return [];
      },
    }),
  },
});
