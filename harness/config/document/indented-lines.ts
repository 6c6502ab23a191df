/** Many authors close brackets and quotes at the margin, and most parsers read that. */
const DEEP = ' '.repeat(64);
/** Brackets and quotes of one file that are looked at. */
const MAX_PLACES = 1_000;

/**
 * The text with the lines within brackets and quotes indented: white space at the beginning of such a line means nothing,
 * but YAML 1.2 demands it. Lines keep their numbers. null if there are none.
 */
export function withIndentedLines(text: string): string | null {
  const breaks = lineBreaksWithin(text);
  if (breaks.length === 0 || breaks.length > MAX_PLACES) return null;
  let at = 0;
  const parts: string[] = [];
  for (const each of breaks) {
    parts.push(text.slice(at, each + 1), DEEP);
    at = each + 1;
  }
  return parts.join('') + text.slice(at);
}

/** Offsets of the line breaks within flow collections and quotes. Block scalars are skipped by their indentation. */
function lineBreaksWithin(text: string): readonly number[] {
  const breaks: number[] = [];
  let open = 0;
  let quote: string | null = null;
  /** Columns of the line that a block scalar belongs to; null outside of one. */
  let block: number | null = null;
  let line = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (char === '\n') {
      if (open > 0 || quote !== null) breaks.push(at);
      else if (block === null && /[|>][-+0-9]*\s*(?:#.*)?$/.test(text.slice(line, at)))
        block = columns(text, line);
      line = at + 1;
      const isBlank = /^[ \t]*(?:\n|$)/.test(text.slice(line, line + 200));
      if (block !== null && !isBlank && columns(text, line) <= block) block = null;
      continue;
    }
    if (block !== null) continue;
    if (quote !== null) {
      if (char === '\\' && quote === '"') at += 1;
      else if (char === quote) quote = null;
    } else if (char === '#' && /^\s?$/.test(text[at - 1] ?? '')) {
      const end = text.indexOf('\n', at);
      at = (end === -1 ? text.length : end) - 1;
    } else if (CLOSING.has(char) && open > 0) open -= 1;
    else if (isStart(text.slice(Math.max(line, at - LOOK_BACK), at), open > 0)) {
      if (char === '"' || char === "'") quote = char;
      else if (char === '[' || char === '{') open += 1;
    }
  }
  return breaks;
}

const CLOSING: ReadonlySet<string> = new Set([']', '}']);
/** Characters before a value that tell whether it begins there. */
const LOOK_BACK = 40;

function isStart(before: string, isWithin: boolean): boolean {
  return isWithin ? /(?:[[{,:]|^)\s*$/.test(before) : /(?:[:?-]\s+|^\s*)$/.test(before);
}

function columns(text: string, line: number): number {
  return /^ */.exec(text.slice(line, line + 200))?.[0].length ?? 0;
}
