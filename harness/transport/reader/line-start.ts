import { FRAMING_FAULT, type FramingFault } from './framing-faults.ts';

/** As many characters as it takes to tell any of these lines. */
export const LONGEST_START = 'HTTP/'.length;

interface LineStart {
  /** Whether a line of that kind can begin so; at most `LONGEST_START` characters are given, at least one. */
  possible(start: string): boolean;
  readonly fault: FramingFault | null;
}

const beginsLineEnd = (start: string) => /^\r?\n|^\r$/.test(start);

/** Garbage is told at its first octet that can begin no such line, not at the deadline. */
export const LINE_STARTS: Readonly<Record<string, LineStart>> = {
  status: {
    // An empty line first is a fault, but one that can be read past.
    possible: (start) => beginsLineEnd(start) || 'HTTP/'.startsWith(start.toUpperCase()),
    fault: null,
  },
  'chunk-size': { possible: (start) => /^[0-9a-f]/i.test(start), fault: FRAMING_FAULT.badChunkSize },
  'chunk-end': { possible: beginsLineEnd, fault: FRAMING_FAULT.badChunkEnd },
};
