import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

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

/** What Linux tells of a process, from proc_pid_stat(5). */
interface ProcessStat {
  /** `Z`: it has ended, and its parent has not asked about it yet, which may take for ever. */
  readonly state: string;
  readonly group: number;
  /** In clock ticks since the start of the machine: with the id it names one process. */
  readonly started: string;
}

/** null when there is no such process, and on other systems. */
export function processStat(pid: number): ProcessStat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', , group = ''] = fields;
    return { state, group: Number(group), started: fields[19] ?? '' };
  } catch {
    return null;
  }
}

/** Whether a process of the group still runs; null where that cannot be told. */
function groupRuns(group: number): boolean | null {
  if (process.platform !== 'linux') return null;
  return readdirSync('/proc').some((name) => {
    const stat = /^\d+$/.test(name) ? processStat(Number(name)) : null;
    return stat?.group === group && !hasEnded(stat);
  });
}

export function hasEnded({ state }: ProcessStat): boolean {
  return state === 'Z' || state === 'X';
}
