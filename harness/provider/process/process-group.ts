import { setTimeout as pause } from 'node:timers/promises';
import { groupRuns } from './process-stat.ts';

const POLL_MS = 40;

/** Sends a signal to every process of a group. Returns whether there was one to get it. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(process.platform === 'win32' ? group : -group, signal);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    // EPERM: there is one, which has become somebody else's.
    if (code === 'ESRCH' || code === 'EPERM') return code === 'EPERM';
    throw error;
  }
}

/** Asks the group to end, and ends what is left of it after `graceMs`. */
export async function endGroup(group: number, graceMs: number): Promise<void> {
  if (!signalGroup(group, 'SIGTERM')) return;
  for (const until = performance.now() + graceMs; performance.now() < until; ) {
    await pause(POLL_MS);
    // A process that nobody has asked about since it ended still counts for the first, and not for the second.
    if (!signalGroup(group, 0) || groupRuns(group) === false) return;
  }
  signalGroup(group, 'SIGKILL');
}
