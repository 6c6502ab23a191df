import type { FieldLine } from '../exchange.ts';

const RUN_FIELD = 'X-Conform-Run';

/** The field lines that tell a provider's operators which run a request belongs to. */
export function runFields(userAgent: string, runId: string): readonly FieldLine[] {
  return [
    ['User-Agent', `${userAgent} (run ${runId})`],
    [RUN_FIELD, runId],
  ];
}

/** Whether a field line is there for the run or for its connection, and not for what was tried. */
export function isOfTheRun([name, value]: FieldLine): boolean {
  switch (name.toLowerCase()) {
    case RUN_FIELD.toLowerCase():
      return true;
    case 'user-agent':
      return /^conform\S* \(run [\w-]+\)$/.test(value);
    case 'connection':
      return /^(?:keep-alive|close)$/i.test(value);
    default:
      return false;
  }
}
