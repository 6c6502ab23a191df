import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HarnessError } from '../../base/exit.ts';
import { asList, isJsonObject } from '../../base/json-text.ts';
import { childEnvironment } from './pact-process.ts';
import { isRecorderReply, type PactScript, type RecorderOrder } from './recording.ts';

/** Puts one call of the script to the mock server at this address. Rejects when it is not answered as expected. */
type MakeCall = (index: number, url: string) => Promise<void>;

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

/**
 * A recorded pact as it is kept: interactions in the order of the script, keys sorted, and nothing that depends on the
 * version of Pact.
 *
 * @throws HarnessError when it does not hold exactly the interactions of the script.
 */
function inNormalForm(text: string, { calls, messages }: PactScript): string {
  const pact: unknown = JSON.parse(text);
  const order = [...calls, ...messages].map(({ description }) => description);
  if (!isJsonObject(pact) || !('interactions' in pact) || !('metadata' in pact)) {
    throw new HarnessError('Pact recorded something that is no pact');
  }
  const { interactions, metadata } = pact;
  const found = asList(interactions).filter(isDescribed);
  const placed = order.map((description) => found.find((each) => each.description === description));
  if (placed.includes(undefined) || found.length !== order.length) {
    throw new HarnessError(`Pact recorded ${found.length} interactions in place of ${order.length}`);
  }
  const normal = sorted({ ...pact, interactions: placed, metadata: specificationOnly(metadata) });
  return `${JSON.stringify(normal, null, 2)}\n`;
}

function isDescribed(interaction: unknown): interaction is { readonly description: unknown } {
  return isJsonObject(interaction) && 'description' in interaction;
}

function specificationOnly(metadata: unknown): unknown {
  return isJsonObject(metadata) && 'pactSpecification' in metadata
    ? { pactSpecification: metadata.pactSpecification }
    : {};
}

/** By code units, so that no locale has a say. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
