import type { HttpAnswer } from './answer.ts';
import type { ReceivedRequest } from './message.ts';

export interface RouteCall {
  readonly request: ReceivedRequest;
  /** The decoded values of the template's `:name` segments. */
  readonly parameters: Readonly<Record<string, string>>;
}

export interface Route {
  /** Path with `:name` segments, e.g. `/v1/resources/:id`. */
  readonly template: string;
  /** By method; HEAD follows from GET, OPTIONS is answered for every route. */
  readonly methods: Readonly<Record<string, (call: RouteCall) => HttpAnswer>>;
  /** What opens it: only a signature by the application's secret, or nothing; by default any accepted credential. */
  readonly credential?: RouteCredential;
  /** What opens it by some methods; `credential` is for the others. */
  readonly credentials?: Readonly<Record<string, RouteCredential>>;
  /** The values of a path for a template of another form; null if it does not fit. */
  readonly match?: (path: string) => Readonly<Record<string, string>> | null;
}

/** `optional`: a request without a credential is served as well, but none with a wrong one. */
export type RouteCredential = 'signature' | 'optional' | 'none';

export interface RouteMatch<R> {
  readonly route: R;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Segments of a path with their percent-encoding decoded; null when one does not decode to UTF-8. */
function decodedSegments(path: string): readonly string[] | null {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return null;
  }
}

function matchSegments(
  template: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | null {
  const isName = (part: string) => part.startsWith(':');
  const fits = (part: string, at: number) => (isName(part) ? segments[at] !== '' : part === segments[at]);
  if (template.length !== segments.length || !template.every(fits)) return null;
  return Object.fromEntries(
    template.flatMap((part, at) => (isName(part) ? [[part.slice(1), segments[at] ?? '']] : [])),
  );
}

/** The first route whose template the path matches: case and trailing slash count. */
export function findRoute<R extends Pick<Route, 'template' | 'match'>>(
  routes: readonly R[],
  path: string,
): RouteMatch<R> | null {
  const segments = decodedSegments(path);
  if (segments === null) return null;
  for (const route of routes) {
    const parameters = route.match ? route.match(path) : matchSegments(route.template.split('/'), segments);
    if (parameters !== null) return { route, parameters };
  }
  return null;
}

/** The methods of a route as the Allow field lists them (RFC 9110 §10.2.1). */
export function allowedMethods(route: Route): readonly string[] {
  const own = Object.keys(route.methods);
  return [...own, ...(own.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
}
