import { isToken } from '../../wire/fields/grammar/field-grammar.ts';
import type { Fault } from './kinds.ts';

/** The address in its normal form, without a trailing slash. The text is never quoted: it may hold a password. */
export function baseUrl(text: string, fault: Fault): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url) throw fault('is not a URL', 'write an absolute address such as https://api.example');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw fault(`begins with ${url.protocol}`, 'write an address that begins with https:// or http://');
  }
  withoutUser(url, fault, 'move it to `credentials:`');
  if (text.includes('?'))
    throw fault('holds a query', 'leave it out: paths are appended to the base address');
  if (text.includes('#')) throw fault('holds a fragment', 'leave it out: it is never sent');
  return url.href.replace(/\/+$/, '');
}

/** Addresses are printed, and so may hold nobody's password. */
export function withoutUser(url: URL, fault: Fault, remedy: string): URL {
  if (url.username === '' && url.password === '') return url;
  throw fault('holds a user name or password', remedy);
}

/** A path that is sent as it stands, below the base address. */
export function ownPath(text: string, fault: Fault): string {
  if (!/^\/[\x21-\x7e]*$/.test(text)) throw fault('is not a path', 'write a path such as /v1/orders');
  return text;
}

/** Reads a text that must be a token. */
export function token(problem: string, remedy: string): (text: string, fault: Fault) => string {
  return (text, fault) => {
    if (!isToken(text)) throw fault(problem, remedy);
    return text;
  };
}
