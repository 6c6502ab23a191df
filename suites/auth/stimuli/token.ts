import { NotApplicable } from '../../../harness/base/verdict.ts';
import { expiryOf, type TokenForgery } from '../../../harness/config/credential/json-web-token.ts';
import { derived, type Probe } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { served, variation } from '../../stimuli/sample.ts';

/** The sample with a key that is a signed token (RFC 7519), where it is one: forged, or at its end. */

const forgedToken = (wrong: TokenForgery, purpose: string): Probe<Reply> =>
  variation(`${wrong}-token`, { purpose, credential: { wrong } });
export const unsignedTokens = [
  forgedToken('unsecured', 'with its token under the algorithm none'),
  forgedToken('unsigned', 'with its token without a signature'),
];
export const changedToken = forgedToken('changed', 'with other claims under the signature of its token');
export const guessedToken = forgedToken(
  'guessed',
  'with its token signed with a secret that anybody guesses',
);
export const selfCertifiedToken = forgedToken(
  'self-certified',
  'with its token signed with a key that it brings along',
);

/** All that must not be accepted. */
export const forgedTokens: readonly Probe<Reply>[] = [
  ...unsignedTokens,
  changedToken,
  guessedToken,
  selfCertifiedToken,
];

/** How long ago the token ended with which the sample was served, in ms; null where it has not. */
export const tokenOverdue: Probe<number | null> = derived(
  'token-overdue',
  [served],
  async ({ ask, config }) => {
    const { exchange } = await ask(served);
    const { carrier, secret } = config.credentials;
    const expiry = carrier?.bare && secret ? expiryOf(secret.reveal()) : null;
    if (expiry === null) throw new NotApplicable('the key is no token that says when it ends');
    const overdueMs = Date.parse(exchange.timing.startedAt) - expiry.getTime();
    return overdueMs > 0 ? overdueMs : null;
  },
);
