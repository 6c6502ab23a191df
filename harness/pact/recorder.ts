import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HarnessError } from '../exit.ts';
import { childEnvironment } from './child-environment.ts';
import { inNormalForm } from './normal-form.ts';
import { isRecorderReply, type PactScript, type RecorderOrder } from './recording.ts';

/** Puts one call of the script to the mock server at this address. Rejects when it is not answered as expected. */
export type MakeCall = (index: number, url: string) => Promise<void>;

const RECORD_MS = 60_000;

/**
 * Records a pact (specification 4): each call of the script is made against Pact's mock server, so the file says what
 * a client really sent. The same script gives the same octets, whatever version of Pact wrote them.
 *
 * @throws HarnessError when Pact does not record it.
 */
export async function recordPact(script: PactScript, makeCall: MakeCall): Promise<string> {
  // A folder of its own: Pact merges what it records into what lies there.
  const folder = await mkdtemp(join(tmpdir(), 'conform-pact-'));
  try {
    await runRecorder(script, folder, makeCall);
    const [file] = await readdir(folder);
    if (file === undefined) throw new HarnessError('Pact recorded nothing');
    return inNormalForm(await readFile(join(folder, file), 'utf8'), script);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runRecorder(script: PactScript, folder: string, makeCall: MakeCall): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const module = fileURLToPath(new URL('./record-child.ts', import.meta.url));
  const child = fork(module, [], {
    cwd: dirname(module),
    execArgv: [],
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const tell = (order: RecorderOrder) => child.send(order);
  const fail = (reason: string) => reject(new HarnessError(`the pact could not be recorded: ${reason}`));
  const timer = setTimeout(() => fail(`nothing after ${RECORD_MS / 1000} s`), RECORD_MS);
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code, signal) => fail(`Pact ended ${signal ? `by ${signal}` : `with ${code}`}`));
  child.on('message', (reply: unknown) => {
    if (!isRecorderReply(reply)) return;
    if (reply.type === 'recorded') resolve();
    else if (reply.type === 'failed') fail(reply.reason);
    else makeCall(reply.index, reply.url).then(() => tell({ type: 'called' }), reject);
  });
  tell({ type: 'record', script, folder });
  return promise.finally(() => {
    clearTimeout(timer);
    end(child);
  });
}

function end(child: ChildProcess): void {
  child.removeAllListeners();
  child.kill('SIGKILL');
}
