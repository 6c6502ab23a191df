import { Conversation } from './conversation.ts';
import { EvidenceId, Exchange, type FieldLine, HEADING } from './exchange.ts';
import {
  type Codec,
  choice,
  list,
  NotOfShape,
  nullable,
  number,
  optional,
  record,
  row,
  type StorageLimits,
  storedAs,
  text,
  type ValueOf,
  variant,
} from './record/codec.ts';

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

const BURST = {
  kind: choice('burst'),
  ...HEADING,
  mode: choice('serial', 'parallel'),
  /** Requests with the right credential that this session had sent in the window before the burst began. */
  before: number,
  /** Evidence id of the first refusal, recorded as an exchange. */
  refusal: nullable(EvidenceId),
  /** Evidence ids of answers before it that were faults of the moment, recorded as exchanges. */
  faults: optional(list(EvidenceId)),
};
const Heading = record(BURST);

/** Many equal requests sent to meet a rate limit. The first refusal, and faults before it, are also kept whole, as exchanges of their own. */
export type Burst = ValueOf<typeof Heading> & { readonly entries: readonly BurstEntry[] };

/** `layouts[layout]` has the names of the field lines whose values follow; milliseconds are rounded to microseconds. */
type StoredEntry = readonly [
  index: number,
  sentMs: number,
  durationMs: number,
  status: number | null,
  layout: number,
  values: readonly string[],
  failure?: string,
];

const StoredBurst = record({
  ...BURST,
  layouts: list(list(text)),
  entries: list(
    row<StoredEntry>(number, number, number, nullable(number), number, list(text), optional(text)),
  ),
});

export const Burst: Codec<Burst> = storedAs(StoredBurst, {
  store({ entries, ...burst }: Burst) {
    const layouts = new Map<string, number>();
    const rows = entries.map(({ index, sentMs, durationMs, status, fields, failure }): StoredEntry => {
      const names = JSON.stringify(fields.map(([name]) => name));
      const layout = layouts.get(names) ?? layouts.size;
      layouts.set(names, layout);
      const values = fields.map(([, value]) => value);
      const entry = [index, rounded(sentMs), rounded(durationMs), status, layout, values] as const;
      return failure === null ? entry : [...entry, failure];
    });
    return { ...burst, layouts: Array.from(layouts.keys(), (names) => JSON.parse(names)), entries: rows };
  },
  restore({ layouts, entries, ...burst }) {
    const restored = entries.map(
      ([index, sentMs, durationMs, status, layout, values, failure = null], at): BurstEntry => {
        const names = layouts[layout];
        if (names?.length !== values.length)
          throw new NotOfShape('does not fit its layout', `entries[${at}]`);
        const fields = names.map((name, column) => [name, values[column] ?? ''] as const);
        return { index, sentMs, durationMs, status, fields, failure };
      },
    );
    return { ...burst, entries: restored };
  },
});

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

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
