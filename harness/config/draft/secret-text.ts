import { masked, revealed, Secret, type SecretText } from '../../base/secret.ts';
import type { Draft } from './draft.ts';
import { describeReference, secretName, splitReferences } from './reference.ts';
import { LEAST_CHARACTERS, MOST_CHARACTERS, readForSecret, TOO_SHORT } from './secret.ts';

const TOO_LONG = [
  `the secret is longer than ${MOST_CHARACTERS} characters`,
  'copy it with `files:`',
] as const;

/**
 * A text in which whatever a reference yields is a secret, but for the default of one, which stands in the file for
 * all to read.
 *
 * @throws UsageError naming the place, never a value.
 */
export async function readSecretText(draft: Draft, key: string, text: string): Promise<SecretText> {
  const { pieces, references } = await readPieces(draft, key, text);
  if (references.length > 0) draft.showRead(key, masked(pieces), references);
  return pieces;
}

/**
 * The content of a secret file, one secret as a whole, which may have lines; null when it is empty.
 *
 * @throws UsageError also for one so short or so long that it could not be kept out of reports.
 */
export async function readSecretFile(draft: Draft, key: string, text: string): Promise<Secret | null> {
  const fault = (problem: string, remedy: string) => draft.faultAt(key, problem, remedy);
  const [only, ...others] = splitReferences(text, fault);
  const sole = typeof only === 'object' && others.length === 0 ? only : null;
  const { pieces, references } = await readPieces(draft, key, text);
  const secret = new Secret(secretName(draft, key, sole), revealed(pieces));
  const { length } = secret.reveal();
  draft.showRead(key, length === 0 ? null : String(secret), references);
  if (length === 0) return null;
  if (length < LEAST_CHARACTERS) throw fault(...TOO_SHORT);
  if (length > MOST_CHARACTERS) throw fault(...TOO_LONG);
  return secret;
}

async function readPieces(
  draft: Draft,
  key: string,
  text: string,
): Promise<{ readonly pieces: SecretText; readonly references: readonly string[] }> {
  const fault = (problem: string, remedy: string) => draft.faultAt(key, problem, remedy);
  const pieces: (string | Secret)[] = [];
  const references: string[] = [];
  for (const part of splitReferences(text, fault)) {
    if (typeof part === 'string') {
      pieces.push(part);
      continue;
    }
    const { text: value, fromFallback } = await readForSecret(draft, key, part, fault);
    references.push(`${describeReference(part)}${fromFallback ? ' (default)' : ''}`);
    if (!fromFallback && value.length > MOST_CHARACTERS) throw fault(...TOO_LONG);
    pieces.push(fromFallback ? value : new Secret(secretName(draft, key, part), value));
  }
  return { pieces, references };
}
