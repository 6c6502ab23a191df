import { NotApplicable } from '../../../harness/base/verdict.ts';
import { type Probe, probe } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { served, variation } from '../../stimuli/sample.ts';

/** What a browser sends for a page of another origin (Fetch §3.3). */

/** Of a page that the service has nothing to do with. */
export const FOREIGN_ORIGIN = 'https://elsewhere.invalid';

/** A page of another origin asks a browser to send the key along. */
export const foreignOrigin = variation('foreign-origin', {
  purpose: 'for a page of another origin',
  fields: [['Origin', FOREIGN_ORIGIN]],
});

/** What a browser asks before it sends the credential for a page of another origin (Fetch §4.8). */
export const preflight: Probe<Reply> = probe(
  'preflight',
  { needs: [served] },
  async ({ ask, http, config, documented }) => {
    await ask(served);
    const { carrier } = config.credentials;
    if (carrier?.in !== 'header') {
      throw new NotApplicable('the credential is in no header that a browser would ask about first');
    }
    return http.send({
      purpose: 'of a browser that asks before it sends the credential for a page of another origin',
      method: 'OPTIONS',
      withoutSampleFields: true,
      fields: [
        ['Origin', FOREIGN_ORIGIN],
        ['Access-Control-Request-Method', documented.method],
        ['Access-Control-Request-Headers', (carrier.name ?? '').toLowerCase()],
      ],
      credential: 'none',
    });
  },
);
