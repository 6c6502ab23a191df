import { Burst } from './burst.ts';
import { Conversation } from './conversation.ts';
import { Exchange } from './exchange.ts';
import { type StorageLimits, type ValueOf, variant } from './record/codec.ts';

export type Evidence = ValueOf<typeof Evidence>;
const Evidence = variant('kind', { exchange: Exchange, conversation: Conversation, burst: Burst });

const LIMITS: StorageLimits = { bodyOctets: 64 * 1024, frameOctets: 4 * 1024 };

/**
 * Evidence as it stands in the journal and in results.json: plain JSON data with its `kind` and `id`. Octets are
 * text where they are UTF-8 and base64 otherwise. The form only grows; `evidenceFromJson` is its inverse, but for what
 * the limits leave out.
 */
export function evidenceToJson(evidence: Evidence, limits: Partial<StorageLimits> = {}): unknown {
  return Evidence.write(evidence, { ...LIMITS, ...limits });
}

/**
 * Reads that form back. Throws HarnessError, with the path of the member, for anything else; members it does not know
 * are left alone. A body or payload that was cut in storing is truncated from then on.
 */
export function evidenceFromJson(value: unknown): Evidence {
  return Evidence.read(value);
}
