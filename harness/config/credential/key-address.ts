import type { KeyFault } from './scheme.ts';

/** The fault of an address that issues keys, below `credentials:`; null if it is a URL or a path. */
export function addressFault(key: string, written: string, example: string): KeyFault | null {
  const fault = (problem: string, remedy: string) => ({ key, problem, remedy });
  if (!/^\/(?!\/)/.test(written)) {
    const url = URL.parse(written);
    if (url === null || !/^https?:$/.test(url.protocol))
      return fault('is neither a URL nor a path', `write one such as ${example}`);
    if (url.username !== '' || url.password !== '')
      return fault('holds credentials', 'give them in keys of their own');
  }
  // RFC 6749 §3.2.
  return written.includes('#') ? fault('holds a fragment', 'remove what begins with #') : null;
}
