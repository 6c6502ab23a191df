import {
  application,
  check,
  clause,
  echoes,
  observation,
  practice,
  pusherDialect,
  rfc6455,
} from '../../harness/engine/check/suite.ts';
import { serverReserved } from './frames.ts';
import { LONGEST_ECHO, longEchoes } from './stimuli/echo.ts';
import * as liveness from './stimuli/liveness.ts';
import { clientEvents } from './stimuli/pusher.ts';
import { closedInTraffic, connectionsApart, manyConnections } from './stimuli/side-by-side.ts';

const grounds = [clause('websocket.messages')];
/** Policy violation, message too big, try again later. */
const REFUSES_BURSTS: readonly (number | null)[] = [1008, 1009, 1013];

/** RFC 6455 §7.2.3: who loses a connection comes back. Before any other connection is cut, so that it shows why. */
export const reconnectCheck = check('websocket.reconnect', {
  title: 'lets a client back in whose connection was cut',
  headline: 'A client whose connection was cut gets {answer} when it comes back',
  why: 'After a failure of the network clients stay locked out.',
  change: 'Free the place of a connection as soon as it is lost.',
  grounds: [rfc6455('7.2.3', 'SHOULD')],
  uses: [liveness.comesBack],
  async judge({ probe, expect, note }) {
    const { conversation, attempts } = await probe(liveness.comesBack);
    await expect(conversation).toBeOpened();
    note(attempts === 1 ? 'at the first attempt' : `at attempt ${attempts}`);
  },
});

/** How connections last, how many there may be, and how fast and how surely messages come over them. */
export const livenessChecks = [
  // §10.4: a server may bound the length of messages.
  observation('websocket.max-message', {
    title: 'accepts messages up to some length',
    why: 'A client that knows the limit can stay below it.',
    varies: 'upwards',
    grounds: [rfc6455('10.4', 'MAY')],
    applies: [echoes],
    uses: [longEchoes],
    async observe({ probe, notApplicable }) {
      const { echoes: all } = await probe(longEchoes);
      const taken = all.findLast(({ isSame }) => isSame)?.sent.length ?? null;
      const refused = all.find(({ isSame }) => !isSame)?.sent.length ?? null;
      if (refused === null && taken !== LONGEST_ECHO)
        notApplicable(`messages come back so slowly that none longer than ${taken} bytes was tried`);
      return {
        seen: { taken, refused },
        note: `${taken ?? 'no'} bytes accepted, ${refused ?? 'nothing'} refused`,
      };
    },
  }),

  // §5.4, TCP: messages arrive in the order in which they were sent. §7.4.1: so many may be against a policy.
  check('websocket.burst-order', {
    title: 'sends back all messages of a burst, in their order',
    headline: 'Messages of a burst do not all come back in their order: {got}',
    why: 'Clients see events in the wrong order, or miss some.',
    change: 'Handle the messages of one connection one after the other.',
    grounds,
    applies: [echoes],
    restsOn: [serverReserved],
    uses: [liveness.burst],
    async judge({ probe, expect, notApplicable }) {
      const { unaskedEnd } = await probe(liveness.burst);
      if (unaskedEnd !== null && REFUSES_BURSTS.includes(unaskedEnd.code)) {
        notApplicable(`so many messages at once are refused with the close code ${unaskedEnd.code}`);
      }
      const wanted = `all ${liveness.BURST} messages back in their order`;
      await expect().toConform(wanted, liveness.burstFault);
    },
  }),

  // §5.5.1: a Close is answered as soon as is practical, whatever else there is to do.
  check('websocket.close-in-traffic', {
    title: 'answers a Close that comes behind many messages',
    headline: 'A Close behind many messages does not end the connection: {got}',
    why: 'Clients cannot leave while there is much to do.',
    change: 'Handle the Close in its turn, and send no more data after it.',
    grounds: [rfc6455('5.5.1', 'MUST')],
    applies: [echoes],
    uses: [closedInTraffic],
    async judge({ expect }) {
      await expect().toEnd();
      await expect().toKeep('no data frame after the Close', 'after-close');
    },
  }),

  // limits.other does not show how many there may be.
  observation('websocket.connections', {
    title: 'serves several connections at the same time, up to some number',
    why: 'It shows how many connections a client may have.',
    varies: 'upwards',
    grounds: [clause('limits.other')],
    uses: [manyConnections],
    async observe({ probe }) {
      const all = await probe(manyConnections);
      const taken = all.filter(({ conversation }) => conversation !== null).length;
      return {
        seen: { asked: all.length, taken },
        note: `${taken} of ${all.length} (safety.maxConnections)`,
      };
    },
  }),

  // Who listens hears what is for him, and nothing else.
  check('websocket.connections-apart', {
    title: 'keeps what is said on one connection from the others',
    headline: 'A connection gets what was said on another: {got}',
    why: 'One user sees the data of another.',
    change: 'Answer on the connection that has asked, and share no state between connections.',
    grounds: [...grounds, practice('OWASP API1:2023')],
    uses: [connectionsApart],
    judge: ({ expect }) =>
      expect().toConform('nothing of other connections', ({ foreign }) => foreign && `"${foreign}"`),
  }),

  // limits.other does not show how long messages take.
  observation('websocket.latency', {
    title: 'passes messages on within some time',
    why: 'It is the delay that users notice.',
    varies: 'downwards',
    grounds: [clause('limits.other')],
    uses: [clientEvents, liveness.echoLatency],
    async observe({ service, probe, notApplicable }) {
      const bySubscribing = [pusherDialect, application].every((each) => each(service) === null);
      if (!bySubscribing && !service.websocket?.echo) {
        notApplicable('nothing shows which messages come back or reach a subscriber');
      }
      const { path, tookMs } = bySubscribing
        ? (await probe(clientEvents)).latency
        : await probe(liveness.echoLatency);
      const [p50, p95] = [50, 95].map(
        (percent) => liveness.percentile(tookMs, percent)?.toFixed(1) ?? 'none',
      );
      return {
        seen: { path, messages: tookMs.length, p50Ms: Number(p50), p95Ms: Number(p95) },
        note: `${path}: p50 ${p50} ms, p95 ${p95} ms over ${tookMs.length} messages`,
      };
    },
  }),

  // Client events: to those who subscribe to the channel, but not to who sent it.
  check('websocket.pusher-client-event', {
    title: 'passes a client event to other subscribers of the channel, and not to its sender',
    headline: 'A client event does not go to the other subscribers alone: {got}',
    why: 'Clients that talk to each other hear nothing, or hear themselves.',
    change: 'Pass a client event to all subscribers of its channel but the sender.',
    grounds: [...grounds, practice('Pusher Channels protocol, version 7')],
    applies: [pusherDialect, application],
    uses: [clientEvents],
    async judge({ probe, expect }) {
      const { subscriber, sender, latency } = await probe(clientEvents);
      await expect(subscriber).toConform('the event', () => (latency.tookMs.length > 0 ? null : 'none'));
      await expect(sender).toConform('nothing of its own', ({ pusherEvents }) => {
        const own = pusherEvents.find(({ event }) => event.startsWith('client-'));
        return own?.event ?? null;
      });
    },
  }),
];
