import type { VerificationKey } from '../credential/signing/verification-key.ts';
import type { Draft } from '../draft/draft.ts';
import { type Loaded, named } from '../shape/kinds.ts';
import { buildVerificationKey, verificationKey, type WrittenKey } from './verification-key.ts';

export const SIGNATURES = named(
  'The keys with which the service signs its responses (RFC 9421), by the names that it has for them (keyid). What it serves must then be signed with one of them.',
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
  const keys: readonly (readonly [string, VerificationKey])[] = await draft.faults.each(
    written,
    (name, key) => buildVerificationKey(draft, `signatures.${name}`, key as WrittenKey, literalAllowed),
  );
  return keys.length === 0 ? null : Object.fromEntries(keys);
}
