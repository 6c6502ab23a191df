import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HarnessError } from '../../base/exit.ts';
import type { MainMessage, WorkerInput } from './channel.ts';
import { compiledCodeEnvironment } from './compiled-code.ts';

const ENTRY = fileURLToPath(new URL('./entry.ts', import.meta.url));
/** Ctrl-C and a closed terminal reach the whole process group; the main process ends its workers itself. */
const LEAVE_SIGNALS = `--import=data:text/javascript,${encodeURIComponent(
  'for (const name of ["SIGINT", "SIGHUP"]) process.on(name, () => {});',
)}`;
/** MiB of each half: most objects die within a window, and would fill the memory of a worker with many services. */
const YOUNG_MEMORY = '--max-semi-space-size=32';
/** Milliseconds for a released worker to exit. */
const RELEASE_MS = 500;

/** Milliseconds to wait for the last output of an ended worker. */
const OUTPUT_MS = 1_000;

interface WorkerEnding {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** V8's last fatal error; null for none. */
  readonly fatalError: string | null;
}

/**
 * A worker process, which ends with this one. It loads its modules at once, so it can be started before there is
 * work.
 */
export class WorkerProcess {
  /** @throws HarnessError if it cannot be started. */
  readonly ended: Promise<WorkerEnding>;
  readonly #child: ChildProcess;

  constructor() {
    const child = fork(ENTRY, [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      serialization: 'advanced',
      execArgv: [LEAVE_SIGNALS, YOUNG_MEMORY],
      env: { ...process.env, ...compiledCodeEnvironment() },
    });
    this.#child = child;
    const output = new WorkerOutput();
    for (const stream of [child.stdout, child.stderr]) stream?.pipe(output, { end: false });
    const outlived = outlivedBy(child);
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    this.ended = once(child, 'exit').then(
      async ([code, signal]) => {
        outlived();
        // Its own children may still hold the streams.
        await Promise.race([closed, pause(OUTPUT_MS, undefined, { ref: false })]);
        for (const stream of [child.stdout, child.stderr]) stream?.destroy();
        return { code, signal, fatalError: output.fatalError() };
      },
      (error: unknown) => {
        throw new HarnessError(`a worker could not be started: ${String(error)}`, { cause: error });
      },
    );
    // Its end matters only if it has work.
    this.ended.catch(() => undefined);
  }

  /** @param heard is called with each later message, one or several at a time. */
  begin(work: WorkerInput, heard: (message: unknown) => void): void {
    this.#child.on('message', (said) => {
      for (const message of [said].flat()) heard(message);
    });
    this.tell({ conform: 1, work });
  }

  tell(message: MainMessage): void {
    // Its end is reported otherwise.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  release(): void {
    this.tell({ conform: 1, over: true });
    setTimeout(() => this.end(), RELEASE_MS).unref();
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

/** The first worker of a run, started ahead. */
export function workerAhead(): { take(): WorkerProcess; release(): void } {
  let waiting: WorkerProcess | null = new WorkerProcess();
  return {
    take() {
      const worker = waiting ?? new WorkerProcess();
      waiting = null;
      return worker;
    },
    release: () => waiting?.end(),
  };
}

/**
 * A looping worker does not notice the end of this process, so a shell waits for it. Windows ends children itself;
 * elsewhere, without a shell, a looping worker remains. @returns a function to call after the end of the worker.
 */
function outlivedBy({ pid }: ChildProcess): () => void {
  if (pid === undefined || process.platform === 'win32') return () => undefined;
  const shell = spawn('/bin/sh', ['-c', `trap '' INT HUP TERM; read -r over || kill -9 ${pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  return () => void shell.stdin.end('over\n');
}

/** Octets kept of the end of its output. */
const KEPT = 64 * 1024;
/** The beginning of V8's line with the reason. */
const FATAL = /^FATAL ERROR: (.+)$/gm;

/**
 * Collects output outside the channel, so that it neither mixes with stdout nor shows unredacted text. Only the end
 * is kept, for the reason of a crash.
 */
class WorkerOutput extends Writable {
  #end = Buffer.alloc(0);

  override _write(octets: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#end = Buffer.concat([this.#end, octets]).subarray(-KEPT);
    done();
  }

  /** The last fatal error of V8, such as out of memory; null for none. */
  fatalError(): string | null {
    return [...this.#end.toString('latin1').matchAll(FATAL)].at(-1)?.[1] ?? null;
  }
}
