import { OPCODE } from './frame.ts';
import { ConversationView } from './view.ts';

/** Close codes with which a server that has pinged may end a connection all the same: they give another reason than silence. */
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

/** A conversation in which nothing was said but what the server's own Pings call for, as checks read it. */
export class IdleView extends ConversationView {
  /** How long it lasted, up to the Close of ours, in ms. */
  get lastedMs(): number {
    return this.clientClose?.atMs ?? this.conversation.timing.durationMs;
  }

  /** The server has sent Pings, and each was answered. */
  get arePingsAnswered(): boolean {
    const pongs = this.clientFrames.filter(({ frame }) => frame.opcode === OPCODE.pong).length;
    return this.pingTimes.length > 0 && pongs >= this.pingTimes.length;
  }

  /** The server has sent heartbeats above the frames, and each was answered. */
  get areHeartbeatsAnswered(): boolean {
    return this.heartbeats.length > 0 && this.heartbeats.every(({ isAnswered }) => isAnswered);
  }

  /** It ended as if the last Ping had not been answered: by then, and for no other reason that it gives. */
  get isEndedForPing(): boolean {
    const { unaskedEnd, pingTimes } = this;
    if (unaskedEnd === null) return false;
    const { code, atMs } = unaskedEnd;
    const isExplained = REASONS.includes(code) || (code !== null && code >= OF_APPLICATIONS);
    return !isExplained && isSoonAfter(pingTimes, atMs);
  }

  /** It ended for want of an answer, as it says, or as an error upon the answer to a heartbeat. */
  get isEndedForHeartbeat(): boolean {
    const { unaskedEnd, serverClose, heartbeats } = this;
    if (unaskedEnd === null || serverClose === null) return false;
    const { code, reason } = serverClose;
    const isOfPusher = this.dialect === 'pusher' && code === PONG_NOT_RECEIVED;
    if (isOfPusher || MISSED.test(reason ?? '')) return true;
    const times = heartbeats.map(({ atMs }) => atMs);
    return ERRORS.includes(code) && isSoonAfter(times, unaskedEnd.atMs);
  }

  /** It ended for want of a word, as it says, or without one. A server that restarts, or is full, says something else. */
  get isEndedForSilence(): boolean {
    const { unaskedEnd, serverClose } = this;
    if (unaskedEnd === null) return false;
    return serverClose === null || serverClose.code === INACTIVE || SILENT.test(serverClose.reason ?? '');
  }

  /** How long the client had said nothing when the server ended the connection, in ms; null where it did not. */
  get silenceBeforeEndMs(): number | null {
    const { unaskedEnd } = this;
    if (unaskedEnd === null) return null;
    const last = this.clientFrames.findLast(({ atMs }) => atMs < unaskedEnd.atMs);
    return unaskedEnd.atMs - (last?.atMs ?? 0);
  }

  /** How long the server lets a Pusher client be silent before it is to ping, in ms; null where it does not say. */
  get activityTimeoutMs(): number | null {
    const [seconds] = this.pusherEvents.flatMap(({ data }) => data?.activity_timeout ?? []);
    return typeof seconds === 'number' && seconds > 0 ? 1_000 * seconds : null;
  }
}

/** Not much later than the next of these was due: the answer to the last one cannot have counted. */
function isSoonAfter(timesMs: readonly number[], endMs: number): boolean {
  const [last = 0, before = 0] = timesMs.toReversed();
  return endMs - last <= 1.5 * (last - before);
}
