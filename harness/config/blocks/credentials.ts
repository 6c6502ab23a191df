import { isLoopback } from '../../base/loopback.ts';
import { Secret } from '../../base/secret.ts';
import type { TlsConfig } from '../../wire/socket/options.ts';
import type { AppCredentials, RefusedKey } from '../credential/keys.ts';
import type { Credentials, Scheme } from '../credential/scheme.ts';
import { type CredentialsBlock, SCHEMES, schemeNamed } from '../credential/schemes.ts';
import type { Draft } from '../draft/draft.ts';
import { readSecret, type SecretOptions } from '../draft/secret.ts';

/** @throws UsageError when keys are missing or too many for the scheme, or a secret is unfit. */
export async function buildCredentials(
  draft: Draft,
  block: CredentialsBlock,
  literalAllowed: boolean,
  tls: TlsConfig | null,
): Promise<Credentials> {
  const { faultAt } = draft;
  const scheme = schemeNamed(block.scheme ?? '');
  if (!scheme) {
    const known = SCHEMES.map(({ name }) => name).join(', ');
    throw faultAt('credentials.scheme', 'is missing', `add \`scheme:\`, one of: ${known}`);
  }
  holdToScheme(draft, scheme, block);
  if (scheme.byCertificate && !tls?.client) {
    const remedy = 'add `tls: { cert: client.pem, key: client-key.pem }`';
    throw faultAt('credentials.scheme', `${scheme.name} needs a client certificate`, remedy);
  }
  const texts = Object.entries(scheme.keys)
    .filter(([, { kind }]) => kind === 'text')
    .map(([name]) => [name, block[name] ?? null] as const);
  const fault = scheme.fault?.(Object.fromEntries(texts));
  if (fault) throw faultAt(`credentials.${fault.key}`, fault.problem, fault.remedy);
  const elsewhere = scheme.sentTo?.(Object.fromEntries(texts)) ?? null;
  const staysHere = elsewhere === null || isLoopback(URL.parse(elsewhere)?.hostname ?? '');
  const secrets: [string, Secret | AppCredentials | readonly RefusedKey[] | null][] = [];
  for (const [name, { kind, optional }] of Object.entries(scheme.keys)) {
    if (kind === 'text') continue;
    const options = { literalAllowed: literalAllowed && staysHere, optional };
    const read = await readKey(draft, `credentials.${name}`, block[name], options);
    if (!read && !optional) throw faultAt(`credentials.${name}`, 'is empty', 'give it a value');
    secrets.push([name, read]);
  }
  const values = Object.fromEntries([...texts, ...secrets]);
  holdKeysApart(draft, values);
  const credentials = scheme.of(values);
  holdRefusedApart(draft, credentials);
  return credentials;
}

function holdToScheme({ faultAt }: Draft, { name: scheme, keys }: Scheme, block: CredentialsBlock): void {
  const there = Object.keys(block).filter((name) => name !== 'scheme' && (block[name] ?? null) !== null);
  for (const [name, { optional }] of Object.entries(keys)) {
    if (optional || there.includes(name)) continue;
    const why = name === 'name' ? ', which says where the key goes' : '';
    throw faultAt(`credentials.${name}`, `scheme ${scheme} needs it${why}`, `add \`${name}:\``);
  }
  for (const name of there) {
    if (name in keys) continue;
    const home = SCHEMES.flatMap((other) => (name in other.keys ? other.name : []));
    const remedy = `remove it, or use a scheme that has it: ${home.join(', ')}`;
    throw faultAt(`credentials.${name}`, `does not belong to scheme ${scheme}`, remedy);
  }
}

/** A secret, an application with its secret, or keys with their reasons; null where there is none. */
async function readKey(
  draft: Draft,
  place: string,
  written: CredentialsBlock[string],
  options: SecretOptions,
): Promise<Secret | AppCredentials | readonly RefusedKey[] | null> {
  if (typeof written === 'string') return readSecret(draft, place, written, options);
  if (!written) return null;
  if (isList(written)) return readRefused(draft, place, written, options);
  const part = (name: string): string => {
    const text = written[name];
    if (text === undefined) throw draft.faultAt(`${place}.${name}`, 'is missing', `add \`${name}:\``);
    return text;
  };
  const [id, key, secret] = [part('id'), part('key'), part('secret')];
  for (const [name, value] of Object.entries({ id, key })) {
    if (/^[\x21-\x7e]+$/.test(value)) continue;
    throw draft.faultAt(`${place}.${name}`, 'holds white space or non-ASCII characters', 'correct it');
  }
  const read = await readSecret(draft, `${place}.secret`, secret, options);
  return read && { id, key, secret: read };
}

type WrittenKeys = Extract<CredentialsBlock[string], readonly unknown[]>;

const isList = (written: NonNullable<CredentialsBlock[string]>): written is WrittenKeys =>
  Array.isArray(written);

/** Those that are there: a variable that is not set may stand for none. */
async function readRefused(
  draft: Draft,
  place: string,
  written: WrittenKeys,
  options: SecretOptions,
): Promise<readonly RefusedKey[]> {
  const read: RefusedKey[] = [];
  for (const [index, { key: text, because }] of written.entries()) {
    const at = `${place}.${index}`;
    // A key that is written as null is one that need not be there.
    const isWritten = draft.originOf(`${at}.key`) !== draft.originOf(at);
    if (!isWritten) throw draft.faultAt(at, 'has no key', `add \`key:\`, such as "\${env:OLD_KEY}"`);
    if (!text) continue;
    if (because === undefined)
      throw draft.faultAt(at, 'does not say why it is refused', 'add `because: revoked`');
    const key = await readSecret(draft, `${at}.key`, text, options);
    if (key !== null) read.push({ key, because, position: index + 1 });
  }
  return read;
}

/** What opens the service cannot be what must not. */
function holdRefusedApart({ faultAt }: Draft, { secret, second, refused }: Credentials): void {
  const working = [secret, second].map((each) => each?.reveal());
  const wrong = refused.find(({ key }) => working.includes(key.reveal()));
  if (wrong === undefined) return;
  const at = `credentials.refused.${wrong.position - 1}.key`;
  throw faultAt(at, 'is the same key as one that works', 'give the key that must be refused');
}

/** A second key is good for what two accounts, or two quotas, show of each other. */
function holdKeysApart({ faultAt }: Draft, { key, secondKey }: Readonly<Record<string, unknown>>): void {
  if (!(key instanceof Secret && secondKey instanceof Secret)) return;
  if (key.reveal() !== secondKey.reveal()) return;
  const why = 'the same key shows nothing about separate keys';
  const remedy = `give a key of another account, or leave it out: ${why}`;
  throw faultAt('credentials.secondKey', 'is the same key as `key`', remedy);
}
