import { hasMembers, isJsonObject } from './json-text.ts';

/** How firmly the provider's document states something. */
export type Standing = 'stated' | 'advised' | 'not-shown';

/**
 * Where a clause stands in its source document: the heading, and the row below it, counted from 1. A bullet, a row
 * of a table's body and a paragraph are a row each.
 */
export interface ClausePlace {
  readonly section: string;
  readonly row: number;
}

/** Any value a clause may carry: plain data, as YAML gives it. `null` when the document does not show it. */
export type ClauseValue =
  | string
  | number
  | boolean
  | null
  | readonly ClauseValue[]
  | { readonly [key: string]: ClauseValue };

/** One statement of a provider's document. */
export interface Clause {
  /** Dotted, shared by all contracts (see `vocabulary.ts`), e.g. `limits.rate`. */
  readonly key: string;
  readonly standing: Standing;
  readonly value: ClauseValue;
  /** Where the document says so; null if the contract does not tell. */
  readonly place: ClausePlace | null;
  /** File and line of a clause that is in no contract file: `openapi.yaml:12`. */
  readonly line?: string;
  /** Keys of clauses of the same contract that contradict this one. */
  readonly contradicts?: readonly string[];
  /** The open question of the clause, in one sentence. */
  readonly question?: string;
  /** Subjects that a row names without showing them, e.g. `signing` in "how the credentials are used (signing …): not shown". */
  readonly names?: readonly string[];
}

/** The clauses of one provider's documents. */
export interface Contract {
  readonly name: string;
  readonly title: string;
  readonly source: {
    readonly document: string;
    /** Rows per section of the document, so that a lost row is seen. */
    readonly rows?: Readonly<Record<string, number>>;
    readonly sha256?: string;
  };
  readonly clauses: readonly Clause[];
}

/** The documented sample request (`endpoint.sample`). */
export interface Sample {
  readonly method: string;
  readonly path: string;
  /** Field names and the values sent; the credential field is left to `credentials`. */
  readonly fields: Readonly<Record<string, string>>;
  /** Request body; null if none. */
  readonly body: string | null;
}

/** The documented sample request; null when the contract shows none. The loader has held its value to its schema. */
export function documentedSample(contract: Contract): Sample | null {
  const value = findClause(contract, 'endpoint.sample')?.value;
  if (!isSample(value)) return null;
  const { method, path, fields, body } = value;
  if (body === undefined || typeof body === 'string') return { method, path, fields, body: body ?? null };
  return { method, path, fields: { ...JSON_CONTENT, ...fields }, body: JSON.stringify(body) };
}

/** Marks a body as JSON, unless the contract has a Content-Type. */
const JSON_CONTENT = { 'Content-Type': 'application/json' };

function isSample(value: unknown): value is Omit<Sample, 'body'> & { readonly body?: unknown } {
  return (
    isJsonObject(value) &&
    typeof value.method === 'string' &&
    typeof value.path === 'string' &&
    hasMembers(value.fields) &&
    Object.values(value.fields).every((field) => typeof field === 'string')
  );
}

/** `search.md, Limits, row 2` or `openapi.yaml:12`, for a person. */
export function placeOfClause({ source }: Contract, { place, line }: Clause): string {
  if (place === null) return line ?? source.document;
  return `${source.document}, ${place.section}, row ${place.row}`;
}

export function findClause(contract: Contract, key: string): Clause | undefined {
  return contract.clauses.find((clause) => clause.key === key);
}
