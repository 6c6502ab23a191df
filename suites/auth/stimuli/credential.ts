import { isJsonObject } from '../../../harness/base/json-text.ts';
import { isLoopback } from '../../../harness/base/loopback.ts';
import { NotApplicable, unlessInapplicable } from '../../../harness/base/verdict.ts';
import { expiryOf, type TokenForgery } from '../../../harness/config/credential/json-web-token.ts';
import type {
  CredentialChoice,
  CredentialSpelling,
  WrongCredential,
} from '../../../harness/config/credential/placing.ts';
import { derived, type Probe, probe, risky } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { pathOf } from '../../../harness/wire/request.ts';
import { sampleAgain, served, variation } from '../../stimuli/sample.ts';

/** The sample with every kind of credential but the right one. */

const withCredential = (name: string, purpose: string, credential: CredentialChoice): Probe<Reply> =>
  variation(name, purpose, { credential });
export const withoutCredential = withCredential('without-credential', 'without a credential', 'none');

/** With that wrong credential in place of the right one. */
const withWrong = (wrong: WrongCredential, purpose: string): Probe<Reply> =>
  withCredential(`${wrong}-credential`, purpose, { wrong });
export const wrongCredential = withWrong('wrong', 'with a wrong key');
export const emptyCredential = withWrong('empty', 'with an empty key');
export const truncatedCredential = withWrong('truncated', 'with the key cut short');
export const extendedCredential = withWrong('extended', 'with the key and a suffix');
export const caseFlippedCredential = withWrong('case-flipped', 'with the key in other letter case');
export const nonAsciiCredential = risky(withWrong('non-ascii', 'with a non-ASCII key'));
export const quotedCredential = withWrong('quoted', 'with a key that holds quotes');
export const oversizedCredential: Probe<Reply> = {
  ...risky(withWrong('oversized', 'with a 9 KiB key')),
  risks: ['long-head'],
};
export const alteredCredential = withWrong('altered', 'with another key of the same length');
export const prefixedCredential = withWrong('prefixed', 'with something before the key');
export const injectedCredential = withWrong('injected', 'with a piece of SQL for a key');
/** From a client without a key: a value that stands for none, or an unfilled template. */
export const placeholders: readonly Probe<Reply>[] = [
  withWrong('null', 'with null for a key'),
  withWrong('undefined', 'with undefined for a key'),
  withWrong('template', 'with {token} for a key'),
  withWrong('wildcard', 'with * for a key'),
];
export const otherUser = withCredential('other-user', 'with the right password of another user', {
  wrong: 'other-user',
});
export const otherScheme = withCredential('other-scheme', 'with the right key under another scheme', {
  wrong: 'other-scheme',
});

/** With the sample's key as a signed token (RFC 7519), forged in that way. */
const forgedToken = (wrong: TokenForgery, purpose: string): Probe<Reply> =>
  withCredential(`${wrong}-token`, purpose, { wrong });
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

/** How long before the sample its token had expired, in ms; less than 0 if it had not. */
export const tokenOverdue = derived('token-overdue', [served], async ({ ask, config }) => {
  const { exchange } = await ask(served);
  const { carrier, secret } = config.credentials;
  const expiry = carrier?.bare && secret ? expiryOf(secret.reveal()) : null;
  if (expiry === null) throw new NotApplicable('the key is no token that says when it ends');
  return Date.parse(exchange.timing.startedAt) - expiry.getTime();
});

/** The right credential, written in that way. */
const spelled = (name: string, purpose: string, spelling: CredentialSpelling): Probe<Reply> =>
  withCredential(name, purpose, { spelled: spelling });
/** Scheme names are case-insensitive. */
export const lowerCaseScheme = spelled(
  'lower-case-scheme',
  'with the scheme name in other letter case',
  'other-case-scheme',
);
export const spacedField = variation(
  'spaced-field',
  'with white space around the value, and the name in other letter case',
  { credential: { spelled: 'spaced-field' }, raw: true },
);
export const spacedScheme = spelled(
  'spaced-scheme',
  'with several spaces behind the scheme name',
  'spaced-scheme',
);
export const rightThenWrong = spelled(
  'right-then-wrong',
  'with two credentials, the second one wrong',
  'right-then-wrong',
);
export const wrongThenRight = spelled(
  'wrong-then-right',
  'with two credentials, the first one wrong',
  'wrong-then-right',
);

export const headWithoutCredential = variation('head-without-credential', 'without a credential', {
  method: 'HEAD',
  credential: 'none',
});

/** With each of the keys that the config says must be refused. */
export const refusedKeys = probe(
  'refused-keys',
  { needs: [served], cost: ({ credentials }) => credentials.refused.length, credential: 'wrong' },
  async ({ ask, config: { credentials }, http }) => {
    await ask(served);
    const replies: Reply[] = [];
    for (const [index, { position, because }] of credentials.refused.entries()) {
      const purpose = `with refused key ${position} (${because})`;
      replies.push(await http.send({ purpose, credential: { refused: index } }));
    }
    return replies;
  },
);

/** Every request whose credential must not be accepted. */
export const REFUSED = [
  withoutCredential,
  wrongCredential,
  emptyCredential,
  truncatedCredential,
  extendedCredential,
  caseFlippedCredential,
  alteredCredential,
  prefixedCredential,
  injectedCredential,
  ...placeholders,
  otherUser,
  ...unsignedTokens,
  changedToken,
  guessedToken,
  selfCertifiedToken,
  nonAsciiCredential,
  quotedCredential,
  oversizedCredential,
] as const;

const ORDINARY = REFUSED.filter(({ place }) => place === 'ordinary');

/** The right credential after all those wrong ones: its refusal shows that the client is locked out. A later sample serves too. */
export const rightAfterWrong = probe(
  'right-after-wrong',
  { needs: [...ORDINARY, refusedKeys, sampleAgain], usualCost: 0 },
  async ({ ask, http }) => {
    const wrong: Reply[] = [];
    for (const each of [...ORDINARY, refusedKeys]) {
      const replies = await ask<Reply | readonly Reply[]>(each).catch(unlessInapplicable);
      if (replies !== null) wrong.push(...[replies].flat());
    }
    const again = await ask(sampleAgain);
    const isLast = wrong.every(({ exchange }) => exchange.timing.startedMs < again.exchange.timing.startedMs);
    return isLast ? again : http.send({ purpose: 'as documented, after all the wrong credentials' });
  },
);

/** The documented sample with the second configured key. */
export const secondKeySample = variation('second-key-sample', 'with the second key', {
  credential: 'second',
});

/** The address of its metadata, as a refusal names it (RFC 9728 §5.1). */
export const metadataAddress = derived('metadata-address', [withoutCredential], async ({ ask }) => {
  const { challenges } = (await ask(withoutCredential)).response.challenges;
  const told = challenges.find(({ parameters }) => parameters.has('resource_metadata'));
  const address = told?.parameters.get('resource_metadata');
  if (address === undefined) throw new NotApplicable('no challenge names resource_metadata');
  return address;
});

/** Why an address is none of metadata (RFC 9728 §3: an https URL); null when it is one. Plain http does on this machine. */
export function addressFault(address: string): string | null {
  const url = URL.parse(address);
  if (url === null) return `${address}, which is no absolute URL`;
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  return isSafe ? null : `${address}, which is not https`;
}

/** The metadata at that address, if the service itself serves it: no other server is called. */
export const resourceMetadata = probe(
  'resource-metadata',
  { needs: [metadataAddress, withoutCredential] },
  async ({ ask, http, documented }) => {
    const address = URL.parse(await ask(metadataAddress));
    const here = new URL((await ask(withoutCredential)).exchange.request.url);
    if (address?.origin !== here.origin) throw new NotApplicable('its metadata lie at another origin');
    const base = here.pathname.slice(0, -pathOf(documented.path).length);
    if (!address.pathname.startsWith(base))
      throw new NotApplicable('its metadata lie above the base address');
    return http.send({
      purpose: 'for the metadata that its challenge names',
      target: () => `${address.pathname.slice(base.length)}${address.search}`,
      withoutSampleFields: true,
      fields: [['Accept', 'application/json']],
      credential: 'none',
    });
  },
);

/** The fault of the metadata of this resource (RFC 9728 §3.2 and §3.3); null if none. The resource may be the whole service. */
export function metadataFault({ response }: Reply): string | null {
  if (response.status !== 200) return `status ${response.status}`;
  const { value } = response.json;
  if (!isJsonObject(value)) return 'no JSON object';
  const { resource } = value;
  if (typeof resource !== 'string') return 'no resource in it';
  const named = URL.parse(resource);
  return named?.origin === new URL(response.request.url).origin ? null : `the resource ${resource}`;
}
