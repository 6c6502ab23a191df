import { shortened, withShortValues } from '../../../base/text.ts';
import { type Evidence, evidenceFromJson } from '../../../wire/evidence.ts';
import { type TranscriptLine, transcript } from '../../../wire/forms/transcript.ts';
import { faultInWords } from '../causes.ts';
import type { CheckResult } from '../check-result.ts';
import type { ServiceResult } from '../results.ts';
import { counted } from '../tally.ts';
import { plainLine, plainText } from '../words/plain.ts';
import { groundInWords } from '../words/words.ts';

/** Evidence made ready to show: safe text, bounded length. */
export interface EvidenceView {
  readonly id: string;
  readonly purpose: string;
  /** The stimulus: `GET with a wrong key`. */
  readonly title: string;
  /** The response, in a word or two: `200`, `no response`, `110 answers`. */
  readonly answer: string;
  /** When it began; null when that cannot be read. */
  readonly startedAt: string | null;
  readonly tookMs: number;
  readonly lines: readonly TranscriptLine[];
  /** Lines left out; the whole is in `results.json`. */
  readonly omitted: number;
}

interface ViewLimits {
  readonly lines: number;
  /** Per line, in UTF-16 units. */
  readonly columns: number;
}

const PAGE_LIMITS: ViewLimits = { lines: 200, columns: 400 };

/** The evidence of that id; a value that cannot be read back is said to be so, never thrown over. */
export function viewEvidence(service: ServiceResult, id: string, limits = PAGE_LIMITS): EvidenceView {
  const purpose = plainText(service.ledger.find(({ evidence }) => evidence === id)?.purpose ?? '', 300);
  const note = (text: string): EvidenceView => ({
    id,
    purpose,
    title: purpose,
    answer: '',
    startedAt: null,
    tookMs: 0,
    lines: [{ atMs: 0, direction: '*', text }],
    omitted: 0,
  });
  if (!Object.hasOwn(service.evidence, id)) return note('this evidence is not in the results');
  try {
    const evidence = evidenceFromJson(service.evidence[id]);
    const lines = transcript(evidence).flatMap(({ atMs, direction, text }) =>
      plainText(text)
        .split('\n')
        .map((part) => ({ atMs, direction, text: shortened(part, limits.columns) })),
    );
    const said = plainText(evidence.purpose, 300);
    return {
      id,
      purpose: said,
      title: evidence.kind === 'exchange' ? `${plainLine(evidence.request.method, 40)} ${said}` : said,
      answer: answerOf(evidence),
      startedAt: evidence.timing.startedAt,
      tookMs: evidence.timing.durationMs,
      lines: lines.slice(0, limits.lines),
      omitted: Math.max(0, lines.length - limits.lines),
    };
  } catch (error) {
    return note(`this evidence cannot be read: ${plainText(String(error), 300)}`);
  }
}

/** The evidence that can be read back, by its id: results may come from elsewhere, and hold other values. */
export function readableEvidence(service: ServiceResult): readonly (readonly [id: string, Evidence])[] {
  return Object.entries(service.evidence).flatMap(([id, value]) => {
    try {
      return [[id, evidenceFromJson(value)] as const];
    } catch {
      return [];
    }
  });
}

function answerOf(evidence: Evidence): string {
  if (evidence.kind === 'burst') return counted(evidence.entries.length, 'answer');
  const { response } = evidence.kind === 'exchange' ? evidence : evidence.handshake;
  return String(response?.status ?? 'no response');
}

/** How many pieces of evidence are shown with one check. */
const SHOWN_PER_CHECK = 12;

/** What a check rests on, that first which decided it; the others in the order asked, the last of them where there are many. */
export function shownEvidence({ evidence, decisive }: CheckResult): {
  readonly first: string | null;
  readonly others: readonly string[];
  /** How many more there are. */
  readonly left: number;
} {
  const first = decisive ?? evidence.at(-1) ?? null;
  const rest = evidence.filter((id) => id !== first);
  const others = rest.slice(-(SHOWN_PER_CHECK - 1));
  return { first, others, left: rest.length - others.length };
}

/** Views of what a check rests on, that which decided it first. */
function viewsOf(service: ServiceResult, check: CheckResult, limits: ViewLimits): readonly EvidenceView[] {
  const { first, others } = shownEvidence(check);
  return first === null ? [] : [first, ...others].map((id) => viewEvidence(service, id, limits));
}

/** The transcript as lines of plain text, `+12 ms > GET / HTTP/1.1`. */
function viewAsText(view: EvidenceView): string {
  const head = `${view.id} ${view.purpose}`.trim();
  const lines = view.lines.map(({ direction, text }) => `${direction} ${text}`.trimEnd());
  const rest = view.omitted > 0 ? [`* … ${view.omitted} more lines in results.json`] : [];
  return [head, ...lines, ...rest].join('\n');
}

/** Evidence below a finding is an excerpt; the HTML page has it in full. */
const EXCERPT: ViewLimits = { lines: 60, columns: 400 };

/** UTF-16 units of a value in a message; the evidence has it whole. */
export const VALUE_CAP = 200;

/** One judgment as plain text: expectation, result, reason, grounds, a command, an excerpt. */
export function findingAsText(check: CheckResult, service: ServiceResult): string {
  const { title, headline, message, why, change, reproduce } = check;
  const said = [`the service ${title}`, headline, message, why, change]
    .filter((part) => part !== undefined && part !== '')
    // One may be long and the text is cut at its end: what one needs first stands first.
    .map((part) => plainText(withShortValues(part ?? '', VALUE_CAP), 4_000));
  const side = faultInWords([check]);
  const grounds = check.grounds.map((ground) => `because ${groundInWords(ground)}`);
  const repeat = reproduce === null ? [] : ['', 'repeat it:', plainText(reproduce)];
  const evidence = viewsOf(service, check, EXCERPT).flatMap((view) => ['', viewAsText(view)]);
  return [...said, ...(side === null ? [] : [`fault of ${side}`]), ...grounds, ...repeat, ...evidence].join(
    '\n',
  );
}
