import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HarnessError } from '../../base/exit.ts';
import type { MainMessage, WorkerInput } from './channel.ts';
import { compiledCodeEnvironment } from './compiled-code.ts';

const ENTRY = fileURLToPath(new URL('./entry.ts', import.meta.url));
/** Ctrl-C and a closed terminal reach the whole process group: the workers leave it to the main process to wind down. */
const LEAVE_SIGNALS = `--import=data:text/javascript,${encodeURIComponent(
  'for (const name of ["SIGINT", "SIGHUP"]) process.on(name, () => {});',
)}`;
/**
 * In MiB, of each half: most of what a service is asked and answers is of no use any more within a window, and a worker of
 * many would let it lie about in as much memory as Node would give it.
 */
const YOUNG_MEMORY = '--max-semi-space-size=32';
/** A worker that is let go and has not gone by then is ended, in ms. */
const RELEASE_MS = 500;

/** The last words of one that has ended are waited for so long, in ms. */
const OUTPUT_MS = 1_000;

/** How a worker ended. */
interface WorkerEnding {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What V8 last said of its end; null where it said nothing. */
  readonly fatalError: string | null;
}

/**
 * A worker: a process of its own, which ends with this one whatever becomes of either. It loads what it needs at once,
 * so that one which is started before there is work is ready when there is.
 */
export class WorkerProcess {
  /** @throws HarnessError where there is no process to be had. */
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
        // What it started may still hold the streams.
        await Promise.race([closed, pause(OUTPUT_MS, undefined, { ref: false })]);
        for (const stream of [child.stdout, child.stderr]) stream?.destroy();
        return { code, signal, fatalError: output.fatalError() };
      },
      (error: unknown) => {
        throw new HarnessError(`a worker could not be started: ${String(error)}`, { cause: error });
      },
    );
    // One that is never given work fails nobody.
    this.ended.catch(() => undefined);
  }

  /** @param heard is called with whatever it says from now on, be it one message or several at once. */
  begin(work: WorkerInput, heard: (message: unknown) => void): void {
    this.#child.on('message', (said) => {
      for (const message of [said].flat()) heard(message);
    });
    this.tell({ conform: 1, work });
  }

  tell(message: MainMessage): void {
    // One that is gone is told of by its end.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** It has nothing more to do. */
  release(): void {
    this.tell({ conform: 1, over: true });
    setTimeout(() => this.end(), RELEASE_MS).unref();
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

/** The first worker of a run, started before it is known whether there is a run. */
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
 * A worker that loops does not notice that this process is gone, so a shell waits for that. Windows ends children by
 * itself; elsewhere, without a shell, only one that loops stays behind.
 *
 * @returns what to call when the worker has ended.
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

/** Octets of the end of the output that are kept. */
const KEPT = 64 * 1024;
/** How V8 begins the line in which it says why it gives up. */
const FATAL = /^FATAL ERROR: (.+)$/gm;

/**
 * Takes what a worker writes past all channels, so that it neither mixes with the verdict on stdout nor shows what
 * nobody has redacted. Only the end is kept: it tells why a worker died.
 */
class WorkerOutput extends Writable {
  #end = Buffer.alloc(0);

  override _write(octets: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#end = Buffer.concat([this.#end, octets]).subarray(-KEPT);
    done();
  }

  /** The last fatal error that V8 told of (out of memory, for one); null when it told of none. */
  fatalError(): string | null {
    return [...this.#end.toString('latin1').matchAll(FATAL)].at(-1)?.[1] ?? null;
  }
}
