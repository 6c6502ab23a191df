import { UsageError } from '../../base/exit.ts';
import type { Answers, Scheme, SecurityScheme } from '../../config/credential/scheme.ts';
import { basic, bearer, cookie, header } from '../../config/credential/schemes.ts';
import { secretFault } from '../../config/draft/secret.ts';
import { readText } from '../../config/yaml/read-text.ts';
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

/** Names of headers and parameters that usually carry a credential. */
export const OF_KEYS = /(?:^|[-_])(?:api-?key|key|auth|token|secret|session|cookie)(?:$|[-_])/i;

/**
 * Finds the credential among the headers of the command line. `demand` is what the document asks for; without a
 * document the first header with the name of a credential is one. `variable` names the environment variable for it.
 * `besides` are the headers of further keys that the document asks for.
 *
 * @throws UsageError for text that is no header.
 */
export async function readHeaders(
  given: readonly string[],
  demand: SecurityScheme | null,
  variable: string,
  besides: readonly string[] = [],
): Promise<ReadHeaders> {
  const headers = (await Promise.all(given.map(linesOf))).flat().map(parsed);
  const carrier = headers.find((header) => isCredential(header, demand));
  const others = headers.filter((header) => header !== carrier);
  const secrets: Record<string, string> = {};
  const fixed: Record<string, string> = {};
  for (const { name, value } of others) {
    // The name of a user may be too short for a secret: `X-User-Name: root`.
    const isSecret = OF_KEYS.test(name) || (isOneOf(besides, name) && secretFault(value) === null);
    if (!isSecret) {
      fixed[name] = value;
      continue;
    }
    const own = `${variable}_${variablePart(name)}`;
    secrets[own] = value;
    fixed[name] = `\${env:${own}}`;
  }
  const credential = carrier === undefined ? null : credentialIn(carrier, variable);
  const key = credential?.secrets[variable];
  for (const value of [...Object.values(secrets), ...(key === undefined ? [] : [key])]) holdFit(value);
  return { credential, fixed, secrets };
}

/** The name of a header as a part of the name of a variable. */
export function variablePart(header: string): string {
  return header.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
}

const isOneOf = (names: readonly string[], name: string) =>
  names.some((each) => each.toLowerCase() === name.toLowerCase());

/** The first of these headers that is not there; undefined if all are. */
export function missingOf(
  names: readonly string[],
  headers: Readonly<Record<string, string>>,
): string | undefined {
  return names.find((name) => !isOneOf(Object.keys(headers), name));
}

/** Most octets of a file of headers. */
const MAX_FILE_BYTES = 64 * 1024;

/** `@FILE` has a header on each line. */
async function linesOf(given: string): Promise<readonly string[]> {
  if (!given.startsWith('@')) return [given];
  const file = given.slice(1);
  const read = await readText(file, MAX_FILE_BYTES);
  if ('text' in read) return read.text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const { problem, remedy } = read.fault;
  throw new UsageError(problem, { place: { file }, key: '--header', remedy });
}

/** Never shows the value: it may be a secret. */
function parsed(line: string): GivenHeader {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0)).trim();
  const value = line.slice(colon + 1).trim();
  if (/^authorization$/i.test(name) && /^(?:bearer|basic|token|apikey)$/i.test(value))
    throw new UsageError(`the header ${name} has no key`, {
      key: '--header',
      remedy: 'export the variable that the command line takes it from',
    });
  if (isToken(name) && value !== '') return { name, value };
  throw new UsageError('is no header with a value', {
    key: '--header',
    remedy: `write it as 'Name: value', such as -H 'Authorization: Bearer …'`,
  });
}

/** @throws UsageError for a value that no request can carry, or that could not be kept out of the reports. */
function holdFit(value: string): void {
  const [problem, remedy] = secretFault(value) ?? [];
  if (problem !== undefined) throw new UsageError(problem, { key: '--header', ...(remedy && { remedy }) });
}

function isCredential({ name }: GivenHeader, demand: SecurityScheme | null): boolean {
  const lower = name.toLowerCase();
  if (lower === 'authorization') return true;
  if (demand?.type === 'apiKey' && demand.in === 'header') return demand.name.toLowerCase() === lower;
  if (demand?.type === 'apiKey' && demand.in === 'cookie') return lower === 'cookie';
  return demand === null && OF_KEYS.test(name);
}

function credentialIn({ name, value }: GivenHeader, variable: string): GivenCredential {
  const as = (
    scheme: Scheme,
    secrets: GivenCredential['secrets'],
    keyName: string = name,
  ): GivenCredential => ({ scheme, answers: { 'key-env': variable, 'key-name': keyName }, secrets });
  if (name.toLowerCase() === 'authorization') {
    const [, word = '', rest = ''] = /^(\S+) +(\S+)$/.exec(value) ?? [];
    if (word.toLowerCase() === 'bearer') return as(bearer, { [variable]: rest });
    const login = word.toLowerCase() === 'basic' ? Buffer.from(rest, 'base64').toString('utf8') : '';
    const colon = login.indexOf(':');
    if (colon > 0)
      return as(basic, { [`${variable}_USER`]: login.slice(0, colon), [variable]: login.slice(colon + 1) });
  }
  const [, pair = '', content = ''] = /^([^=;\s]+)=([^;\s]+)$/.exec(value) ?? [];
  if (name.toLowerCase() === 'cookie' && pair !== '') return as(cookie, { [variable]: content }, pair);
  return as(header, { [variable]: value });
}
