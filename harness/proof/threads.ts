import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Suite } from '../engine/check/check.ts';
import { type ProofCase, proofConfigs } from './cases.ts';
import { type ProvenCase, prove } from './proof.ts';

/** Cases that are worth a thread of their own. */
const WORTH_A_THREAD = 24;

/** What a thread is given: a part of the cases, and where the suites are. */
interface ThreadShare {
  readonly cases: readonly ProofCase[];
  readonly suitesUrl: string;
}

/** Judges the cases in as many threads as there are processors; they come back in the order in which they were given. */
export async function proveInThreads(
  suitesUrl: string,
  cases: readonly ProofCase[],
  onCase: (done: ProvenCase) => void,
): Promise<readonly ProvenCase[]> {
  const threads = Math.min(availableParallelism(), Math.ceil(cases.length / WORTH_A_THREAD));
  const proven = new Map<string, ProvenCase>();
  const parts = Array.from({ length: threads }, (_, thread) =>
    cases.filter((_, at) => at % threads === thread),
  );
  await Promise.all(
    parts.map((part) =>
      inThread({ cases: part, suitesUrl }, (done) => {
        proven.set(keyOf(done), done);
        onCase(done);
      }),
    ),
  );
  return cases.flatMap((each) => proven.get(keyOf(each)) ?? []);
}

function keyOf({ service, kind, name, setting }: ProofCase): string {
  return [service, kind, name, setting].join(' ');
}

/** @throws what the thread throws; an Error when it ends before its time. */
function inThread(part: ThreadShare, onCase: (done: ProvenCase) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: part });
    worker.on('message', onCase);
    worker.on('error', reject);
    worker.on('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`a thread of the proof ended with ${code}`));
    });
  });
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const { cases, suitesUrl } = workerData as ThreadShare;
  const { suites } = (await import(suitesUrl)) as { readonly suites: readonly Suite[] };
  await prove(suites, cases, await proofConfigs(), (done) => port.postMessage(done));
}
