import { check, observation } from '../../harness/check/check.ts';
import { echoes, hasWebSocket, pusherDialect } from '../../harness/check/requirement.ts';
import { application, keepsIdle } from '../../harness/check/websocket-requirement.ts';
import { clause, practice, rfc6455 } from '../../harness/contract/ground.ts';
import { longEchoes } from '../../harness/probe/websocket/echo.ts';
import * as liveness from '../../harness/probe/websocket/liveness.ts';
import { clientEvents } from '../../harness/probe/websocket/pusher.ts';

const applies = [hasWebSocket];
const grounds = [clause('websocket.messages')];
/** Policy violation, message too big, try again later. */
const REFUSES_BURSTS: ReadonlySet<number> = new Set([1008, 1009, 1013]);

/** RFC 6455 §7.2.3: who loses a connection comes back. Before any other connection is cut, so that it shows why. */
export const reconnectCheck = check(
  'websocket.reconnect',
  {
    title: 'takes a client back whose connection was cut',
    grounds: [rfc6455('7.2.3', 'SHOULD')],
    applies,
    provenBy: ['ws-keeps-place-of-cut-client'],
  },
  async ({ probe, expectConversation, note }) => {
    const { conversation, attempts } = await probe(liveness.comesBack);
    expectConversation(conversation).toBeOpened();
    note(attempts === 1 ? 'at the first attempt' : `at attempt ${attempts}`);
  },
);

/** How connections last, how many there may be, and how fast and how surely messages come over them. */
export const livenessChecks = [
  observation(
    'websocket.idle',
    {
      title: 'keeps a connection on which nothing is said, or closes it',
      grounds: [clause('limits.other')],
      applies,
      shownBy: ['ws-closes-idle'],
    },
    async ({ service, probe, observe, note }) => {
      const { serverClose, ended, closeCode } = await probe(liveness.idle);
      const over = serverClose ?? ended;
      const forMs = service.websocket?.keepsIdleMs ?? 1_000;
      const isKept = over === null || over.atMs >= forMs;
      observe('websocket.idle', isKept ? { keptMs: forMs } : { closedWith: closeCode });
      note(
        isKept
          ? `kept for ${forMs} ms`
          : `closed after ${Math.round(over.atMs)} ms (${closeCode ?? 'no code'})`,
      );
    },
  ),

  check(
    'websocket.idle-kept',
    {
      title: 'keeps a connection on which nothing is said for as long as is documented',
      grounds: [practice('documented idle time')],
      applies: [...applies, keepsIdle],
      provenBy: ['ws-closes-idle'],
      limitMs: 200_000,
    },
    async ({ probe, expectConversation }) => {
      const conversation = await probe(liveness.idle);
      expectConversation(conversation).toConform(
        'an open connection',
        ({ unansweredPings, clientClose, serverClose, ended }) => {
          const over = serverClose ?? ended;
          if (over !== null && (clientClose === null || over.atMs < clientClose.atMs)) {
            return `its end after ${Math.round(over.atMs)} ms`;
          }
          return unansweredPings.length > 0 ? 'one that answers no Ping' : null;
        },
      );
    },
  ),

  observation(
    'websocket.heartbeat',
    {
      title: 'pings its clients, or leaves that to them',
      grounds: [rfc6455('5.5.2', 'MAY')],
      applies,
      shownBy: ['ws-pings-first'],
    },
    async ({ probe, observe, note }) => {
      const pings = liveness.pingTimes(await probe(liveness.idle));
      observe('websocket.heartbeat', { pings: pings.length });
      note(pings.length === 0 ? 'no Ping' : `Pings after ${pings.slice(0, 5).join(', ')} ms`);
    },
  ),

  // §10.4: a server may bound the length of messages.
  observation(
    'websocket.max-message',
    {
      title: 'takes messages up to this length, of those that are tried',
      grounds: [rfc6455('10.4', 'MAY')],
      applies: [hasWebSocket, echoes],
      shownBy: ['ws-takes-small-messages'],
    },
    async ({ probe, observe, note }) => {
      const { echoes: all } = await probe(longEchoes);
      const taken = all.filter(({ isSame }) => isSame).map(({ sent }) => sent.length);
      const refused = all.find(({ isSame }) => !isSame)?.sent.length ?? null;
      const largest = taken.at(-1) ?? null;
      observe('websocket.max-message', { taken: largest, refused });
      note(`${largest ?? 'none'} octets taken, ${refused ?? 'nothing'} refused`);
    },
  ),

  check(
    'websocket.burst-order',
    {
      title: 'sends back all messages of a burst, in their order',
      grounds,
      applies: [hasWebSocket, echoes],
      provenBy: ['ws-reorders-messages', 'ws-loses-messages'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const conversation = await probe(liveness.burst);
      // §7.4.1: so many at once may be against a policy, or too many for now.
      const { closeCode, serverClose, clientClose } = conversation;
      const isUnasked = serverClose !== null && serverClose.atMs < (clientClose?.atMs ?? Infinity);
      if (isUnasked && closeCode !== null && REFUSES_BURSTS.has(closeCode)) {
        return notApplicable(`so many messages at once are refused with the close code ${closeCode}`);
      }
      expectConversation(conversation).toConform(
        `all ${liveness.BURST} messages back in their order`,
        liveness.burstFault,
      );
    },
  ),

  // §5.5.1: a Close is answered as soon as is practical, whatever else there is to do.
  check(
    'websocket.close-in-traffic',
    {
      title: 'answers a Close that comes behind many messages',
      grounds: [rfc6455('5.5.1', 'MUST')],
      applies: [hasWebSocket, echoes],
      provenBy: ['ws-loses-close-in-traffic'],
    },
    async ({ probe, expectConversation }) => {
      const conversation = await probe(liveness.closedInTraffic);
      expectConversation(conversation).toEnd();
      expectConversation(conversation).toKeep('no frame after the Close', 'after-close');
    },
  ),

  observation(
    'websocket.connections',
    {
      title: 'serves so many connections at the same time, of those that are tried',
      grounds: [clause('limits.other')],
      applies,
      shownBy: ['ws-takes-few-connections'],
    },
    async ({ probe, observe, note }) => {
      const all = await probe(liveness.manyConnections);
      const taken = all.filter(({ conversation }) => conversation !== null).length;
      observe('websocket.connections', { asked: all.length, taken });
      note(`${taken} of ${all.length} (safety.maxConnections)`);
    },
  ),

  check(
    'websocket.connections-apart',
    {
      title: 'keeps what is said on one connection from the others',
      grounds: [...grounds, practice('OWASP API1:2023')],
      applies,
      provenBy: ['ws-mixes-connections'],
    },
    async ({ probe, expectConversation }) => {
      const open = (await probe(liveness.manyConnections)).flatMap(({ said, conversation }) =>
        conversation === null ? [] : [{ said, conversation }],
      );
      const own = new Map(open.map(({ said, conversation }) => [conversation, said]));
      expectConversation(...own.keys()).toConform('nothing of other connections', (conversation) => {
        const foreign = conversation.messages.find(
          ({ text }) =>
            text !== null && text !== own.get(conversation) && open.some(({ said }) => said === text),
        );
        return foreign ? `"${foreign.text}"` : null;
      });
    },
  ),

  observation(
    'websocket.latency',
    {
      title: 'takes so long from sending a message to receiving it',
      grounds: [clause('limits.other')],
      applies,
    },
    async ({ service, probe, observe, note, notApplicable }) => {
      const { websocket, credentials } = service;
      const bySubscribing = websocket?.dialect === 'pusher' && credentials.app !== null;
      if (!bySubscribing && !websocket?.echo) {
        return notApplicable('which messages come back, or reach a subscriber, is not shown');
      }
      const { path, tookMs } = bySubscribing
        ? (await probe(clientEvents)).latency
        : await probe(liveness.echoLatency);
      const [p50, p95] = [50, 95].map(
        (percent) => liveness.percentile(tookMs, percent)?.toFixed(1) ?? 'none',
      );
      observe('websocket.latency', { path, messages: tookMs.length, p50Ms: Number(p50), p95Ms: Number(p95) });
      note(`${path}: p50 ${p50} ms, p95 ${p95} ms over ${tookMs.length} messages`);
    },
  ),

  // Client events: to those who subscribe to the channel, but not to who sent it.
  check(
    'websocket.pusher-client-event',
    {
      title: 'passes a client event to other subscribers of the channel, and not to its sender',
      grounds: [...grounds, practice('Pusher Channels protocol, version 7')],
      applies: [hasWebSocket, pusherDialect, application],
      provenBy: ['pusher-loses-client-events', 'pusher-echoes-client-events'],
    },
    async ({ probe, expectConversation }) => {
      const { subscriber, sender, latency } = await probe(clientEvents);
      expectConversation(subscriber).toConform('the event', () =>
        latency.tookMs.length > 0 ? null : 'none',
      );
      expectConversation(sender).toConform('nothing of its own', ({ pusherEvents }) => {
        const own = pusherEvents.find(({ event }) => event.startsWith('client-'));
        return own ? own.event : null;
      });
    },
  ),
];
