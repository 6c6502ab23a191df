import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ProcessGroup } from '../process-group.ts';

/**
 * What was started outlives a harness that is killed. So a small process of its own, the reaper, watches the harness
 * through a pipe, and when that closes, for whatever reason, ends what it was handed and has not been relieved of.
 */
export type Charge =
  | { readonly kind: 'group'; readonly group: ProcessGroup }
  /** The containers and networks that carry the label of one start. */
  | { readonly kind: 'containers'; readonly startId: string };

/** One line of what it is told. */
export type Instruction = { readonly [Order in 'keep' | 'release']?: Charge };

const PROGRAM = fileURLToPath(new URL('./reaper-process.ts', import.meta.url));
/** What a container runtime is found by; nothing else of the environment goes there. */
const ENVIRONMENT = /^(PATH|HOME|TMPDIR|XDG_RUNTIME_DIR|DOCKER_.*|TESTCONTAINERS_.*)$/;

interface Reaper {
  readonly pipe: Writable;
  charges: number;
}

let reaper: Reaper | null = null;

/** Has the reaper end the charge should this process end first. Returns what to call when it has ended. */
export function handOver(charge: Charge): () => void {
  const current = reaper ?? startReaper();
  reaper = current;
  current.charges += 1;
  tell(current, { keep: charge });
  let released = false;
  return () => {
    if (released) return;
    released = true;
    current.charges -= 1;
    tell(current, { release: charge });
    if (current.charges > 0) return;
    current.pipe.end();
    if (reaper === current) reaper = null;
  };
}

function startReaper(): Reaper {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => ENVIRONMENT.test(name)));
  const child: ChildProcess & { stdin: Writable } = spawn(process.execPath, [PROGRAM], {
    // Out of the reach of what ends the harness: Ctrl-C, a closed terminal, a kill of its process group.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env,
    cwd: '/',
  });
  // Without it a killed run leaves something behind, which the next run finds: no reason to fail this one.
  const withoutIt = () => undefined;
  child.on('error', withoutIt);
  child.stdin.on('error', withoutIt);
  child.unref();
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return { pipe: child.stdin, charges: 0 };
}

function tell({ pipe }: Reaper, instruction: Instruction): void {
  if (pipe.writable) pipe.write(`${JSON.stringify(instruction)}\n`);
}
