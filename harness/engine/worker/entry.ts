import { Console } from 'node:console';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import pLimit from 'p-limit';
import { reasonOf } from '../../base/thrown.ts';
import { loadSuites, SUITES_URL } from '../selection/selection.ts';
import { SIMULATION_ENVIRONMENT, SpareTime } from './capacity.ts';
import { isSimulated, type MainMessage, type WorkerInput, type WorkerMessage } from './channel.ts';
import { openWorker } from './worker.ts';

/**
 * The program of a worker: some services side by side, each until its last check. Outcomes go to the journal, faults
 * of the harness to the main process.
 */
const tell = (message: WorkerMessage) => process.send?.(message);
const tellOf = (type: 'fault' | 'stray', error: unknown) =>
  tell({ conform: 1, type, error: reasonOf(error) });
const leave = process.exit.bind(process);
const cancelled = new AbortController();

process.on('disconnect', () => leave());
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => tellOf('stray', error));
process.exit = (code) => {
  throw new Error(`process.exit unexpectedly called with "${code}"`);
};
const printed = new Writable({
  decodeStrings: false,
  write(text: string, _encoding, done) {
    tell({ conform: 1, type: 'printed', text });
    done();
  },
});
globalThis.console = new Console({ stdout: printed, stderr: printed });

process.on('message', (message: MainMessage) => {
  if ('work' in message) void work(message.work);
  if ('cancelled' in message) cancelled.abort();
  if ('over' in message) leave();
});

// Most work needs these modules.
loadSuites(SUITES_URL).catch(() => undefined);

async function work(input: WorkerInput): Promise<void> {
  // Before the first work of the threads, which reads it.
  if (input.services.some(isSimulated)) Object.assign(process.env, SIMULATION_ENVIRONMENT);
  try {
    const worker = await openWorker(input);
    const limited = pLimit(input.sideBySide);
    const { signal } = cancelled;
    const spare = new SpareTime();
    const judged = worker.services.map(({ run }) =>
      limited(async () => {
        await spare.turn();
        if (!signal.aborted) await run(signal);
      }).catch((error: unknown) => tellOf('fault', error)),
    );
    if (!signal.aborted) await Promise.race([Promise.all(judged), once(signal, 'abort')]);
    await worker.finish();
  } catch (error) {
    tellOf('fault', error);
  }
  tell({ conform: 1, type: 'done' });
}
