import { asList, hasMembers, isJsonObject, type JsonObject, parseJsonObject } from '../../base/json-text.ts';
import { visible } from '../../wire/octets/visible.ts';

/** What Pact says of one interaction. */
export type PactVerdict =
  | { readonly kind: 'verified' }
  /** Pact's own words, one line per mismatch. */
  | { readonly kind: 'mismatched'; readonly mismatches: readonly string[] }
  /** Pact came to no verdict. */
  | { readonly kind: 'undecided'; readonly reason: string };

const LONGEST_LINE = 300;

/**
 * Reads what the verifier answered for a pact of one interaction. Pact resolves with success when it verified
 * nothing at all, so only the named interaction, reported once, counts as verified.
 */
export function readVerdict(text: string, description: string): PactVerdict {
  const report = parseJsonObject(text);
  if (report === null) return undecided(text);
  const results = asList(report.interactionResults).filter(isJsonObject);
  const errors = asList(report.errors).filter(isJsonObject);
  const [result] = results;
  if (result === undefined) {
    const [error] = errors;
    return undecided(error ? messageOf(error.mismatch) : 'Pact found no interaction in the pact');
  }
  if (results.length > 1 || result.description !== description) {
    return undecided(`Pact reports ${results.length} other interactions in place of this one`);
  }
  if (result.result === 'OK') {
    return errors.length === 0 ? { kind: 'verified' } : undecided(messageOf(errors[0]?.mismatch));
  }
  const { mismatch } = result;
  if (!isJsonObject(mismatch) || mismatch.type !== 'mismatches') return undecided(messageOf(mismatch));
  const mismatches = asList(mismatch.mismatches).filter(isJsonObject).map(lineOf);
  return mismatches.length > 0
    ? { kind: 'mismatched', mismatches }
    : undecided('Pact reports a failure without a mismatch');
}

function lineOf({ type, path, key, mismatch, expected, actual }: JsonObject): string {
  const said =
    typeof mismatch === 'string' ? mismatch : `expected ${plain(expected)} but was ${plain(actual)}`;
  if (type === 'BodyMismatch' && typeof path === 'string') return shown(`${path}: ${said}`);
  if (type === 'StatusMismatch') return shown(`status: ${said}`);
  // Pact's text names the header or metadata key already; where it does not, the line would be about nothing.
  return shown(typeof key === 'string' && !said.includes(key) ? `${key}: ${said}` : said);
}

/** An object may have a `toString` of its own. */
function plain(value: unknown): string {
  return hasMembers(value) ? JSON.stringify(value) : String(value);
}

function messageOf(mismatch: unknown): string {
  if (isJsonObject(mismatch) && typeof mismatch.message === 'string') return mismatch.message;
  return 'Pact gives no reason';
}

function undecided(reason: string): PactVerdict {
  return { kind: 'undecided', reason: shown(reason) };
}

function shown(text: string): string {
  return visible(text.trim(), LONGEST_LINE);
}
