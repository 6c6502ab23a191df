import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { HarnessError, InconclusiveError } from '../../base/exit.ts';
import { freePort } from '../../base/loopback.ts';
import { revealed } from '../../base/secret.ts';
import { type CommandProvider, PORT_PLACEHOLDER } from '../../config/provider/kind.ts';
import { systemClock } from '../../wire/pace/clock.ts';
import { addressOf } from '../../wire/socket/address.ts';
import { dial } from '../../wire/socket/dial.ts';
import { createLogCapture, explained, type LogCapture, withLastLines } from '../log-capture.ts';
import { endGroup, MARK, signalGroup } from '../process-group.ts';
import { type RunningProvider, StartFailure, type StartOptions } from '../provider.ts';
import { awaitReady, httpProbe, logProbe, type ProbeOptions, type ReadinessProbe } from '../readiness.ts';
import { handOver } from './reaper.ts';

/** Milliseconds between the request to end and the kill. */
const GRACE_MS = 1_500;
/** Milliseconds until its exit is reported, after its group has ended. */
const REAP_MS = 500;
/** Milliseconds to read its last output: its children may keep the pipe open. */
const LAST_WORDS_MS = 250;
/** Milliseconds to connect on this machine. */
const CONNECT_MS = 500;

/** Variables that any program needs. The rest of the environment may hold keys of others. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES)$/i;

/**
 * Starts a program of this machine in its own process group, and waits until it is ready.
 *
 * @throws InconclusiveError when it cannot be started, ends, or is not ready in time; it has been ended then.
 */
export async function startCommand(
  config: CommandProvider,
  redact: (text: string) => string,
  options: StartOptions,
): Promise<RunningProvider> {
  const { signal, say } = options;
  const port = config.url.includes(PORT_PLACEHOLDER) ? await freePort() : null;
  const withPort = (text: string) => (port === null ? text : text.replaceAll(PORT_PLACEHOLDER, String(port)));
  const url = withPort(config.url).replace(/\/+$/, '');
  // Otherwise the other one would be judged.
  if (port === null && (await isTaken(url))) {
    throw new InconclusiveError(`something listens at ${url} already, before the command is started`);
  }
  say(redact(`starting ${typeof config.run === 'string' ? config.run : config.run.join(' ')}`));

  const logs = createLogCapture();
  const probe = probeOf(config, url, logs, options);
  const mark = randomUUID();
  const child = launch(config, withPort, { [MARK]: mark, ...(port === null ? {} : { PORT: String(port) }) });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', logs.writer());
  const exited = exitOf(child);
  const group = { leader: await started(child), mark };
  const release = handOver({ kind: 'group', group });

  let stopping: Promise<void> | null = null;
  // Its children may outlive it; once all have ended, its id may be reused by another group.
  let isEmpty = false;
  const emptied = exited.then(() => {
    isEmpty = !signalGroup(group, 0);
    if (isEmpty) release();
  });
  const stop = async () => {
    if (!isEmpty) await endGroup(group, GRACE_MS);
    await Promise.race([emptied, pause(REAP_MS)]);
    release();
  };
  const provider: RunningProvider = {
    kind: 'command',
    url,
    stop() {
      stopping ??= stop();
      return stopping;
    },
    again: () => startCommand(config, redact, options),
    logs: () => redact(logs.text()),
    async ending(patienceMs) {
      const how = await Promise.race([exited, pause(patienceMs, null)]);
      return how === null || stopping !== null ? null : redact(withLastLines(how, logs));
    },
    abandon() {
      if (!isEmpty) signalGroup(group, 'SIGKILL');
    },
  };
  try {
    await awaitReady({
      called: 'the command',
      probe,
      ended: exited,
      timeoutMs: config.timeoutMs,
      signal,
    });
    return provider;
  } catch (error) {
    await provider.stop();
    const why = explained(error, logs);
    throw why instanceof InconclusiveError ? new StartFailure(redact(why.message), redact(logs.text())) : why;
  }
}

function launch(
  { run, cwd, env }: CommandProvider,
  withPort: (text: string) => string,
  given: Readonly<Record<string, string>>,
): ChildProcess {
  const options: SpawnOptions = {
    cwd,
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.test(name))),
      ...Object.fromEntries(Object.entries(env).map(([name, text]) => [name, revealed(text)])),
      ...given,
    },
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  };
  if (typeof run === 'string') return spawn(run, { ...options, shell: true });
  const [program = '', ...args] = run.map(withPort);
  return spawn(program, args, options);
}

/** Its id, once it runs. */
async function started(child: ChildProcess): Promise<number> {
  await new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(new InconclusiveError(`the command could not be started: ${error.code ?? error.message}`));
    });
  });
  if (child.pid === undefined) throw new HarnessError('a process that runs has no id');
  return child.pid;
}

/** Resolves with how it ended, such as `the command exited with code 1`, after its last output is read, or soon after. */
function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      const how =
        code === null ? `the command was ended by ${signal}` : `the command exited with code ${code}`;
      child.once('close', () => resolve(how));
      setTimeout(() => resolve(how), LAST_WORDS_MS).unref();
    });
  });
}

function probeOf(
  { ready }: CommandProvider,
  url: string,
  logs: LogCapture,
  options: ProbeOptions,
): ReadinessProbe {
  if (ready === null) return httpProbe(`${url}/`, 'any', options);
  if (ready.kind === 'http') return httpProbe(`${url}${ready.path}`, ready.status, options);
  return logProbe(ready.text, ready.times, logs);
}

async function isTaken(url: string): Promise<boolean> {
  const { socket } = await dial(
    { ...addressOf(url), secure: false },
    { timeouts: { connectMs: CONNECT_MS }, clock: systemClock },
  );
  socket?.destroy();
  return socket !== null;
}
