import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ProcessGroup } from '../process-group.ts';

/**
 * Containers and commands outlive a killed harness. So a small separate process, the reaper, watches the harness through
 * a pipe. When the pipe closes, for any reason, it ends everything it was given and that was not released.
 */
export type Charge =
  | { readonly kind: 'group'; readonly group: ProcessGroup }
  /** The containers and networks that carry the label of one start. */
  | { readonly kind: 'containers'; readonly startId: string };

/** One line of its input. */
export type Instruction = { readonly [Order in 'keep' | 'release']?: Charge };

const PROGRAM = fileURLToPath(new URL('./reaper-process.ts', import.meta.url));
/** Variables that locate a container runtime; the reaper gets no others. */
const ENVIRONMENT = /^(PATH|HOME|TMPDIR|XDG_RUNTIME_DIR|DOCKER_.*|TESTCONTAINERS_.*)$/;

interface Reaper {
  readonly pipe: Writable;
  charges: number;
}

let reaper: Reaper | null = null;

/** The reaper ends the charge if this process ends first. Returns a function that releases it. */
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
    // Not reached by Ctrl-C, a closed terminal or a kill of the harness's process group.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env,
    cwd: '/',
  });
  // Without a reaper the leftovers of a killed run are found by the next: no reason to fail this one.
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
