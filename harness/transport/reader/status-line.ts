import { FRAMING_FAULT, type FramingFault } from './framing-faults.ts';

export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  /** As the status line has it: `1.1`, `1.0` … */
  readonly httpVersion: string;
}

/** RFC 9112 §4: `status-line = HTTP-version SP status-code SP [ reason-phrase ]`. */
const STRICT = /^HTTP\/(\d\.\d) (\d{3})(?:( )(.*))?$/s;
/** What a forgiving reader still understands. */
const LENIENT = /^HTTP\/(\d+(?:\.\d+)?)[ \t]+(\d{1,9})(?:([ \t]+)(.*))?$/is;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for (RFC 9112 §4)
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** Reads a status line, naming its faults; null when no status can be read from it. */
export function parseStatusLine(line: string, fault: (fault: FramingFault) => void): ResponseHead | null {
  const strict = STRICT.exec(line);
  const match = strict ?? LENIENT.exec(line);
  if (!strict) fault(FRAMING_FAULT.malformedStatusLine);
  if (!match) return null;
  const [, httpVersion = '', digits = '', space, reason = ''] = match;
  const status = Number(digits);
  if (httpVersion !== '1.1' && httpVersion !== '1.0') fault(FRAMING_FAULT.badVersion);
  if (status < 100 || status > 599) fault(FRAMING_FAULT.statusOutOfRange);
  if (space === undefined) fault(FRAMING_FAULT.missingReasonSpace);
  if (CONTROL.test(reason)) fault(FRAMING_FAULT.badReason);
  return { status, reason, httpVersion };
}
