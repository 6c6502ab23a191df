import type { ReferenceName, ServiceConfig } from '../../config/service.ts';

/** What a setting makes of the shipped config. */
export type Adapt = (config: ServiceConfig) => ServiceConfig;

/** The config under which a case is judged; what concerns one way of calling is seen only by those who call so. */
export interface Setting {
  readonly name: string;
  /** What the service config says otherwise than the shipped one; null where it says the same. */
  readonly words: string | null;
  readonly adapt: Adapt;
  /** Path of the base URL below which the service is called; the root when left out. */
  readonly mount?: string;
  /** It is called over TLS. */
  readonly overTls?: true;
  /** The operations are those by which clients create and remove what is theirs. */
  readonly stored?: true;
  /** How many requests more it takes than the shipped one, at the most. Default: none. */
  readonly moreRequests?: number;
  /** A refusal comes otherwise under it, so that defects of the way in trip something else. */
  readonly isRefusedOtherwise?: true;
  /** The services that conform under it as they are; none where that takes a variant. */
  readonly conforming: readonly ReferenceName[];
}
