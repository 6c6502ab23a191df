import type { InputTrialKind } from './call.ts';

interface TriedInput {
  /** `query parameter "limit"`, with its value if that is valid */
  readonly words: string;
  /** Where it is documented: `openapi.yaml:12:5`; empty if unknown. */
  readonly place: string;
  readonly keyword?: string;
  readonly limit?: unknown;
  /** The name of an example. */
  readonly example?: string;
}

/** UTF-16 units of a limit, such as a pattern or a list of values. */
const LONGEST_LIMIT = 60;

/** The change that a service needs if it does not answer one trial as documented; null if its check says all. */
export function changeFor(kind: InputTrialKind, tried: TriedInput): string | null {
  const { words, keyword = '', limit, example = '' } = tried;
  const at = tried.place === '' ? '' : ` (${tried.place})`;
  const constraint = `\`${keyword}${limit === undefined ? '' : `: ${shortOf(limit)}`}\``;
  switch (kind) {
    case 'hostile':
      return `Check ${words} before you look anything up${at}, and answer 400 or 404.`;
    case 'missing':
      return `Answer 400 or 422 without ${words}, which is \`required\`${at}.`;
    case 'boundary':
      return `Accept ${words}: ${constraint} admits it${at}. Or document the limit that you check.`;
    case 'characters':
      return `Count characters, not bytes: ${constraint} admits ${words}${at}.`;
    case 'example':
      return `Accept the example ${example} of ${words}${at}, or correct it.`;
    case 'text':
    case 'extra':
      return null;
    default:
      return `Hold ${words} to ${constraint}${at}, and answer 400 or 422 otherwise.`;
  }
}

function shortOf(limit: unknown): string {
  const text = typeof limit === 'string' ? limit : JSON.stringify(limit);
  return text.length <= LONGEST_LIMIT ? text : `${text.slice(0, LONGEST_LIMIT - 1)}…`;
}
