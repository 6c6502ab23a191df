import {
  type ConversationView,
  check,
  clause,
  keepsIdle,
  OPCODE,
  observation,
  practice,
  pusherDialect,
  rfc6455,
  spokenDialect,
} from '../../harness/check/suite.ts';
import {
  activityTimeoutMs,
  askedAfterSilence,
  IDLE_MS,
  idle,
  isEndedForLogin,
  silenceBeforeEndMs,
} from '../../harness/probe/websocket/left-alone.ts';
import { othersKept } from '../../harness/probe/websocket/others-kept.ts';
import { dialectHeartbeat } from './dialects.ts';
import { pusherPing } from './pusher.ts';

/** How a service that has pinged may end a connection all the same: it says why, and it is not that nobody answered. */
const REASONS: readonly (number | null)[] = [1000, 1008, 1012, 1013];
/** Codes that applications give a meaning (RFC 6455 §7.4.2). */
const OF_APPLICATIONS = 4000;
/** Of the Pusher protocol, version 7: the answer to pusher:ping did not come in time. */
const PONG_NOT_RECEIVED = 4201;
/** Of the same: closed after inactivity. */
const INACTIVE = 4202;
/** A reason that says so. */
const SILENT = /\b(?:idle|inactiv\w*|silen\w+)\b/i;
/** A reason that says that an answer did not come. */
const MISSED =
  /\b(?:pong|ping|heart-?beat|keep-?alive)\b.*\b(?:timeout|timed out|missed|missing|not received|expired)\b|\b(?:no|missed|missing)\s+(?:pong|heart-?beat)/i;
/** Protocol error, unsupported data, bad data, internal error. */
const ERRORS: readonly (number | null)[] = [1002, 1003, 1007, 1011];

// §5.5.2: a Ping may serve to keep the connection, or to see whether the other side is still there; it was.
const answeredPings = check('websocket.answered-pings', {
  title: 'keeps a connection whose client answers its Pings',
  headline: 'A connection ends although its client answers every Ping: {got}',
  why: 'Clients that do what they must lose their connections again and again.',
  change:
    'Take any Pong with the payload of your Ping for an answer, whether the client says anything else or not.',
  grounds: [practice('who answers a Ping is there')],
  judge: ({ expect }) =>
    expect(idle)
      .where(isPinged, 'the service sent no Ping while it was looked at')
      .toConform('an open connection', (view) => {
        const { unaskedEnd, serverClose } = view;
        if (unaskedEnd === null || isExplained(unaskedEnd.code) || !isSoonAfterPing(view)) return null;
        const how = serverClose === null ? 'the end of TCP' : `the close code ${unaskedEnd.code ?? 'none'}`;
        return `${how} after ${inWords(unaskedEnd.atMs)}`;
      }),
});

/** Behind everything that one client may send wrong. */
export const othersKeptCheck = check('websocket.others-kept', {
  title: 'keeps the connections of others when one client sends something wrong',
  headline: 'What one client sends ends the connection of another: {got}',
  why: 'A single client can cut off everybody else.',
  change:
    'Handle what goes wrong on a connection on that connection alone, and let nothing of it end the process.',
  grounds: [practice('OWASP API4:2023')],
  judge: ({ expect }) => expect(othersKept).toConform('no end of other connections', ({ lost }) => lost),
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
    async observe({ service, probe }) {
      const view = await probe(idle);
      const forMs = service.websocket?.keepsIdleMs ?? IDLE_MS;
      const { unaskedEnd, closeCode } = view;
      // How long a run lasts is no matter of the service.
      const seen =
        unaskedEnd === null || unaskedEnd.atMs >= forMs ? { keptMs: forMs } : { closedWith: closeCode };
      if (unaskedEnd === null) return { seen, note: `kept for at least ${inWords(lastedMs(view))}` };
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
    grounds: [practice('documented idle time')],
    applies: [keepsIdle],
    limitMs: 200_000,
    judge: ({ expect, service }) =>
      expect(idle)
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
    judge: ({ expect }) =>
      expect(idle)
        .where(isAsked, 'the service sent no heartbeat while it was looked at')
        .toConform('an open connection', (view) => {
          if (!isForHeartbeat(view)) return null;
          const { unaskedEnd, serverClose } = view;
          const reason = serverClose?.reason ? ` ${JSON.stringify(serverClose.reason)}` : '';
          return `the close code ${serverClose?.code}${reason} after ${inWords(unaskedEnd?.atMs ?? 0)}`;
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
    judge: ({ expect }) =>
      expect(idle)
        .where((view) => activityTimeoutMs(view) !== null, 'no activity_timeout came on this connection')
        .toConform('an open connection', (view) => {
          const silenceMs = silenceBeforeEndMs(view);
          const allowedMs = activityTimeoutMs(view) ?? 0;
          if (silenceMs === null || silenceMs >= allowedMs || !isForSilence(view)) return null;
          const { serverClose } = view;
          const how =
            serverClose === null ? 'the end of TCP' : `the close code ${serverClose.code ?? 'none'}`;
          return `${how} after ${inWords(silenceMs)} of ${inWords(allowedMs)}`;
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

/** It has sent heartbeats above the frames, and each was answered. */
function isAsked({ heartbeats }: ConversationView): boolean {
  return heartbeats.length > 0 && heartbeats.every(({ isAnswered }) => isAnswered);
}

/** It ended because nobody was there, as it says, or as an error upon the answer. */
function isForHeartbeat({ unaskedEnd, serverClose, heartbeats, dialect }: ConversationView): boolean {
  if (unaskedEnd === null || serverClose === null) return false;
  const { code, reason } = serverClose;
  if ((dialect === 'pusher' && code === PONG_NOT_RECEIVED) || MISSED.test(reason ?? '')) return true;
  const [last = 0, before = 0] = heartbeats.map(({ atMs }) => atMs).toReversed();
  return ERRORS.includes(code) && unaskedEnd.atMs - last <= 1.5 * (last - before);
}

/** It says that it ended for want of a word, or ended without one. Whoever restarts, or is full, says something else. */
function isForSilence({ serverClose }: ConversationView): boolean {
  return serverClose === null || serverClose.code === INACTIVE || SILENT.test(serverClose.reason ?? '');
}

function isExplained(code: number | null): boolean {
  return REASONS.includes(code) || (code !== null && code >= OF_APPLICATIONS);
}

/** It has sent Pings, and each was answered. */
function isPinged({ pingTimes, clientFrames }: ConversationView): boolean {
  const pongs = clientFrames.filter(({ frame }) => frame.opcode === OPCODE.pong).length;
  return pingTimes.length > 0 && pongs >= pingTimes.length;
}

/** Not much later than the next Ping was due: the answer to the last one cannot have counted. */
function isSoonAfterPing({ pingTimes, unaskedEnd }: ConversationView): boolean {
  const [last = 0, before = 0] = pingTimes.toReversed();
  return unaskedEnd !== null && unaskedEnd.atMs - last <= 1.5 * (last - before);
}

function timesOf(what: string, timesMs: readonly number[]): string | null {
  return timesMs.length === 0 ? null : `${what} after ${timesMs.slice(0, 5).join(', ')} ms`;
}

/** Up to the Close of ours. */
function lastedMs({ clientClose, conversation }: ConversationView): number {
  return clientClose?.atMs ?? conversation.timing.durationMs;
}

function inWords(ms: number): string {
  return ms < 2_000 ? `${Math.round(ms)} ms` : `${Math.floor(ms / 1_000)} s`;
}
