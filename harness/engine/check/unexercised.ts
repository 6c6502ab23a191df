import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { pathToFileURL } from 'node:url';

/** Code that was not evaluated: a branch, the right side of `&&`, `||` or `??`, or a callback. */
export interface Unexercised {
  /** From 1. */
  readonly line: number;
  readonly code: string;
}

/** UTF-16 units of quoted code. */
const MOST_UNITS = 80;

/** What a function of this module, and functions that it calls, do not evaluate while `run` runs. */
export function unexercisedDuring<T>(
  file: string,
  run: () => T,
): { readonly result: T; readonly unexercised: readonly Unexercised[] } {
  // Loaded here: every command would wait for it, and one alone needs it.
  const session = new (process.getBuiltinModule('node:inspector').Session)();
  session.connect();
  try {
    session.post('Profiler.enable');
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    const result = run();
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error !== null) throw error;
      scripts = taken.result;
    });
    const url = pathToFileURL(file).href;
    const functions = scripts
      .filter((each) => each.url.split('?')[0] === url)
      .flatMap((each) => each.functions);
    return { result, unexercised: unexercisedIn(readFileSync(file, 'utf8'), functions) };
  } finally {
    session.disconnect();
  }
}

/** Types are removed before a module is compiled, and spaces take their place: offsets are those of the file. */
function unexercisedIn(
  text: string,
  functions: readonly Profiler.FunctionCoverage[],
): readonly Unexercised[] {
  const evaluated = functions.flatMap(({ ranges: [whole] }) => (whole && whole.count > 0 ? [whole] : []));
  const left = functions
    .flatMap(({ ranges }) => ranges)
    .filter((range) => range.count === 0 && evaluated.some((each) => isWithin(range, each)));
  return left
    .filter((range) => !left.some((each) => each !== range && isWithin(range, each)))
    .toSorted((one, other) => one.startOffset - other.startOffset)
    .flatMap(({ startOffset, endOffset }) => {
      const code = text.slice(startOffset, endOffset);
      const from = startOffset + code.length - code.trimStart().length;
      const plain = code.trim().replaceAll(/\s+/g, ' ');
      if (/^[\s})\];,]*$/.test(plain)) return [];
      return [{ line: text.slice(0, from).split('\n').length, code: shortened(plain) }];
    });
}

function isWithin(inner: Profiler.CoverageRange, outer: Profiler.CoverageRange): boolean {
  return inner.startOffset >= outer.startOffset && inner.endOffset <= outer.endOffset;
}

function shortened(code: string): string {
  return code.length > MOST_UNITS ? `${code.slice(0, MOST_UNITS)}…` : code;
}
