import type { Http2Behavior } from '../behavior.ts';
import type { Patch } from './patch.ts';

/** Speaks HTTP/2 beside HTTP/1.1, with this difference. */
export const inHttp2 =
  (difference: Http2Behavior): Patch =>
  (behavior) => ({ ...behavior, http2: { ...behavior.http2, ...difference } });
