import { resolve } from 'node:path';
import { publicKeyIn } from '../../credential/verification-key.ts';
import type { Draft } from '../draft/draft.ts';
import { type Loaded, named, text } from '../shape/kinds.ts';
import { readText } from '../yaml/read-text.ts';

const MAX_BYTES = 64 * 1024;

export const SIGNATURES = named(
  'The public keys with which the service signs its responses (RFC 9421), by the names that it has for them (keyid). What it serves must then be signed with one of them.',
  {
    expected: 'a mapping such as { key-1: ../keys/key-1.pem }',
    examples: [{ 'key-1': '../keys/key-1.pem' }],
    nullable: true,
    def: 'signatures',
  },
  text('File, relative to this one, with the public key: in PEM, or as a JSON web key.', {
    expected: 'the path of a file with a public key',
    def: 'publicKey',
  }),
);

/** Public keys in PEM, by their names; none where nothing is known of them. */
export type SignatureKeys = Readonly<Record<string, string>>;

/** @throws UsageError for a file that cannot be read, or holds no public key. */
export async function buildSignatures(
  draft: Draft,
  written: Loaded<typeof SIGNATURES> | undefined,
): Promise<SignatureKeys | null> {
  if (!written) return null;
  const keys: readonly (readonly [string, string])[] = await draft.faults.each(
    written,
    async (name, file) => {
      const place = `signatures.${name}`;
      const read = await readText(resolve(draft.scope.folder, String(file)), MAX_BYTES);
      if ('fault' in read) {
        const { problem, remedy } = read.fault;
        throw draft.faultAt(place, `the file ${file}: ${problem}`, `${remedy}; it is relative to this file`);
      }
      const key = publicKeyIn(read.text);
      if (key !== null) return key;
      throw draft.faultAt(
        place,
        `the file ${file} holds no public key of RSA, of ECDSA on P-256 or P-384, or of Ed25519`,
        'name a PEM file or a JSON web key',
      );
    },
  );
  return keys.length === 0 ? null : Object.fromEntries(keys);
}
