import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../base/thrown.ts';

const POLL_MS = 40;

/** Environment variable of the program and of all that it starts. */
export const MARK = 'CONFORM_START';

/** A program in its own process group, and everything that it started. */
export interface ProcessGroup {
  readonly leader: number;
  /** The value of its `MARK`. On Linux it also identifies processes that left the group (`setsid`), by proc_pid_environ(5). */
  readonly mark: string;
}

/** Sends a signal to every process of the group. Returns whether there was one. */
export function signalGroup(group: ProcessGroup, signal: NodeJS.Signals | 0): boolean {
  const reached = [process.platform === 'win32' ? group.leader : -group.leader, ...strays(group)].map((id) =>
    signalProcess(id, signal),
  );
  return reached.includes(true);
}

/** To a process, or to a group by its negative number. Returns whether there was one. */
export function signalProcess(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(id, signal);
    return true;
  } catch (error) {
    const code = codeOf(error);
    // EPERM: there is one, of another user by now.
    if (code === 'ESRCH' || code === 'EPERM') return code === 'EPERM';
    throw error;
  }
}

/** Asks the group to end, and kills the rest after `graceMs`. */
export async function endGroup(group: ProcessGroup, graceMs: number): Promise<void> {
  if (!signalGroup(group, 'SIGTERM')) return;
  for (const until = performance.now() + graceMs; performance.now() < until; ) {
    await pause(POLL_MS);
    // The first still counts a process that has ended but was not waited for; the second does not.
    if (!signalGroup(group, 0) || groupRuns(group) === false) return;
  }
  signalGroup(group, 'SIGKILL');
}

/** A process by proc_pid_stat(5), on Linux. */
interface ProcessStat {
  /** `Z`: it has ended, and its parent has not waited for it, which may take for ever. */
  readonly state: string;
  readonly group: number;
  /** Clock ticks since the machine started: with the id it identifies one process. */
  readonly started: string;
}

/** null if there is no such process, and on other systems. */
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

/** Whether a process of the group still runs; null if unknown. */
function groupRuns(group: ProcessGroup): boolean | null {
  if (process.platform !== 'linux') return null;
  const runs = (pid: number) => {
    const stat = processStat(pid);
    return stat?.group === group.leader && !hasEnded(stat);
  };
  return processes().some(runs) || strays(group).length > 0;
}

/** Processes with its mark in another group. A process that has ended has no mark. */
export function strays({ leader, mark }: ProcessGroup): readonly number[] {
  const carried = `${MARK}=${mark}`;
  return processes().filter(
    (pid) => environmentOf(pid).split('\0').includes(carried) && processStat(pid)?.group !== leader,
  );
}

/** Linux only: empty elsewhere. */
function processes(): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

/** Empty for processes of other users, and for one that has ended. */
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
