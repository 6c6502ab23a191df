import { type Deviation, gotText } from '../../../base/finding.ts';
import type { EvidenceView } from './evidence-view.ts';

/** Where in a transcript that may stand which a deviation tells of. */
type Trace = (got: string, lines: EvidenceView['lines']) => readonly number[];

/** The first that finds a line decides: what names a thing comes before what names only its kind. */
const TRACES: readonly Trace[] = [fieldNamed, requestCounted, codeNamed, statusNamed, endTold, contentTold];

/**
 * Indices of the lines of the decisive evidence that show what came instead of what was expected. Where the deviation
 * names none, the line with which the service answered; none where it said nothing.
 */
export function offendingLines(deviation: Deviation | null, { lines }: EvidenceView): ReadonlySet<number> {
  const got = deviation === null ? '' : gotText(deviation);
  for (const trace of TRACES) {
    const found = trace(got, lines);
    if (found.length > 0) return new Set(found);
  }
  const answer = lines.findLastIndex(
    ({ direction, text }) => direction === '<' && /^HTTP\/\S+ \d{3}/.test(text),
  );
  return new Set(answer >= 0 ? [answer] : []);
}

/** `Content-Type text/html` or `Date: "…" and "…"`: the field, each line of it. */
function fieldNamed(got: string, lines: EvidenceView['lines']): readonly number[] {
  const words = got.toLowerCase();
  return matching(lines, '<', (text) => {
    const name = /^\s*([\w-]+): /.exec(text)?.[1]?.toLowerCase();
    // A single word may be any word: it is a field's name where a value follows, or where it begins what came.
    if (name === undefined) return false;
    return name.includes('-') ? words.includes(name) : words.startsWith(name) || words.includes(`${name}: `);
  });
}

/** `104th`, `request 104`: the run of answers of a burst in which it is. */
function requestCounted(got: string, lines: EvidenceView['lines']): readonly number[] {
  const nth = Number(/\b(\d+)(?:st|nd|rd|th)\b|\brequest (\d+)/.exec(got)?.slice(1).find(Boolean));
  return matching(lines, '<', (text) => {
    const [, first, last = first] = /^requests? (\d+)(?: to (\d+))?:/.exec(text) ?? [];
    return first !== undefined && Number(first) <= nth && nth <= Number(last);
  });
}

/** `1000 (normal closure)`, `the close code 1002`: the Close frame with that code. */
function codeNamed(got: string, lines: EvidenceView['lines']): readonly number[] {
  const code = /\b(?:code )?([134]\d{3})\b/.exec(got)?.[1];
  return code === undefined
    ? []
    : matching(lines, '<', (text) => text.startsWith('close, ') && text.includes(`: ${code}`));
}

/** `status 200`: the status line that says so. */
function statusNamed(got: string, lines: EvidenceView['lines']): readonly number[] {
  const status = /(?:\bstatus |^)(\d{3})\b/.exec(got)?.[1];
  if (status === undefined) return [];
  const at = lines.findLastIndex(
    ({ direction, text }) => direction === '<' && text.startsWith('HTTP/') && text.includes(` ${status}`),
  );
  if (at >= 0) return [at];
  return matching(lines, '<', (text) => text.startsWith('request') && text.includes(`: ${status}`)).slice(
    0,
    1,
  );
}

/** What did not come, or how it ended: the frame of that kind, or the last line of all. */
function endTold(got: string, lines: EvidenceView['lines']): readonly number[] {
  const failed = lines.findIndex(({ direction, text }) => direction === '*' && text.startsWith('failed ('));
  if (failed >= 0 && /\bno (?:whole )?(?:response|HTTP answer)|\bnone\b/.test(got)) return [failed];
  const opened = lines.findIndex(({ direction, text }) => direction === '<' && /^HTTP\/\S+ 101/.test(text));
  if (opened < 0) return [];
  const isFrame = ({ direction, text }: EvidenceView['lines'][number]) =>
    direction === '<' && /^[a-z]+, \d/.test(text);
  if (/\bone with\b/.test(got)) {
    const pong = lines.findLastIndex((line) => isFrame(line) && line.text.startsWith('pong, '));
    if (pong >= 0) return [pong];
  }
  const last = lines.findLastIndex((line, at) => at > opened && line.direction !== '>');
  return last >= 0 ? [last] : [];
}

/** A body that is not as it should be: its first line. */
function contentTold(got: string, lines: EvidenceView['lines']): readonly number[] {
  if (!/\b(?:body|JSON|octets|content|member|title|text)\b/.test(got)) return [];
  const empty = lines.findLastIndex(({ direction, text }) => direction === '<' && text === '');
  const first = lines.findIndex(({ direction }, at) => empty >= 0 && at > empty && direction === '<');
  return first >= 0 ? [first] : [];
}

function matching(
  lines: EvidenceView['lines'],
  direction: '<' | '>',
  isMeant: (text: string) => boolean,
): readonly number[] {
  return lines.flatMap((line, at) => (line.direction === direction && isMeant(line.text) ? [at] : []));
}
