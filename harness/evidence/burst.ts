import type { CredentialUse, EvidenceId, FieldLine, Timing } from './exchange.ts';

/** One request of a burst, kept small: a burst may hold thousands. */
export interface BurstEntry {
  /** 1-based within the burst. */
  readonly index: number;
  /** Milliseconds on the session's monotonic clock when it was sent. */
  readonly sentMs: number;
  readonly durationMs: number;
  /** null when no response came. */
  readonly status: number | null;
  /** Quota, Retry-After and Date field lines only. */
  readonly fields: readonly FieldLine[];
  /** What went wrong, when nothing came. */
  readonly failure: string | null;
}

/** Many equal requests sent to meet a rate limit. The first refusal is also kept whole, as an exchange of its own. */
export interface Burst {
  readonly kind: 'burst';
  readonly id: EvidenceId;
  readonly purpose: string;
  readonly credential: CredentialUse;
  readonly mode: 'serial' | 'parallel';
  /** Requests with the right credential that this session had sent in the window before the burst began. */
  readonly before: number;
  readonly entries: readonly BurstEntry[];
  /** Evidence id of the first refusal, recorded as an exchange. */
  readonly refusal: EvidenceId | null;
  readonly timing: Timing;
}
