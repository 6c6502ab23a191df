import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { LogCapture } from '../log-capture.ts';
import { type Docker, REQUEST_MS, within } from './runtime.ts';

export type Container = ReturnType<Docker['getContainer']>;

interface ContainerState {
  /** How it ended, such as `the container exited with code 1`; null while it runs. */
  readonly ending: string | null;
  /** By its image's HEALTHCHECK; null if none. */
  readonly health: string | null;
}

const POLL_MS = 50;

/** Captures its output from the first octet: called before it starts. */
export async function followOutput(docker: Docker, container: Container, logs: LogCapture): Promise<void> {
  const stream = await container.attach({ stream: true, stdout: true, stderr: true });
  // If the runtime disconnects, the capture ends, not the run.
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

/** Resolves with how it ended by itself; never when it is given up. */
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
      // The caller notices that it is gone.
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
      // The runtime is gone or has disconnected.
    }
    await pause(POLL_MS);
  }
  return new Promise(() => undefined);
}

/** null if the runtime does not say within `ms`. */
export async function stateOf(
  docker: Docker,
  container: Container,
  called: string,
  ms = REQUEST_MS,
): Promise<ContainerState | null> {
  try {
    const { State } = await within(container.inspect(), ms, 'the container runtime did not answer');
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

/** Exit code after SIGKILL. */
const BY_SIGKILL = 137;
/** Milliseconds by which the runtime may report the reason after the end. */
const HEARD_LATER_MS = 1_000;

/** A busy runtime may record the end without its reason, but still sends the event. */
async function ranOutOfMemory(docker: Docker, { id }: Container): Promise<boolean> {
  const filters = { container: [id], event: ['oom'] };
  // By our own clock: the runtime's may be another.
  const options = { since: 0, filters, abortSignal: AbortSignal.timeout(HEARD_LATER_MS) };
  try {
    for await (const _ of await docker.getEvents(options)) return true;
  } catch {
    // Nothing was reported in time.
  }
  return false;
}
