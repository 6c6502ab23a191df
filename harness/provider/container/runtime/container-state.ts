import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { LogCapture } from '../../log-capture.ts';
import type { Docker } from './runtime.ts';
import { within } from './within.ts';

export type Container = ReturnType<Docker['getContainer']>;

interface ContainerState {
  /** How it ended, such as `the container exited with code 1`; null when it has not. */
  readonly ending: string | null;
  /** By its image's HEALTHCHECK; null where there is none. */
  readonly health: string | null;
}

const REQUEST_MS = 2_000;
const POLL_MS = 50;

/** Writes down what it writes, from its first octet on: begun before it starts. */
export async function followOutput(docker: Docker, container: Container, logs: LogCapture): Promise<void> {
  const stream = await container.attach({ stream: true, stdout: true, stderr: true });
  // That the runtime breaks off ends the following, not the run.
  stream.on('error', () => undefined);
  docker.modem.demuxStream(stream, sink(logs), sink(logs));
}

function sink(logs: LogCapture): Writable {
  const take = logs.writer();
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      take(chunk);
      done();
    },
  });
}

/** Resolves with how it ended, if it does of its own; never when it is given up. */
export async function endingOf(container: Container, called: string, givenUp: AbortSignal): Promise<string> {
  while (!givenUp.aborted) {
    try {
      const { State } = await container.inspect();
      if (State.Status !== 'created') break;
    } catch {
      // It is for whoever started it to find out that it is gone.
    }
    await pause(POLL_MS);
  }
  while (!givenUp.aborted) {
    try {
      // Resolves at once when it has ended already.
      await container.wait();
      const state = await stateOf(container, called);
      if (state !== null && state.ending !== null && !givenUp.aborted) return state.ending;
    } catch {
      // The runtime is gone, or has broken off.
    }
    await pause(POLL_MS);
  }
  return new Promise(() => undefined);
}

/** null when the runtime does not tell. */
export async function stateOf(container: Container, called: string): Promise<ContainerState | null> {
  try {
    const { State } = await within(container.inspect(), REQUEST_MS, 'the container runtime did not answer');
    return { ending: describe(State, called), health: State.Health?.Status ?? null };
  } catch {
    return null;
  }
}

interface RuntimeState {
  readonly Status: string;
  readonly ExitCode: number;
  readonly OOMKilled: boolean;
}

function describe({ Status, ExitCode, OOMKilled }: RuntimeState, called: string): string | null {
  if (Status !== 'exited' && Status !== 'dead') return null;
  return `${called} exited with code ${ExitCode}${OOMKilled ? ', out of memory' : ''}`;
}
