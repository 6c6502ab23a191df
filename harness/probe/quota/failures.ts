import { type Probe, probe } from '../../session.ts';
import { NotApplicable } from '../../verdict.ts';
import { served } from '../request/sample.ts';

/** Requests with a wrong key between two good ones. */
const WRONG = 3;

export interface FailuresCounted {
  /** By how much more the quota fell over a good request with wrong ones before it than over one without. */
  readonly taken: number;
  readonly wrong: number;
  readonly evidence: string;
}

/** Whether requests with a wrong key are taken from the quota of the right one. */
export const failuresCounted: Probe<FailuresCounted> = probe('failures-counted', async ({ ask, http }) => {
  await ask(served);
  const first = await http.send({ purpose: 'as documented, before wrong keys' });
  const second = await http.send({ purpose: 'as documented, to see what one request takes' });
  for (let sent = 0; sent < WRONG; sent += 1) {
    await http.send({ purpose: 'with a wrong key', credential: { wrong: 'wrong' } });
  }
  const third = await http.send({ purpose: 'as documented, after wrong keys' });
  const [before, without, after] = [first, second, third].map(({ response }) => response.quota.remaining);
  if (before == null || without == null || after == null)
    throw new NotApplicable('no remaining quota is told');
  if (without > before || after > without) throw new NotApplicable('the quota was renewed in between');
  return { taken: without - after - (before - without), wrong: WRONG, evidence: third.evidence };
});
