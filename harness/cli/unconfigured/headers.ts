import { readFileSync } from 'node:fs';
import { UsageError } from '../../base/exit.ts';
import { reasonOf } from '../../base/thrown.ts';
import type { Answers, Scheme, SecurityScheme } from '../../config/credential/scheme.ts';
import { schemeNamed } from '../../config/credential/schemes.ts';
import { isToken } from '../../wire/fields/grammar/field-grammar.ts';

/** One of `--header 'Name: value'`. */
interface GivenHeader {
  readonly name: string;
  readonly value: string;
}

export interface GivenCredential {
  readonly scheme: Scheme;
  readonly answers: Answers;
  /** Values of the environment variables that the answers name. */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface ReadHeaders {
  /** null if no header carries one. */
  readonly credential: GivenCredential | null;
  /** Headers that every request carries. A value that may be a secret is a reference to a variable in `secrets`. */
  readonly fixed: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Header names that usually carry a credential. */
const OF_KEYS = /(?:^|[-_])(?:api-?key|key|auth|token|secret|session|cookie)(?:$|[-_])/i;

/**
 * Finds the credential among the headers of the command line. `demand` is what the document asks for; without a
 * document the first header with the name of a credential is one. `variable` names the environment variable for it.
 *
 * @throws UsageError for text that is no header.
 */
export function readHeaders(
  given: readonly string[],
  demand: SecurityScheme | null,
  variable: string,
): ReadHeaders {
  const headers = given.flatMap(linesOf).map(parsed);
  const carrier = headers.find((header) => isCredential(header, demand));
  const others = headers.filter((header) => header !== carrier);
  const secrets: Record<string, string> = {};
  const fixed: Record<string, string> = {};
  for (const { name, value } of others) {
    if (!OF_KEYS.test(name)) {
      fixed[name] = value;
      continue;
    }
    const own = `${variable}_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`;
    secrets[own] = value;
    fixed[name] = `\${env:${own}}`;
  }
  return { credential: carrier === undefined ? null : credentialIn(carrier, variable), fixed, secrets };
}

/** `@FILE` has a header on each line. */
function linesOf(given: string): readonly string[] {
  if (!given.startsWith('@')) return [given];
  try {
    const lines = readFileSync(given.slice(1), 'utf8').split(/\r?\n/);
    return lines.filter((line) => line.trim() !== '');
  } catch (error) {
    throw new UsageError(`the file of headers cannot be read: ${reasonOf(error)}`, { key: '--header' });
  }
}

/** Never shows the value: it may be a secret. */
function parsed(line: string): GivenHeader {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0)).trim();
  const value = line.slice(colon + 1).trim();
  if (isToken(name) && value !== '') return { name, value };
  throw new UsageError('is no header with a value', {
    key: '--header',
    remedy: `write it as 'Name: value', such as -H 'Authorization: Bearer …'`,
  });
}

function isCredential({ name }: GivenHeader, demand: SecurityScheme | null): boolean {
  const lower = name.toLowerCase();
  if (lower === 'authorization') return true;
  if (demand?.type === 'apiKey' && demand.in === 'header') return demand.name.toLowerCase() === lower;
  if (demand?.type === 'apiKey' && demand.in === 'cookie') return lower === 'cookie';
  return demand === null && OF_KEYS.test(name);
}

function credentialIn({ name, value }: GivenHeader, variable: string): GivenCredential {
  const [, word = '', rest = ''] = /^(\S+) +(\S+)$/.exec(value) ?? [];
  const isAuthorization = name.toLowerCase() === 'authorization';
  const as = (scheme: string, secrets: GivenCredential['secrets'], keyName = name): GivenCredential => {
    const found = schemeNamed(scheme);
    if (found === undefined) throw new TypeError(`there is no credential scheme ${scheme}`);
    return { scheme: found, answers: { 'key-env': variable, 'key-name': keyName }, secrets };
  };
  if (isAuthorization && word.toLowerCase() === 'bearer') return as('bearer', { [variable]: rest });
  if (isAuthorization && word.toLowerCase() === 'basic') {
    const pair = Buffer.from(rest, 'base64').toString('utf8');
    const colon = pair.indexOf(':');
    if (colon > 0)
      return as('basic', { [`${variable}_USER`]: pair.slice(0, colon), [variable]: pair.slice(colon + 1) });
  }
  const [, pair = '', cookie = ''] = /^([^=;\s]+)=([^;\s]+)$/.exec(value) ?? [];
  if (name.toLowerCase() === 'cookie' && pair !== '') return as('cookie', { [variable]: cookie }, pair);
  return as('header', { [variable]: value });
}
