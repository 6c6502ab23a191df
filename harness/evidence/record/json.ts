import { HarnessError } from '../../exit.ts';
import type { Evidence } from '../evidence.ts';
import { burstFromJson, burstToJson } from './burst-json.ts';
import { conversationFromJson, conversationToJson } from './conversation-json.ts';
import { exchangeFromJson, exchangeToJson } from './exchange-json.ts';
import { RecordReader, readOneOf } from './strict-reader.ts';

/** How many octets are stored, at most; the rest is counted as omitted. */
interface StorageLimits {
  /** Of each body. */
  readonly bodyOctets?: number;
  /** Of each WebSocket frame's payload. */
  readonly frameOctets?: number;
}

const DEFAULT_BODY_OCTETS = 64 * 1024;
const DEFAULT_FRAME_OCTETS = 4 * 1024;

/**
 * Evidence as it stands in the journal and in results.json: plain JSON data with its `kind` and `id`. Octets are
 * text where they are UTF-8 and base64 otherwise. The form only grows; `evidenceFromJson` is its inverse, but for what
 * the limits leave out.
 */
export function evidenceToJson(evidence: Evidence, limits: StorageLimits = {}): object {
  const { bodyOctets = DEFAULT_BODY_OCTETS, frameOctets = DEFAULT_FRAME_OCTETS } = limits;
  switch (evidence.kind) {
    case 'exchange':
      return exchangeToJson(evidence, bodyOctets);
    case 'conversation':
      return conversationToJson(evidence, bodyOctets, frameOctets);
    case 'burst':
      return burstToJson(evidence);
  }
}

/**
 * Reads that form back. Throws HarnessError, with the path of the member, for anything else; members it does not know
 * are left alone. A body or payload that was cut in storing is truncated from then on.
 */
export function evidenceFromJson(value: unknown): Evidence {
  const record = new RecordReader(value, '');
  const kind = record.get('kind', readOneOf('exchange', 'conversation', 'burst'));
  switch (kind) {
    case 'exchange':
      return exchangeFromJson(record);
    case 'conversation':
      return conversationFromJson(record);
    case 'burst':
      return burstFromJson(record);
    default:
      throw new HarnessError(`there is no evidence of the kind ${String(kind satisfies never)}`);
  }
}
