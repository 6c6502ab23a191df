import {
  check,
  clause,
  clients,
  type IdleView,
  keepsIdle,
  observation,
  practice,
  pusherDialect,
  rfc6455,
  spokenDialect,
} from '../../harness/engine/check/suite.ts';
import { dialectHeartbeat } from './dialects.ts';
import { pusherPing } from './pusher.ts';
import { askedAfterSilence, IDLE_MS, idle, isEndedForLogin, othersKept } from './stimuli/left-alone.ts';

// §5.5.2: a Ping may serve to keep the connection, or to see whether the other side is still there; it was.
const answeredPings = check('websocket.answered-pings', {
  title: 'keeps a connection whose client answers its Pings',
  headline: 'A connection ends although its client answers every Ping: {got}',
  why: 'Clients that do what they must lose their connections again and again.',
  change:
    'Take any Pong with the payload of your Ping for an answer, whether the client says anything else or not.',
  // A proxy may end it at that moment for a limit of its own.
  grounds: [practice('who answers a Ping is there')],
  uses: [idle],
  judge: ({ expect }) =>
    expect()
      .where(({ arePingsAnswered }) => arePingsAnswered, 'the service sent no Ping while it was looked at')
      .toConform('an open connection', (view) =>
        view.isEndedForPing ? `${howItEnded(view)} after ${inWords(view.unaskedEnd?.atMs ?? 0)}` : null,
      ),
});

/** Behind everything that one client may send wrong. */
export const othersKeptCheck = check('websocket.others-kept', {
  title: 'keeps the connections of others when one client sends something wrong',
  headline: 'What one client sends ends the connection of another: {got}',
  why: 'A single client can cut off everybody else.',
  change:
    'Handle what goes wrong on a connection on that connection alone, and let nothing of it end the process.',
  grounds: [practice('OWASP API4:2023')],
  uses: [othersKept],
  judge: ({ expect }) => expect().toConform('no end of other connections', ({ lost }) => lost),
});

/**
 * A connection that is left alone, from before the others until after them: what became of it is told without a wait
 * of its own, wherever the run takes longer anyway.
 */
export const idleChecks = [
  // limits.other does not show how long silence may last.
  observation('websocket.idle', {
    title: 'keeps a silent connection, or closes it',
    why: 'It tells clients how often to ping.',
    varies: 'upwards',
    grounds: [clause('limits.other')],
    uses: [idle],
    async observe({ service, probe }) {
      const view = await probe(idle);
      const forMs = service.websocket?.keepsIdleMs ?? IDLE_MS;
      const { unaskedEnd, closeCode } = view;
      // How long a run lasts is no matter of the service.
      const seen =
        unaskedEnd === null || unaskedEnd.atMs >= forMs ? { keptMs: forMs } : { closedWith: closeCode };
      if (unaskedEnd === null) return { seen, note: `kept for at least ${inWords(view.lastedMs)}` };
      const { length } = view.pingTimes;
      const pings = length === 0 ? 'without Ping' : `after ${length} ${length === 1 ? 'Ping' : 'Pings'}`;
      const code = closeCode === null ? 'without a code' : `with ${closeCode}`;
      return { seen, note: `closed ${code} after ${inWords(unaskedEnd.atMs)}, ${pings}` };
    },
  }),

  // What is documented can be relied on.
  check('websocket.idle-kept', {
    title: 'keeps a silent connection for as long as is documented',
    headline: 'A silent connection does not last as documented: {got}',
    why: 'Clients that ping as the documents say lose their connections.',
    change: 'Set the idle timeouts of the service and of proxies in front of it above the documented time.',
    grounds: [clients('keep-alive pings are set by the documented time')],
    applies: [keepsIdle],
    limitMs: 200_000,
    uses: [idle],
    judge: ({ expect, service }) =>
      expect()
        .where(
          (view) => !isEndedForLogin(view, service),
          'the service keeps no connection whose client does not log in (websocket.login)',
        )
        .toConform('an open connection', ({ unaskedEnd, unansweredPings }) => {
          const documentedMs = service.websocket?.keepsIdleMs ?? 0;
          if (unaskedEnd !== null && unaskedEnd.atMs >= documentedMs) return null;
          if (unaskedEnd !== null) return `its end after ${Math.round(unaskedEnd.atMs)} ms`;
          return unansweredPings.length > 0 ? 'one that answers no Ping' : null;
        }),
  }),

  // §5.5.2: a Ping may be sent at any time.
  observation('websocket.heartbeat', {
    title: 'pings its clients, or leaves that to them',
    why: 'Where neither side pings, nobody notices a dead connection.',
    varies: 'count',
    grounds: [rfc6455('5.5.2', 'MAY')],
    uses: [idle],
    async observe({ probe }) {
      const { pingTimes, heartbeats } = await probe(idle);
      const heartbeatTimes = heartbeats.map(({ atMs }) => Math.round(atMs));
      const isEarly = (atMs: number) => atMs < IDLE_MS;
      const early = heartbeatTimes.filter(isEarly).length;
      const told = [timesOf('Pings', pingTimes), timesOf('heartbeats', heartbeatTimes)];
      return {
        seen: { pings: pingTimes.filter(isEarly).length, ...(early > 0 && { heartbeats: early }) },
        note: told.filter((each) => each !== null).join(', ') || 'no Ping',
      };
    },
  }),

  answeredPings,

  // websocket.messages: heartbeats above the frames, of a known dialect or of the config (websocket.heartbeat).
  check('websocket.answered-heartbeats', {
    title: 'keeps a connection whose client answers its heartbeats',
    headline: 'A connection ends although its client answers every heartbeat: {got}',
    why: 'Clients that answer as documented lose their connections again and again.',
    change: 'Take the documented answer to your heartbeat for a sign of life, and wait long enough for it.',
    grounds: [clause('websocket.messages'), practice('who answers a heartbeat is there')],
    restsOn: [answeredPings],
    uses: [idle],
    judge: ({ expect }) =>
      expect()
        .where(
          ({ areHeartbeatsAnswered }) => areHeartbeatsAnswered,
          'the service sent no heartbeat while it was looked at',
        )
        .toConform('an open connection', (view) => {
          if (!view.isEndedForHeartbeat) return null;
          const { unaskedEnd, serverClose } = view;
          const reason = serverClose?.reason ? ` ${JSON.stringify(serverClose.reason)}` : '';
          return `${howItEnded(view)}${reason} after ${inWords(unaskedEnd?.atMs ?? 0)}`;
        }),
  }),

  // Connection events: a client may say nothing for activity_timeout seconds; then it is the client who pings.
  check('websocket.pusher-silence', {
    title: 'keeps a Pusher connection that is silent for less than its activity_timeout',
    headline: 'A connection ends within its own activity_timeout: {got}',
    why: 'Clients ping as late as they were told to, and lose their connections again and again.',
    change:
      'Set the idle timeouts of the service and of proxies in front of it above activity_timeout, or tell a shorter one.',
    grounds: [clause('websocket.messages'), practice('Pusher Channels protocol, version 7')],
    applies: [pusherDialect],
    restsOn: [answeredPings, othersKeptCheck],
    uses: [idle],
    judge: ({ expect }) =>
      expect()
        .where(
          ({ activityTimeoutMs }) => activityTimeoutMs !== null,
          'no activity_timeout came on this connection',
        )
        .toConform('an open connection', (view) => {
          const silenceMs = view.silenceBeforeEndMs ?? 0;
          const allowedMs = view.activityTimeoutMs ?? 0;
          if (!view.isEndedForSilence || silenceMs >= allowedMs) return null;
          return `${howItEnded(view)} after ${inWords(silenceMs)} of ${inWords(allowedMs)}`;
        }),
  }),

  // websocket.messages: who asks is answered, also when nothing was said for a while.
  check('websocket.heartbeat-after-silence', {
    title: 'answers the heartbeat of its dialect on a connection that was silent',
    headline: 'After a silence the heartbeat of the dialect is not answered: {got}',
    why: 'Clients that were quiet find their connection dead when they need it.',
    change: 'Keep what belongs to a connection for as long as the connection is open.',
    grounds: [clause('websocket.messages'), practice('who answers a heartbeat is there')],
    applies: [spokenDialect],
    restsOn: [pusherPing, dialectHeartbeat],
    uses: [askedAfterSilence],
    async judge({ probe, expect, notApplicable }) {
      const after = await probe(askedAfterSilence);
      if (after === null)
        return notApplicable('no heartbeat was sent: there is none, or the connection had ended');
      await expect(after).toConform(after.wanted, ({ isAnswered, events }) => {
        if (isAnswered) return null;
        return events.length === 0 ? 'nothing' : `only ${events.join(', ')}`;
      });
    },
  }),
];

function howItEnded({ serverClose, closeCode }: IdleView): string {
  return serverClose === null ? 'the end of TCP' : `the close code ${closeCode ?? 'none'}`;
}

function timesOf(what: string, timesMs: readonly number[]): string | null {
  return timesMs.length === 0 ? null : `${what} after ${timesMs.slice(0, 5).join(', ')} ms`;
}

function inWords(ms: number): string {
  return ms < 2_000 ? `${Math.round(ms)} ms` : `${Math.floor(ms / 1_000)} s`;
}
