import { readdirSync, readFileSync } from 'node:fs';

/** What Linux tells of a process, from proc_pid_stat(5). */
export interface ProcessStat {
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
export function groupRuns(group: number): boolean | null {
  if (process.platform !== 'linux') return null;
  return readdirSync('/proc').some((name) => {
    const stat = /^\d+$/.test(name) ? processStat(Number(name)) : null;
    return stat?.group === group && !hasEnded(stat);
  });
}

export function hasEnded({ state }: ProcessStat): boolean {
  return state === 'Z' || state === 'X';
}
