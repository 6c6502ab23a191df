import type { ResolvedGround } from '../../../base/authority.ts';
import { firstGot, gotText } from '../../../base/finding.ts';
import { shortened, withShortValues } from '../../../base/text.ts';
import { comparedIn, faultInWords, messageOf, problemOf } from '../../results/causes.ts';
import { viewEvidence } from '../../results/evidence/evidence-view.ts';
import { operationsAgainst } from '../../results/operation-outcome.ts';
import { counted, type JudgedCheck } from '../../results/tally.ts';
import { plainLine } from '../../results/words/plain.ts';
import { groundAddress, instantInWords } from '../../results/words/words.ts';
import { chevron, html, icon, type Markup, outcomeIcon } from '../markup/markup.ts';
import { type Ages, ageTerm, checkAnchor, filterable, levelOf, linkRow } from '../markup/row.ts';
import { exchanges, type TranscriptRoom } from './exchange.ts';

/** UTF-16 units of a value in the expectation and in the result of a row, and of either. */
const LONGEST_VALUE_IN_ROW = 60;
const LONGEST_IN_ROW = 160;
/** Of a value within a message. */
const LONGEST_VALUE = 200;
const LONGEST_HEADLINE = 300;
/** Of a command that is shown: a longer one shows the fault as well and is in the results. */
const LONGEST_COMMAND = 4_000;

export interface PageFindings {
  readonly room: TranscriptRoom;
  /** Those that stand in the page already: another cause that explains them leads there. */
  readonly placed: Set<JudgedCheck['check']>;
  readonly ages: Ages;
}

interface Surroundings extends PageFindings {
  /** Its cause explains findings of several services. */
  readonly namesService: boolean;
  /** Findings of the same cause, this one included. */
  readonly together: number;
}

/** A row that opens into all that is known of one finding. */
export function finding(judged: JudgedCheck, around: Surroundings): Markup {
  const { check, service } = judged;
  const age = around.ages(judged);
  if (around.placed.has(check)) return linkRow(judged, line(judged, around), age);
  around.placed.add(check);
  return html`<details class="finding" id="${checkAnchor(service, check)}" ${filterable(`${check.outcome} ${ageTerm(age)}`, [service.service], operationsAgainst(check))} data-suite="${check.suite}"><summary class="row">${line(judged, around)}</summary>
<div class="opened">
<p class="buttons scripted"><button type="button" data-copy-text>Copy as text</button><button type="button" data-copy-link>Link</button></p>
${halves(judged)}
<div class="sides"><div class="reasons">${reasons(judged, around)}</div>
<div class="proof">${exchanges(judged, around.room)}${repeat(check.reproduce)}</div></div>
</div></details>`;
}

function line(judged: JudgedCheck, { namesService, ages }: Surroundings): Markup {
  const { service, check } = judged;
  const age = ages(judged);
  const compared = comparedIn(check);
  const [wanted, came] =
    compared === null ? ['', ''] : withoutCommonWord(compared.expected, firstGot(compared));
  const short = (text: string) =>
    shortened(withShortValues(plainLine(text), LONGEST_VALUE_IN_ROW), LONGEST_IN_ROW);
  return html`${outcomeIcon(check.outcome)}<span class="headline">${headlineOf(check)}${namesService && html` <b class="svc">${service.service}</b>`}</span>${
    compared !== null &&
    html`<span class="came"><span class="expected">${short(wanted)}</span> <span class="arrow">→</span> <b>${short(came)}</b></span>`
  }<code>${check.id}</code><span class="svc in-head">${service.service}</span>${levelOf(check)}${age !== null && html`<span class="in-head">${age.state}, ${age.words}</span>`}${chevron()}`;
}

/** `401 or 403` and `200` of `status 401 or 403` and `status 200`. */
function withoutCommonWord(wanted: string, came: string): readonly [string, string] {
  const [word = ''] = wanted.split(' ', 1);
  const isCommon = word !== '' && came.startsWith(`${word} `) && wanted.length > word.length;
  return isCommon ? [wanted.slice(word.length + 1), came.slice(word.length + 1)] : [wanted, came];
}

function headlineOf(check: JudgedCheck['check']): string {
  return shortened(plainLine(problemOf(check)), LONGEST_HEADLINE);
}

/** The exact message, split in two, and what it is held against. */
function halves(judged: JudgedCheck): Markup {
  const { check } = judged;
  const compared = comparedIn(check);
  const whole = (text: string) => withShortValues(text, LONGEST_VALUE);
  const grounds = check.grounds.filter(({ standing }) => standing !== 'not-shown');
  const against = html`<span class="against">${grounds.map((each, at) => html`${at > 0 && ', '}${groundOf(each)}`)}</span>`;
  const rows: readonly (readonly [string, string, Markup, string])[] =
    compared === null
      ? [['Message', whole(messageOf(check)), against, 'got']]
      : [
          ['Expected', whole(compared.expected), against, 'wanted'],
          ['Got', whole(gotText(compared)), decidedBy(judged), 'got'],
        ];
  return html`<dl class="halves">${rows.map(
    ([name, text, beside, kind]) =>
      html`<div class="${kind}"><dt>${name}</dt><dd class="text">${text}</dd><dd class="beside">${beside}</dd></div>`,
  )}</dl>`;
}

function decidedBy({ service, check }: JudgedCheck): Markup {
  if (check.decisive == null) return html``;
  const { startedAt } = viewEvidence(service, check.decisive);
  const when =
    startedAt === null ? '' : `, ${instantInWords(startedAt).replace(' UTC', '')}${startedAt.slice(16, 23)}`;
  return html`exchange ${check.decisive}${when}`;
}

function groundOf(ground: ResolvedGround): Markup {
  const { kind, ref, place } = ground;
  if (kind === 'clients') return html`clients rely on it: ${ref}`;
  if (kind === 'own') return html`a rule of your own: ${ref}`;
  if (kind === 'practice') return html`good practice: ${ref}`;
  if (kind === 'clause') return html`<code>${ref}</code>${place !== '' && ` in ${plainLine(place, 200)}`}`;
  const address = groundAddress(ground);
  return address === null ? html`${ref}` : html`<a href="${address}" rel="noreferrer">${ref}</a>`;
}

function reasons({ check }: JudgedCheck, { together }: Surroundings): Markup {
  const same =
    together > 1 &&
    `The ${together === 2 ? 'other finding' : `${together - 1} other findings`} of this cause should go away with the same fix.`;
  const side = faultInWords([check]);
  const parts: readonly (readonly [string, string | false | undefined])[] = [
    ['Why it matters', check.why],
    ['What to change', check.change],
    ['Whose fault', side === null ? undefined : `That of ${side}.`],
    ['Same cause', same],
  ];
  return html`${parts.map(([title, text]) => text && html`<h3>${title}</h3><p>${text}</p>`)}<h3>Read more</h3><p><code>conform explain ${check.id}</code></p>`;
}

/** The command that shows the fault again, with room for the button that the script adds. */
function repeat(command: string | null): Markup | null {
  if (command === null) return null;
  if (command.length > LONGEST_COMMAND)
    return html`<h3>Repeat it</h3><p class="muted">The command has ${counted(command.length, 'character')}: it is in results.json.</p>`;
  return html`<h3>Repeat it</h3>${copyable(command)}`;
}

export function copyable(text: string): Markup {
  return html`<div class="copyable"><pre tabindex="0">${text}</pre></div>`;
}

/** A check that stands elsewhere, in one line: its outcome, what it says, its id. */
export function checkLine({ check, service }: JudgedCheck, namesService: boolean): Markup {
  return html`${icon(check.outcome)}<span class="headline">${check.title}</span><code>${check.id}</code>${namesService && html`<span class="svc">${service.service}</span>`}`;
}
