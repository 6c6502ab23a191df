import type { FaultSide } from '../../harness/base/finding.ts';
import { Blocked, NotApplicable } from '../../harness/base/verdict.ts';
import { declaredBy, type Stimulus } from '../../harness/engine/session/http/stimulus.ts';
import { derived, type Probe, probe } from '../../harness/engine/session/probe.ts';
import type { Reply } from '../../harness/wire/exchange/reply.ts';

/** The documented sample request with the service's own credential: the twin of every negative probe. */
export const sample = probe('sample', ({ http }) => http.send({ purpose: 'as documented' }));

/** The key of the run, and the address of the sample, are those of the config. */
export function refusalSide({ status }: Reply): FaultSide {
  return status !== null && [401, 403, 404, 410].includes(status) ? 'config' : 'service';
}

/** Whether every response to a request in HTTP/1.1 is in HTTP/1.0 so far: of one alone the service could be in doubt. */
export const oldVersionAlone = derived('old-version-alone', [sample], async ({ ask, recorded }) => {
  await ask(sample);
  return () => {
    const answered = recorded.exchanges.filter(
      ({ exchange }) => exchange.request.httpVersion !== '1.0' && exchange.response !== null,
    );
    return answered.length > 0 && answered.every(({ exchange }) => exchange.response?.httpVersion === '1.0');
  };
});

/** The same request twice more, one right after the other: one instance in two answers one of them. */
export const samplesInARow = probe<readonly [Reply, Reply]>(
  'samples-in-a-row',
  { cost: 2 },
  async ({ http }) => [
    await http.send({ purpose: 'as documented a second time' }),
    await http.send({ purpose: 'as documented a third time' }),
  ],
);

/** The same request once more. */
export const sampleAgain = derived(
  'sample-again',
  [samplesInARow],
  async ({ ask }) => (await ask(samplesInARow))[0],
);

/** The same request over a raw socket, so that the message framing is seen octet by octet; it wants no content coding. */
export const rawSample = probe('raw-sample', ({ http }) =>
  http.send({
    purpose: 'as documented, accepting no content coding, read octet by octet',
    fields: [['Accept-Encoding', 'identity']],
    raw: true,
  }),
);

/** The same request as the second one on its connection. */
export const sampleOnKept = probe(
  'sample-on-kept',
  { needs: () => [served], cost: 2, usualCost: 1 },
  async ({ ask, http }) => {
    await ask(served);
    const next = { purpose: 'as documented, on a connection that was used before', onKept: true };
    // Where the last request left none, this one does.
    for (let tries = 0; tries < 2; tries++) {
      const reply = await http.send(next);
      if (reply.exchange.connection?.reused) return reply;
    }
    throw new NotApplicable('no connection is kept for a next request');
  },
);

/** The same evidence, where the sample is served: whatever is refused while nothing is served would prove nothing. */
export const served: Probe<Reply> = {
  ...derived('sample-served', [sample], async ({ ask }) => {
    const reply = await ask(sample);
    requireServed(reply);
    return reply;
  }),
  wantsSample: true,
};

/** What is other in a request than in the sample. */
export type Difference = Omit<Stimulus, 'purpose'>;

/** A variation of the sample, asked only when the sample itself is served. */
export function variation(name: string, purpose: string, difference: Difference = {}): Probe<Reply> {
  const stimulus = { purpose, ...difference };
  return probe(name, { needs: [served], ...declaredBy(stimulus) }, async ({ ask, http }) => {
    await ask(served);
    return http.send(stimulus);
  });
}

/** @throws Blocked unless the request was served that makes another one's refusal mean something. */
export function requireServed(twin: Reply): void {
  if (twin.served && (twin.answered || twin.cut)) return;
  const got = twin.answered
    ? `status ${twin.response.status}`
    : (twin.exchange.failure?.message ?? 'no response');
  const { method, target } = twin.exchange.request;
  throw new Blocked(
    `the sample request with the right credential is not served (${method} ${target}: ${got}), so this would prove nothing`,
  );
}
