import { type Defect, REALTIME, tableOf, under } from '../../behavior/deviation.ts';
import { EVENT, FAILURE, talking } from '../../behavior/patches/talk.ts';

/** Messages that are otherwise than an AsyncAPI document says. */
export const DOCUMENTED_MESSAGE_DEFECTS = tableOf<Defect>(under('documented messages', REALTIME), {
  'talk-breaks-payload': {
    cause: 'A message does not fit the payload of its AsyncAPI document',
    fails: ['messages.payload'],
    patch: talking({
      subscribe: ({ id, topic }) => [
        { type: 'subscribed', id, topic },
        { ...EVENT, count: 'one' },
      ],
    }),
  },
  'talk-loses-reply-member': {
    cause: 'A reply lacks a member that its AsyncAPI document demands',
    fails: ['messages.payload'],
    patch: talking({ subscribe: ({ id }) => [{ type: 'subscribed', id }] }),
  },
  'talk-sends-undocumented': {
    cause: 'A message is sent that the AsyncAPI document does not name',
    fails: ['messages.undocumented'],
    patch: talking({ subscribe: ({ id, topic }) => [{ type: 'subscribed', id, topic }, { type: 'debug' }] }),
  },
  'talk-sends-plain-text': {
    cause: 'A message is plain text where JSON is documented',
    fails: ['messages.content-type'],
    patch: talking({
      send(socket, message) {
        socket.send(JSON.stringify(message));
        if (message === EVENT) socket.send('1 event sent');
      },
    }),
  },
  'talk-never-replies': {
    cause: 'A message that has a documented reply is not answered',
    fails: ['messages.reply'],
    patch: talking({ ping: () => [] }),
  },
  'talk-answers-with-event': {
    cause: 'A message is answered with another documented message than its reply',
    fails: ['messages.reply'],
    patch: talking({ ping: () => [EVENT] }),
  },
  'talk-loses-id': {
    cause: 'A reply has another correlation id than its message',
    fails: ['messages.correlation'],
    patch: talking({ ping: () => [{ type: 'pong', id: '1' }] }),
  },
  'talk-refuses-in-other-words': {
    cause: 'A message that does not fit is answered with an undocumented error',
    fails: ['messages.refusal'],
    patch: talking({ otherwise: () => [{ status: 400, title: 'Bad message' }] }),
  },
  'talk-refuses-with-misfit': {
    cause: 'A message that does not fit is answered with an error that is not as documented',
    fails: ['messages.refusal'],
    patch: talking({ otherwise: () => [{ ...FAILURE, reason: 17 }] }),
  },
});
