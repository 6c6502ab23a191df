import { hasMembers } from '../../../base/json-text.ts';
import { type At, child, children } from '../../document/at.ts';

interface DocumentedAddress {
  /** What stands before the path, below the base address: '' or `/v1`. */
  readonly prefix: string;
  /** Why the provider under test is not the one meant; null when it is. */
  readonly elsewhere: string | null;
}

/** Stands for wherever the document lies; server URLs may be relative to that. */
const ANYWHERE = 'http://document.invalid/';

/**
 * The path that `servers` puts before an operation's own (OpenAPI 3.1 §4.8.5). The host is the config's to say, so
 * only the path of the first server counts, and only as far as the base address does not end with it already: below
 * `https://api.example/gateway/api`, `/api/v1` is `/v1`.
 */
export function addressOf(root: At, pathItem: At, operation: At, basePath: string): DocumentedAddress {
  const general = serverUrl(root);
  const own = serverUrl(operation) ?? serverUrl(pathItem);
  const url = own ?? general;
  const segments = segmentsOf(url?.pathname ?? '');
  const base = segmentsOf(basePath);
  const shared = segments.findLastIndex((_, last) => endsWith(base, segments.slice(0, last + 1)));
  const generalHost = general?.host ?? new URL(ANYWHERE).host;
  return {
    prefix: segments
      .slice(shared + 1)
      .map((segment) => `/${segment}`)
      .join(''),
    elsewhere:
      own !== null && own.host !== generalHost ? `it is served at another address, ${own.origin}` : null,
  };
}

function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/').slice(1);
  return segments.at(-1) === '' ? segments.slice(0, -1) : segments;
}

function endsWith(base: readonly string[], segments: readonly string[]): boolean {
  const end = base.slice(base.length - segments.length);
  return segments.length <= base.length && segments.every((segment, index) => segment === end[index]);
}

function serverUrl(at: At): URL | null {
  const server = children(child(at, 'servers'))[0]?.[1];
  if (server === undefined) return swaggerUrl(at);
  const { value: written } = child(server, 'url');
  if (typeof written !== 'string') return null;
  const variables = child(server, 'variables');
  const filled = written.replaceAll(/\{([^}]*)\}/g, (_, name: string) => {
    const { value } = child(child(variables, name), 'default');
    return hasMembers(value) ? name : String(value ?? name);
  });
  return URL.parse(filled, ANYWHERE);
}

/** Swagger 2.0 has one server, in two parts. */
function swaggerUrl(root: At): URL | null {
  const [host, path] = ['host', 'basePath'].map((name) => child(root, name).value);
  if (typeof path !== 'string' && typeof host !== 'string') return null;
  const base = typeof host === 'string' ? `http://${host}/` : ANYWHERE;
  return URL.parse(typeof path === 'string' ? path : '/', base);
}
