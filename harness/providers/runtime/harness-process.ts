import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from '../../base/thrown.ts';
import { hasEnded, processStat } from '../process-group.ts';

/** One process among those of all machines that share a container runtime, as far as the system tells. */
interface HarnessProcess {
  readonly host: string;
  /** Of this start of the machine; '-' where it cannot be told. */
  readonly boot: string;
  /** Process ids mean something within it only; '-' where it cannot be told. */
  readonly namespace: string;
  readonly pid: number;
  /** Ids are given again: the process with this id that started then. */
  readonly started: string;
}

/** No run lasts so long: whose harness cannot be asked about is taken for left behind after it. */
const LONGEST_RUN_MS = 24 * 3_600_000;

/** This process, as a label says it: `host/boot/namespace/pid/started`. */
export function ownLabel(): string {
  const { host, boot, namespace, pid, started } = describe(process.pid);
  return [host, boot, namespace, pid, started].join('/');
}

/** Whether the process of a label has ended; `createdMs` (Unix time) is when it set the label. */
export function isGone(label: string, createdMs: number, nowMs: number): boolean {
  const [host = '', boot = '', namespace = '', pid = '', started = ''] = label.split('/');
  if (!/^\d+$/.test(pid)) return false;
  const here = describe(Number(pid));
  if (host === here.host && boot !== here.boot) return true;
  if (host !== here.host || namespace !== here.namespace) return nowMs - createdMs > LONGEST_RUN_MS;
  return started === '-' ? !runs(Number(pid)) : started !== here.started;
}

function describe(pid: number): HarnessProcess {
  return {
    host: hostname(),
    boot: attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: attempt(() => readlinkSync('/proc/self/ns/pid')),
    pid,
    started: startOf(pid),
  };
}

function startOf(pid: number): string {
  const stat = processStat(pid);
  return stat === null || hasEnded(stat) ? '-' : stat.started;
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return '-';
  }
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
