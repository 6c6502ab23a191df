import { parentPort, workerData } from 'node:worker_threads';
import type { Suite } from '../check/check.ts';
import type { ProofCase } from './cases.ts';
import { proofConfigs } from './configs.ts';
import { prove } from './proof.ts';

/** What a thread is given: a part of the cases, and where the suites are. */
export interface Part {
  readonly cases: readonly ProofCase[];
  readonly suitesUrl: string;
}

const { cases, suitesUrl } = workerData as Part;
const { suites } = (await import(suitesUrl)) as { readonly suites: readonly Suite[] };
await prove(suites, cases, await proofConfigs(), (done) => parentPort?.postMessage(done));
