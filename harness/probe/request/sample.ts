import type { Reply } from '../../evidence/exchange/reply.ts';
import type { Stimulus } from '../../session/stimulus.ts';
import { type Probe, probe } from '../../session.ts';
import { Blocked } from '../../verdict.ts';

/** The documented sample request with the service's own credential: the twin of every negative probe. */
export const sample: Probe<Reply> = probe('sample', (stimuli) => stimuli.reply({ purpose: 'as documented' }));

/** The same request once more. */
export const sampleAgain: Probe<Reply> = probe('sample-again', (stimuli) =>
  stimuli.reply({ purpose: 'as documented a second time' }),
);

/** The same request over a raw socket, so that the message framing is seen octet by octet; it wants no content coding. */
export const rawSample: Probe<Reply> = probe('raw-sample', (stimuli) =>
  stimuli.reply({
    purpose: 'as documented, accepting no content coding, read octet by octet',
    fields: [['Accept-Encoding', 'identity']],
    raw: true,
  }),
);

/**
 * A variation of the sample, asked only when the sample itself is served: whatever is refused while nothing is
 * served would prove nothing.
 */
export function variation(name: string, stimulus: Stimulus): Probe<Reply> {
  return probe(name, async (stimuli) => {
    await requireServed(await stimuli.ask(sample));
    return stimuli.reply(stimulus);
  });
}

/** @throws Blocked unless the request was served that makes another one's refusal mean something. */
export async function requireServed(twin: Reply): Promise<void> {
  if (twin.served) return;
  const got = twin.answered
    ? `status ${twin.response.status}`
    : (twin.exchange.failure?.message ?? 'no response');
  throw new Blocked(
    `the sample request with the right credential is not served (${got}), so this would prove nothing`,
  );
}
