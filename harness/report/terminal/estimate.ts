import { counted } from '../results/tally.ts';
import { plainLine } from '../results/words/plain.ts';
import { duration } from '../results/words/words.ts';

export interface Estimate {
  readonly service: string;
  /** Where it would be done: an address, or the kind of provider that would be started. */
  readonly at: string;
  /** At most. */
  readonly requests: number;
  /** If no answer gives reason for more. */
  readonly usual: number;
  readonly durationMs: number;
  /** Where the service does not tell what remains of its quota. */
  readonly longestMs: number;
  /** Whether that time is leapt over where it is waited. */
  readonly simulatedTime?: boolean;
  /** In the order in which they are judged. */
  readonly suites: readonly SuiteEstimate[];
  readonly catalogue: number;
  /** How many operations would be asked; null where all would. */
  readonly exercised: string | null;
  /** What could do harm, or alarm a person, a line each. */
  readonly risks: readonly string[];
  /** Requests that are not counted, and why. */
  readonly gaps: readonly string[];
}

interface SuiteEstimate {
  readonly name: string;
  readonly checks: number;
  /** Of these, how many make sense for the service. */
  readonly applying: number;
  readonly requests: number;
}

/** `about 51 requests, at most 64, in 2.1 s`, `at most 102 requests in 3.0 s to 2 min 1 s`. */
function costInWords(estimate: Estimate): string {
  const { requests, usual, durationMs, longestMs, simulatedTime } = estimate;
  const until = isOpenInTime(estimate) ? ` to ${duration(longestMs)}` : '';
  const time = simulatedTime ? ' of simulated time' : '';
  const number =
    requests > WORTH_TELLING * usual
      ? `about ${counted(usual, 'request')}, at most ${requests},`
      : `at most ${counted(requests, 'request')}`;
  return `${number} in ${duration(durationMs)}${until}${time}`;
}

/** Less than that is within what an estimate misses. */
const WORTH_TELLING = 1.1;

function isOpenInTime({ durationMs, longestMs }: Estimate): boolean {
  return longestMs > WORTH_TELLING * durationMs;
}

/** The first line of a run: the same, and what it would leave out. */
export function announcement(estimate: Estimate): string {
  return [costInWords(estimate), ...leftOut(estimate)].join(', ');
}

function leftOut({ exercised }: Estimate): readonly string[] {
  return exercised === null ? [] : [`only ${exercised}`];
}

/** What `conform run --dry-run` prints, ending in a line feed. */
export function estimatesText(estimates: readonly Estimate[]): string {
  return `${[...estimates.map(estimateText), 'Nothing was sent.'].join('\n\n')}\n`;
}

function estimateText(estimate: Estimate): string {
  const { service, at, longestMs, suites, catalogue, risks, gaps } = estimate;
  const chosen = suites.reduce((sum, { checks }) => sum + checks, 0);
  const applying = suites.reduce((sum, each) => sum + each.applying, 0);
  const asked = suites.filter((each) => each.applying > 0);
  const widest = Math.max(0, ...asked.map(({ name }) => name.length));
  const selected = chosen < catalogue ? `; ${chosen} of ${catalogue} checks are selected` : '';
  return [
    `${service}  ${costInWords(estimate)}, ${at}`,
    `  ${counted(applying, 'check')} ${applying === 1 ? 'applies' : 'apply'}, ${chosen - applying} would be skipped${selected}`,
    ...asked.map(
      ({ name, applying: checks, requests: sent }) =>
        `    ${name.padEnd(widest)}  ${counted(checks, 'check').padStart(10)}  ${counted(sent, 'request').padStart(13)}`,
    ),
    ...leftOut(estimate).map((line) => `  ${line} (safety.operationRequests)`),
    ...(isOpenInTime(estimate)
      ? [`  ${duration(longestMs)} if the service does not tell what remains of its quota`]
      : []),
    ...listed('Risky', risks),
    ...listed('Not counted', gaps),
  ].join('\n');
}

function listed(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`  ${heading}`, ...lines.map((line) => `    ${plainLine(line, 300)}`)];
}
