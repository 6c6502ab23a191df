import { onReceipt, type Patch } from './patch.ts';

/** Other readings of a path than its octets, as proxies and applications have them. */

/** RFC 3986 §5.2.4: without its dot segments. */
export function withoutDotSegments(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

export const withoutRepeatedSlashes = (path: string): string => path.replace(/\/{2,}/g, '/');

export const withoutMatrixParameters = (path: string): string => path.replace(/;[^/]*/g, '');

/** Takes each path for another one, which decides on everything else, the credential included. */
export const readingPaths = (read: (path: string) => string): Patch =>
  onReceipt((request) => ({ ...request, path: read(request.path) }));
