import type { ResolvedGround } from '../../../base/authority.ts';
import { isJsonObject } from '../../../base/json-text.ts';
import { asSentence, grouped, shortened } from '../../../base/text.ts';
import type { LedgerLine, Results, RunResult, ServiceResult } from '../results.ts';
import { cautionsOf, type RunVerdict, type VerdictWord } from '../run-verdict.ts';
import { counted } from '../tally.ts';
import { plainLine } from './plain.ts';

/** How a verdict looks before it is read: conforms, does not, inconclusive, of a part only, our own fault. */
export type Sign = 'pass' | 'fail' | 'blocked' | 'partial' | 'error';

export const SIGNS = { pass: '✓', fail: '✕', blocked: '⊘', partial: '◐', error: '!' } as const;

export const VERDICTS: Readonly<Record<VerdictWord, { readonly sign: Sign; readonly headline: string }>> = {
  conforms: { sign: 'pass', headline: 'Conforms' },
  'no verdict': { sign: 'partial', headline: 'No verdict' },
  'does not conform': { sign: 'fail', headline: 'Does not conform' },
  drifted: { sign: 'fail', headline: 'Drifted from what is accepted' },
  'known list out of date': { sign: 'fail', headline: 'The list of known failures is out of date' },
  'accepted list out of date': { sign: 'fail', headline: 'The list of accepted observations is out of date' },
  'too little covered': { sign: 'fail', headline: 'Too little of the document was exercised' },
  inconclusive: { sign: 'blocked', headline: 'Inconclusive' },
  'harness error': { sign: 'error', headline: 'Harness error' },
};

/** The sentence below the headline: why, what else was found, and what weakens it all. */
export function verdictSentence(verdict: RunVerdict, results: Results): string {
  const beware = cautionsOf(results);
  const weakened = beware.length > 0 ? ` Beware of ${beware.join('; ')}.` : '';
  return `${reasonFor(verdict, results)}${plainLine(weakened, 1_000)}`;
}

function reasonFor(verdict: RunVerdict, results: Results): string {
  const { totals, services } = results;
  if (verdict.word === 'conforms') {
    const judged = counted(totals.pass + totals.warning + totals.known, 'check');
    const asides = asidesOf(results);
    const but = asides.length > 0 ? `, with ${asides.join(' and ')}` : '';
    return `${judged} judged over ${counted(services.length, 'service')}${but}.`;
  }
  if (verdict.word === 'no verdict') return `Only ${verdict.reasons.join('; ')}; nothing failed.`;
  const besides = verdict.besides.length > 0 ? ` ${asSentence(`Also: ${verdict.besides.join('; ')}`)}` : '';
  const reasons = verdict.reasons.join('; ');
  // A service is called what it is called, also at the head of a sentence.
  const named = services.some(({ service }) => reasons.startsWith(`${service}:`));
  return plainLine(`${named ? `${reasons}.` : asSentence(reasons)}${besides}`, 2_000);
}

export function asidesOf({ totals }: Results): readonly string[] {
  return [
    ...(totals.warning > 0 ? [counted(totals.warning, 'warning')] : []),
    ...(totals.known > 0 ? [counted(totals.known, 'known failure')] : []),
    ...(totals.blocked > 0 ? [`${counted(totals.blocked, 'check')} blocked`] : []),
  ];
}

/** The verdict on one service: its word, or how much of it was looked at. */
export function serviceVerdictInWords({ word, reasons }: RunVerdict): string {
  return word === 'no verdict' ? reasons.join('; ') : word;
}

export function requestsInHttp2(services: readonly Pick<ServiceResult, 'httpVersions'>[]): number {
  return services.reduce((sum, { httpVersions }) => sum + (httpVersions?.['2'] ?? 0), 0);
}

/** All requests to these services: `64 requests (12 WebSocket handshakes, 1 for a token)`. */
export function requestsInWords(
  services: readonly Pick<ServiceResult, 'requestsSent' | 'ledger' | 'httpVersions'>[],
): string {
  const lines = services.flatMap(({ ledger }) => ledger);
  const ofKind = (wanted: LedgerLine['kind']) =>
    lines.reduce((sum, { kind, requests }) => sum + (kind === wanted ? requests : 0), 0);
  const [handshakes, tokens] = [ofKind('handshake'), ofKind('token')];
  const inHttp2 = requestsInHttp2(services);
  const kinds = [
    ...(handshakes > 0 ? [counted(handshakes, 'WebSocket handshake')] : []),
    ...(tokens > 0 ? [`${tokens} for a token`] : []),
    ...(inHttp2 > 0 ? [`${inHttp2} answered in HTTP/2`] : []),
  ];
  const sent = services.reduce((sum, { requestsSent }) => sum + requestsSent, 0);
  const all = counted(sent, 'request');
  return kinds.length === 0 ? all : `${all} (${kinds.join(', ')})`;
}

/** `850 ms`, `4.2 s`, `1 min 12 s`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `simulated`, `simulated for search`; null where every wait was waited for. */
export function simulatedInWords({ services }: Pick<Results, 'services'>): string | null {
  const simulated = services.filter(({ simulatedTime }) => simulatedTime);
  if (simulated.length === 0) return null;
  if (simulated.length === services.length) return 'simulated';
  const [first, ...others] = simulated.map(({ service }) => service);
  return `simulated for ${others.length > 2 ? counted(simulated.length, 'service') : [first, ...others].join(', ')}`;
}

/** The meaning of that for readers of its figures. */
export const SIMULATED_TIME =
  'Its time was simulated: it leapt over every wait, and durations and instants are of that clock. With --real-time every wait is waited for.';

/** Wall time of the run, ms; NaN when the instants cannot be read. */
export function wallTime(run: RunResult): number {
  return Date.parse(run.finishedAt) - Date.parse(run.startedAt);
}

/** `2026-11-21 06:38:14 UTC`. */
export function instant(iso: string): string {
  return /^\d{4}-\d{2}-\d{2}T/.test(iso) ? `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC` : iso;
}

/** `21 Nov 2026, 06:38 UTC`. */
export function instantInWords(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime())
    ? iso
    : `${dayInWords(iso)} ${at.getUTCFullYear()}, ${iso.slice(11, 16)} UTC`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `21 Nov` */
export function dayInWords(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
}

const STANDINGS: ReadonlyMap<string, string> = new Map([
  ['not-shown', 'not shown'],
  ['config', 'filled in by the service config'],
]);

/** `RFC 9110 §15.5.2 (MUST)`, `clause auth.scheme, stated: search-service.md, Authentication, row 1`. */
export function groundInWords({ kind, ref, standing, place }: ResolvedGround): string {
  if (kind === 'standard') return plainLine(`${ref} (${standing})`, 300);
  if (kind === 'clients') return plainLine(`clients rely on it: ${ref}`, 300);
  if (kind === 'own') return plainLine(`a rule of your own: ${ref}`, 300);
  if (kind === 'practice') return plainLine(`good practice: ${ref}`, 300);
  const where = place === '' ? '' : `: ${place}`;
  return plainLine(`clause ${ref}, ${STANDINGS.get(standing) ?? standing}${where}`, 300);
}

/** Where a standard's section can be read; null for all that is no address of the RFC editor. */
export function groundAddress({ kind, place }: ResolvedGround): string | null {
  return kind === 'standard' && place.startsWith('https://www.rfc-editor.org/') ? place : null;
}

/** Observed values and clause values on one line. */
export function valueInWords(value: unknown, longest = 500): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  return shortened(plainLine(text), longest);
}

/** UTF-16 units of a fact in words; the whole is behind it. */
const LONGEST = 220;
/** Number of levels of objects that are put into words. */
const DEEPEST = 2;

/** An observed value as a person says it: `401 for missing and wrong, 200 for empty`, `object with title, status`. */
export function factInWords(value: unknown): string {
  return shortened(plainLine(wordsOf(value, 0)), LONGEST);
}

function wordsOf(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return grouped(value);
  if (typeof value === 'string') return value === '' ? 'empty' : value;
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : value.map((item) => wordsOf(item, depth + 1)).join(', ');
  if (!isJsonObject(value)) return String(value);
  if (isSchema(value)) return schemaInWords(value);
  const members = Object.entries(value);
  if (members.length === 0) return 'none';
  if (depth >= DEEPEST) return JSON.stringify(value);
  if (members.length > 1 && members.every(([, each]) => isStatus(each))) return statusesInWords(members);
  const parts = members.map(([name, each]) => `${spaced(name)} ${wordsOf(each, depth + 1)}`);
  return depth === 0 ? parts.join(', ') : `(${parts.join(', ')})`;
}

/** `401 for missing, wrong; 200 for empty` */
function statusesInWords(members: readonly (readonly [string, unknown])[]): string {
  const byStatus = Map.groupBy(members, ([, status]) => status);
  return [...byStatus]
    .map(([status, named]) => `${status} for ${named.map(([name]) => spaced(name)).join(', ')}`)
    .join('; ');
}

function schemaInWords(schema: Record<string, unknown>): string {
  if (schema.type === 'array')
    return `list of ${isJsonObject(schema.items) ? schemaInWords(schema.items) : 'values'}`;
  const names = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  return names.length > 0 ? `object with ${names.join(', ')}` : String(schema.type);
}

function isSchema(value: Record<string, unknown>): boolean {
  return (
    typeof value.type === 'string' &&
    ['object', 'array'].includes(value.type) &&
    ('properties' in value || 'items' in value)
  );
}

function isStatus(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value < 600;
}

/** `unknownPath` as people write it. */
function spaced(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
}
