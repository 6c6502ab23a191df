import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { LogCapture } from '../log-capture.ts';
import { type Docker, within } from './runtime.ts';

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
export async function endingOf(
  docker: Docker,
  container: Container,
  called: string,
  givenUp: AbortSignal,
): Promise<string> {
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
      const state = await stateOf(docker, container, called);
      if (state !== null && state.ending !== null && !givenUp.aborted) return state.ending;
    } catch {
      // The runtime is gone, or has broken off.
    }
    await pause(POLL_MS);
  }
  return new Promise(() => undefined);
}

/** null when the runtime does not tell. */
export async function stateOf(
  docker: Docker,
  container: Container,
  called: string,
): Promise<ContainerState | null> {
  try {
    const { State } = await within(container.inspect(), REQUEST_MS, 'the container runtime did not answer');
    const ending = HAS_ENDED.includes(State.Status) ? await endingBy(State, docker, container, called) : null;
    return { ending, health: State.Health?.Status ?? null };
  } catch {
    return null;
  }
}

interface RuntimeState {
  readonly Status: string;
  readonly ExitCode: number;
  readonly OOMKilled: boolean;
}

const HAS_ENDED: readonly string[] = ['exited', 'dead'];

async function endingBy(
  { ExitCode, OOMKilled }: RuntimeState,
  docker: Docker,
  container: Container,
  called: string,
): Promise<string> {
  const isOutOfMemory = OOMKilled || (ExitCode === BY_SIGKILL && (await ranOutOfMemory(docker, container)));
  return `${called} exited with code ${ExitCode}${isOutOfMemory ? ', out of memory' : ''}`;
}

/** The exit code of what was ended by SIGKILL. */
const BY_SIGKILL = 137;
/** How much later than of an ending the runtime may hear of its reason, in ms. */
const HEARD_LATER_MS = 1_000;

/** A busy runtime that hears of an ending first keeps no reason with it, but tells of it all the same. */
async function ranOutOfMemory(docker: Docker, { id }: Container): Promise<boolean> {
  const filters = { container: [id], event: ['oom'] };
  // By our own clock: the runtime's may be another.
  const options = { since: 0, filters, abortSignal: AbortSignal.timeout(HEARD_LATER_MS) };
  try {
    for await (const _ of await docker.getEvents(options)) return true;
  } catch {
    // It has told nothing by then.
  }
  return false;
}
