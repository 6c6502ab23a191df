import {
  publicKeyIn,
  SECRET_ENCODINGS,
  type VerificationKey,
} from '../credential/signing/verification-key.ts';
import type { Draft } from '../draft/draft.ts';
import { readSecret } from '../draft/secret.ts';
import { choice, either, mapping, named, needed, secret } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';

const MAX_BYTES = 64 * 1024;

const SHARED = mapping(
  '',
  {},
  {
    secret: needed(secret()),
    encoding: choice('How the octets of the secret are written.', SECRET_ENCODINGS, { default: 'text' }),
  },
);

export type WrittenKey = string | Loaded<typeof SHARED>;

export function verificationKey(description: string) {
  return either<WrittenKey>(
    description,
    {
      expected: `the path of a file with a public key, or a mapping such as { secret: "\${env:SIGNING_SECRET}" }`,
      def: 'verificationKey',
    },
    { ...SHARED, type: ['string', 'object'], minLength: 1 },
  );
}

/** @throws UsageError for a file that cannot be read or holds no public key, and for a secret that cannot be read. */
export async function buildVerificationKey(
  draft: Draft,
  place: string,
  written: WrittenKey,
  literalAllowed: boolean,
): Promise<VerificationKey> {
  if (typeof written !== 'string') {
    const { secret, encoding } = written;
    const read = await readSecret(draft, `${place}.secret`, secret, { literalAllowed, optional: false });
    if (read === null) throw draft.faultAt(`${place}.secret`, 'is empty', 'give it a value');
    return { secret: read, encoding };
  }
  const pem = publicKeyIn(await draft.textBeside(place, written, MAX_BYTES));
  if (pem !== null) return { pem };
  throw draft.faultAt(
    place,
    `the file ${written} holds no public key of RSA, of ECDSA on P-256 or P-384, or of Ed25519`,
    'name a PEM file or a JSON web key; a shared secret is written as { secret: … }',
  );
}

export const SIGNATURES = named(
  'The keys with which the service signs its responses (RFC 9421), by their names (keyid). Each response must then be signed with one of them.',
  {
    expected: 'a mapping such as { key-1: ../keys/key-1.pem }',
    examples: [{ 'key-1': '../keys/key-1.pem', 'key-2': { secret: `\${env:SIGNING_SECRET}` } }],
    nullable: true,
    def: 'signatures',
  },
  verificationKey(
    'File, relative to this one, with the public key: in PEM, or as a JSON web key. Or the secret that both sides share.',
  ),
);

/** With which signatures are verified, by the names that those who sign have for them. */
export type SignatureKeys = Readonly<Record<string, VerificationKey>>;

/** @throws UsageError for a file that cannot be read or holds no public key, and for a secret that cannot be read. */
export async function buildSignatures(
  draft: Draft,
  written: Loaded<typeof SIGNATURES> | undefined,
  literalAllowed: boolean,
): Promise<SignatureKeys | null> {
  if (!written) return null;
  const keys = await draft.faults.each(written, (name, key) =>
    buildVerificationKey(draft, `signatures.${name}`, key, literalAllowed),
  );
  return keys.length === 0 ? null : Object.fromEntries(keys);
}
