import { masked, revealed, Secret, type SecretText } from '../../base/secret.ts';
import { nameElsewhere } from '../../wire/redaction/marker.ts';
import { LONGEST_SECRET } from '../../wire/redaction/redaction.ts';
import { standInFor } from '../credential/stand-in.ts';
import type { Fault } from '../shape/kinds.ts';
import type { Draft, ReadThrough } from './draft.ts';
import { Consequence } from './faults.ts';
import {
  describeReference,
  type Reference,
  type Resolved,
  resolveOrStandIn,
  secretName,
  splitReferences,
} from './reference.ts';

export interface SecretOptions {
  /** Example secrets may stand in the file: nothing sent leaves this machine. */
  readonly literalAllowed: boolean;
  /** Without it the service can be exercised all the same. */
  readonly optional: boolean;
}

/** Of a key and of a header of every request: parts of shorter ones would be found, and removed, all over the evidence. */
export const LEAST_CHARACTERS = 8;
/** What any exchange holds: cut out as a secret, the evidence could no longer be judged. In lower case. */
const PROTOCOL_TEXT = [
  'application/json application/problem+json; charset=utf-8',
  'authorization www-authenticate location connection keep-alive transfer-encoding chunked websocket',
  'cache-control no-store content-type content-length content-encoding retry-after ratelimit-policy',
  'x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset sec-websocket-protocol localhost 127.0.0.1',
].join(' ');

/** null if it is optional, and missing or only an example. @throws UsageError that never has the value. */
export async function readSecret(
  draft: Draft,
  key: string,
  text: string,
  { literalAllowed, optional }: SecretOptions,
): Promise<Secret | null> {
  const fault = draft.faultFor(key);
  const reference = soleReference(text, fault);
  const name = secretName(draft, key, reference);
  const shown = (secret: Secret | null, ...references: readonly string[]) => {
    draft.showRead(key, secret && String(secret), references);
    return secret;
  };
  if (reference === null) {
    if (literalAllowed) return shown(checked(new Secret(name, text, key), fault));
    throw fault(
      'a secret stands in the file itself',
      `write \${env:NAME}, \${file:PATH} or \${exec:COMMAND}; a literal is only for reference providers and loopback addresses`,
    );
  }

  if (reference.kind === 'env' && reference.fallback === '' && !optional)
    throw fault('the default is empty', `leave the default out: \${env:NAME}`);
  const { text: value, fromFallback } = await readForSecret(draft, key, reference);
  const said = describeReference(reference);
  if (fromFallback && value === '') return shown(null, `${said} (not set)`);
  if (fromFallback && !literalAllowed) {
    if (optional) return shown(null, `${said} (not set; its default stays on this machine)`);
    throw fault(
      `the environment variable ${name} is not set, and its default is only for reference providers and loopback addresses`,
      `export ${name}=…`,
    );
  }
  const secret = checked(new Secret(name, value, placeOf(reference, key)), fault);
  return shown(secret, describeReference(reference, fromFallback));
}

/** No command is run for a secret of a config that is wrong anyway. */
export async function readForSecret(draft: Draft, key: string, reference: Reference): Promise<Resolved> {
  if (reference.kind === 'exec' && draft.faults.all.length > 0) throw new Consequence();
  const name = secretName(draft, key, reference);
  const { standIns } = draft.scope;
  // There was none, and what the reference falls back on stood in its place.
  if (standIns?.forms && reference.kind === 'env' && reference.fallback !== null) {
    const known = standIns.forms.some((form) => form.name === name);
    if (!known) return { text: reference.fallback, fromFallback: true };
  }
  const otherwise = standInFor({ name, form: 'text', expiresAt: null });
  return resolveOrStandIn(reference, draft.scope, draft.faultFor(key), { name, otherwise });
}

/** null if the text is not one reference and nothing else. */
function soleReference(text: string, fault: Fault): Reference | null {
  const [only, ...others] = splitReferences(text, fault);
  return typeof only === 'object' && others.length === 0 ? only : null;
}

/** Never the command, which could hold a secret. */
function placeOf(reference: Reference, key: string): string {
  if (reference.kind === 'env') return reference.name;
  return reference.kind === 'file' ? `the file ${reference.path}` : `the output of the command of ${key}`;
}

const NOT_DISTINCT = 'cannot be distinguished from other text, and so not be kept out of reports';
export const TOO_SHORT = [
  `the secret is shorter than ${LEAST_CHARACTERS} characters`,
  `use a longer one: so short a text ${NOT_DISTINCT}`,
] as const;
const COPIED = 'no header field can carry it: check how it was copied';
const WHITE = 'no header field can carry it: remove the white space';
const MORE = 'does the file or variable hold more than the secret?';
const COMMON = `use another one: so common a word ${NOT_DISTINCT}`;
const isProtocolText = (value: string) => PROTOCOL_TEXT.includes(value.toLowerCase());

/** What makes a value unfit for a secret that is sent: the problem and its remedy. */
const UNFIT: readonly (readonly [isSo: (value: string) => boolean, problem: string, remedy: string])[] = [
  [(value) => /[\r\n]/.test(value), 'the secret holds a line break', MORE],
  [(value) => /\p{Cc}/u.test(value), 'the secret holds a control character', COPIED],
  [(value) => /[^\0-\u00ff]/.test(value), 'the secret holds a character beyond latin-1', COPIED],
  [(value) => value !== value.trim(), 'the secret begins or ends with white space', WHITE],
  [(value) => value.length < LEAST_CHARACTERS, ...TOO_SHORT],
  [isProtocolText, 'the secret is a word that every exchange holds', COMMON],
];

/** The problem and the remedy; null if the value can be sent and kept out of reports. */
export function secretFault(value: string): readonly [problem: string, remedy: string] | null {
  const found = UNFIT.find(([isSo]) => isSo(value));
  return found === undefined ? null : [found[1], found[2]];
}

/** Shows a text that was read through references as it is written, never its value; short values come back too. */
export function readAway(draft: Draft, through: ReadThrough): readonly Secret[] {
  const { key, written, references, learned } = through;
  draft.showRead(key, written, references);
  return learned
    .filter(({ value }) => value !== '' && value.length <= LONGEST_SECRET && !isProtocolText(value))
    .map(({ reference, value }) => {
      return new Secret(nameElsewhere(secretName(draft, key, reference), 'config'), value);
    });
}

function checked(secret: Secret, fault: Fault): Secret {
  const unfit = secretFault(secret.reveal());
  if (unfit === null) return secret;
  throw fault(...unfit);
}

const LONG = `the secret is longer than ${LONGEST_SECRET} characters`;
const TOO_LONG = [LONG, 'copy it with `files:`'] as const;

/** A text whose references, except for defaults, are secrets. @throws UsageError that never has a value. */
export async function readSecretText(draft: Draft, key: string, text: string): Promise<SecretText> {
  const { pieces, references } = await readPieces(draft, key, text);
  if (references.length > 0) draft.showRead(key, masked(pieces), references);
  return pieces;
}

/** A secret file as one secret; null if empty. @throws UsageError also if its length forbids redaction. */
export async function readSecretFile(draft: Draft, key: string, text: string): Promise<Secret | null> {
  const fault = draft.faultFor(key);
  const { pieces, references } = await readPieces(draft, key, text);
  const secret = new Secret(secretName(draft, key, soleReference(text, fault)), revealed(pieces));
  const { length } = secret.reveal();
  draft.showRead(key, length === 0 ? null : String(secret), references);
  if (length === 0) return null;
  if (length < LEAST_CHARACTERS) throw fault(...TOO_SHORT);
  if (length > LONGEST_SECRET) throw fault(...TOO_LONG);
  return secret;
}

async function readPieces(
  draft: Draft,
  key: string,
  text: string,
): Promise<{ readonly pieces: SecretText; readonly references: readonly string[] }> {
  const fault = draft.faultFor(key);
  const pieces: (string | Secret)[] = [];
  const references: string[] = [];
  for (const part of splitReferences(text, fault)) {
    if (typeof part === 'string') {
      pieces.push(part);
      continue;
    }
    const { text: value, fromFallback } = await readForSecret(draft, key, part);
    references.push(describeReference(part, fromFallback));
    if (!fromFallback && value.length > LONGEST_SECRET) throw fault(...TOO_LONG);
    pieces.push(fromFallback ? value : new Secret(secretName(draft, key, part), value));
  }
  return { pieces, references };
}
