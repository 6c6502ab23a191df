import { gzipSync } from 'node:zlib';
import { type Deviation, gotText } from '../../../base/finding.ts';
import { shortened } from '../../../base/text.ts';
import { comparedIn } from '../../results/causes.ts';
import { type EvidenceView, shownEvidence, viewEvidence } from '../../results/evidence/evidence-view.ts';
import type { Results } from '../../results/results.ts';
import type { JudgedCheck } from '../../results/tally.ts';
import { duration } from '../../results/words/words.ts';
import { chevron, html, type Markup, SCRIPT_END, trusted } from '../markup/markup.ts';
import { checkAnchor, evidenceKey } from '../markup/row.ts';

const KINDS = { '>': 'sent', '<': 'received', '*': 'noted' } as const;

/** UTF-16 units of the expectation, beside the line that does not meet it. */
const LONGEST_ASIDE = 60;

/** UTF-16 units of transcripts that stand in a page as they are; the rest is in `results.json`. */
const INLINE_LIMIT = 2_500_000;

/** How much room a page has left for transcripts. */
export class TranscriptRoom {
  #left = INLINE_LIMIT;

  takes(view: EvidenceView): boolean {
    this.#left -= view.lines.reduce((sum, { text }) => sum + text.length + 80, 200);
    return this.#left > 0;
  }
}

/** The exchange that decided, opened, its offending line marked; what else was looked at, a closed line each. */
export function exchanges({ service, check }: JudgedCheck, room: TranscriptRoom): Markup | null {
  const { first, others, left } = shownEvidence(check);
  if (first === null) return null;
  const view = viewEvidence(service, first);
  const compared = comparedIn(check);
  const marked = check.decisive == null ? new Set<number>() : offendingLines(compared, view);
  const aside = compared === null ? null : shortened(`expected ${compared.expected}`, LONGEST_ASIDE);
  const role = check.decisive == null ? 'the last exchange' : 'the exchange that decided';
  return html`<div class="exchange"><p class="head"><b>${view.title}</b> <code>${view.id}</code><span class="muted">${view.tookMs > 0 && `${duration(view.tookMs)}, `}${role}</span></p>
${room.takes(view) ? transcript(view, marked, aside) : elsewhere(view)}
${others.map((id) => other(viewEvidence(service, id), room))}
${left > 0 && html`<p class="muted more">${left} more in results.json</p>`}</div>`;
}

function other(view: EvidenceView, room: TranscriptRoom): Markup {
  return html`<details class="other"><summary>${chevron()}<span><code>${view.id}</code> ${view.title}<span class="muted">${view.answer !== '' && `, answered ${view.answer}`}</span></span></summary>
${room.takes(view) ? transcript(view, new Set(), null) : elsewhere(view)}</details>`;
}

function elsewhere({ id }: EvidenceView): Markup {
  return html`<p class="muted more">Evidence ${id} is in results.json.</p>`;
}

/** `script/evidence.js` builds the same from packed evidence: change both. */
function transcript(view: EvidenceView, marked: ReadonlySet<number>, aside: string | null): Markup {
  const rows = view.lines.map(({ atMs, direction, text }, at) => {
    const isMarked = marked.has(at);
    const before = view.lines[at - 1];
    const isRepeated = before !== undefined && Math.round(before.atMs) === Math.round(atMs);
    return html`<div class="line ${KINDS[direction]}${isMarked && ' marked'}"><span class="at">${isRepeated ? '' : `${Math.round(atMs)} ms`}</span><span class="dir">${direction}</span><span class="said">${withName(text)}</span>${isMarked && aside !== null && html`<span class="aside">${aside}</span>`}</div>`;
  });
  const omitted =
    view.omitted > 0 &&
    html`<div class="line noted"><span class="at"></span><span class="dir">*</span><span class="said">… ${view.omitted} more lines in results.json</span></div>`;
  return html`<div class="transcript" role="group" aria-label="Transcript of ${view.id}" tabindex="0">${rows}${omitted}</div>`;
}

/** The name of a field stands back behind its value. */
function withName(text: string): Markup | string {
  const [, name, value = ''] = /^([\w-]{1,60}:) (.*)$/s.exec(text) ?? [];
  return name === undefined ? text : html`<span class="field">${name}</span> ${value}`;
}

/** UTF-16 units of transcript that are packed at most, and base64 units that a page carries of them. */
const PACKED_LIMIT = 16_000_000;
const PACK_LIMIT = 1_500_000;

/** As `script/evidence.js` reads it. */
interface Pack {
  /** `[title, answer, omitted, [[atMs, direction, text] …]]` by `service/evidence`. */
  readonly evidence: Record<
    string,
    readonly [string, string, number, readonly (readonly [number, string, string])[]]
  >;
  /** Keys of the evidence by `service/check`, that which decided first. */
  readonly checks: Record<string, readonly string[]>;
}

/** Transcripts of other checks, gzip and base64; null if they are too much for a page. */
export function packedEvidence({ services }: Results): Markup | null {
  const pack: Pack = { evidence: {}, checks: {} };
  let room = PACKED_LIMIT;
  for (const service of services) {
    for (const id of Object.keys(service.evidence)) {
      const { title, answer, omitted, lines } = viewEvidence(service, id);
      room -= lines.reduce((sum, { text }) => sum + text.length + 12, title.length + 40);
      if (room <= 0) return null;
      const packed = lines.map(({ atMs, direction, text }) => [Math.round(atMs), direction, text] as const);
      pack.evidence[evidenceKey(service, id)] = [title, answer, omitted, packed];
    }
    for (const check of service.checks) {
      const { first, others } = shownEvidence(check);
      if (first === null) continue;
      const keys = [first, ...others].map((id) => evidenceKey(service, id));
      pack.checks[checkAnchor(service, check)] = keys;
    }
  }
  const packed = gzipSync(JSON.stringify(pack)).toString('base64');
  if (packed.length > PACK_LIMIT) return null;
  // Base64 has no character that could end the element.
  return html`<script type="text/plain" id="evidence-pack">${trusted(packed)}${SCRIPT_END}`;
}

/** Where in a transcript that may stand which a deviation tells of. */
type LineSearch = (got: string, lines: EvidenceView['lines']) => readonly number[];

/** The first that finds a line decides: what names a thing comes before what names only its kind. */
const TRACES: readonly LineSearch[] = [fieldNamed, requestCounted, codeNamed, statusNamed, endOf, contentOf];

/** Indices of lines with the unexpected result, else of the line of the answer; none without one. */
export function offendingLines(deviation: Deviation | null, { lines }: EvidenceView): ReadonlySet<number> {
  const got = deviation === null ? '' : gotText(deviation);
  for (const trace of TRACES) {
    const found = trace(got, lines);
    if (found.length > 0) return new Set(found);
  }
  const isStatusLine = (text: string) => /^HTTP\/\S+ \d{3}/.test(text);
  return new Set(received(lines, isStatusLine).slice(-1));
}

/** `Content-Type text/html` or `Date: "…" and "…"`: the field, each line of it. */
function fieldNamed(got: string, lines: EvidenceView['lines']): readonly number[] {
  const words = got.toLowerCase();
  return received(lines, (text) => {
    const name = /^\s*([\w-]+): /.exec(text)?.[1]?.toLowerCase();
    // A single word may be any word: it is a field's name where a value follows, or where it begins the result.
    if (name === undefined) return false;
    return name.includes('-') ? words.includes(name) : words.startsWith(name) || words.includes(`${name}: `);
  });
}

/** `104th`, `request 104`: the run of answers of a burst in which it is. */
function requestCounted(got: string, lines: EvidenceView['lines']): readonly number[] {
  const nth = Number(/\b(\d+)(?:st|nd|rd|th)\b|\brequest (\d+)/.exec(got)?.slice(1).find(Boolean));
  return received(lines, (text) => {
    const [, first, last = first] = /^requests? (\d+)(?: to (\d+))?:/.exec(text) ?? [];
    return first !== undefined && Number(first) <= nth && nth <= Number(last);
  });
}

/** `1000 (normal closure)`, `the close code 1002`: the Close frame with that code. */
function codeNamed(got: string, lines: EvidenceView['lines']): readonly number[] {
  const code = /\b(?:code )?([134]\d{3})\b/.exec(got)?.[1];
  return code === undefined
    ? []
    : received(lines, (text) => text.startsWith('close, ') && text.includes(`: ${code}`));
}

/** `status 200`: the status line that says so. */
function statusNamed(got: string, lines: EvidenceView['lines']): readonly number[] {
  const status = /(?:\bstatus |^)(\d{3})\b/.exec(got)?.[1];
  if (status === undefined) return [];
  const isSo = (text: string) => text.startsWith('HTTP/') && text.includes(` ${status}`);
  const found = received(lines, isSo);
  if (found.length > 0) return found.slice(-1);
  const isOfBurst = (text: string) => text.startsWith('request') && text.includes(`: ${status}`);
  return received(lines, isOfBurst).slice(0, 1);
}

/** What did not come, or how it ended: the frame of that kind, or the last line of all. */
function endOf(got: string, lines: EvidenceView['lines']): readonly number[] {
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
function contentOf(got: string, lines: EvidenceView['lines']): readonly number[] {
  if (!/\b(?:body|JSON|octets|content|member|title|text)\b/.test(got)) return [];
  const empty = lines.findLastIndex(({ direction, text }) => direction === '<' && text === '');
  const first = lines.findIndex(({ direction }, at) => empty >= 0 && at > empty && direction === '<');
  return first >= 0 ? [first] : [];
}

/** The lines that the service sent, as far as they are meant. */
function received(lines: EvidenceView['lines'], isMeant: (text: string) => boolean): readonly number[] {
  return lines.flatMap((line, at) => (line.direction === '<' && isMeant(line.text) ? [at] : []));
}
