import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../base/thrown.ts';

const POLL_MS = 40;

/** Everything that was started with it carries this variable, wherever it has gone to since. */
export const MARK = 'CONFORM_START';

/** A program that was started in a process group of its own, and all that it started. */
export interface ProcessGroup {
  readonly leader: number;
  /** The value of its `MARK`. On Linux it tells also those that left the group (`setsid`), by proc_pid_environ(5). */
  readonly mark: string;
}

/** Sends a signal to every process of it. Returns whether there was one to get it. */
export function signalGroup(group: ProcessGroup, signal: NodeJS.Signals | 0): boolean {
  const told = [process.platform === 'win32' ? group.leader : -group.leader, ...strays(group)].map((id) =>
    signalProcess(id, signal),
  );
  return told.includes(true);
}

function signalProcess(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(id, signal);
    return true;
  } catch (error) {
    const code = codeOf(error);
    // EPERM: there is one, which has become somebody else's.
    if (code === 'ESRCH' || code === 'EPERM') return code === 'EPERM';
    throw error;
  }
}

/** Asks the group to end, and ends what is left of it after `graceMs`. */
export async function endGroup(group: ProcessGroup, graceMs: number): Promise<void> {
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
function groupRuns(group: ProcessGroup): boolean | null {
  if (process.platform !== 'linux') return null;
  const runs = (pid: number) => {
    const stat = processStat(pid);
    return stat?.group === group.leader && !hasEnded(stat);
  };
  return processes().some(runs) || strays(group).length > 0;
}

/** Those that carry its mark in another group. One that has ended carries none. */
function strays({ leader, mark }: ProcessGroup): readonly number[] {
  const carried = `${MARK}=${mark}`;
  return processes().filter(
    (pid) => environmentOf(pid).split('\0').includes(carried) && processStat(pid)?.group !== leader,
  );
}

/** Linux only: elsewhere none is known. */
function processes(): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

/** Empty for those of others, and for one that has ended. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

export function hasEnded({ state }: ProcessStat): boolean {
  return state === 'Z' || state === 'X';
}
