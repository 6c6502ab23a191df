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
  /** Which credential opens it: any accepted one, or only a signature by the application's secret; or it is open. */
  readonly credential: 'any' | 'signature' | 'none';
}

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
  if (template.length !== segments.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, expected] of template.entries()) {
    const given = segments[index] ?? '';
    if (expected.startsWith(':')) {
      if (given === '') return null;
      parameters[expected.slice(1)] = given;
    } else if (expected !== given) {
      return null;
    }
  }
  return parameters;
}

/** The first route whose template the path matches: case and trailing slash count. */
export function findRoute<R extends { readonly template: string }>(
  routes: readonly R[],
  path: string,
): RouteMatch<R> | null {
  const segments = decodedSegments(path);
  if (segments === null) return null;
  for (const route of routes) {
    const parameters = matchSegments(route.template.split('/'), segments);
    if (parameters !== null) return { route, parameters };
  }
  return null;
}

/** The methods of a route as the Allow field lists them (RFC 9110 §10.2.1). */
export function allowedMethods(route: Route): readonly string[] {
  const own = Object.keys(route.methods);
  return [...own, ...(own.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
}
