/**
 * Log commands of CI systems: `::error::` and the like at the start of a line (GitHub), `##[…]`, `##vso[…]` (GitHub,
 * Azure) and `##teamcity[…]` anywhere in a line.
 */
const AT_LINE_START = /^((?:\p{Cc}\[[\d;]*m|[^\S\r\n])*):(?=:)/gmu;
const ANYWHERE = /#(?=#(?:vso|teamcity)?\[)/gi;

/** The text with a blank in each log command, so that it is readable but has no effect. */
export function withoutLogCommands(text: string): string {
  return text.replace(AT_LINE_START, '$1: ').replace(ANYWHERE, '# ');
}

type Write = (chunk: unknown, ...rest: unknown[]) => boolean;

/** The unguarded write of a guarded stream. */
const unguarded = new WeakMap<NodeJS.WritableStream, Write>();

/** From now on no text written there can be a log command, except by `annotate`. */
export function guard(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream) as Write;
  unguarded.set(stream, write);
  stream.write = (chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === 'string' ? withoutLogCommands(chunk) : chunk, ...rest);
}

/** A note that GitHub shows at a line of a file, on the page of a run and of a pull request. */
export interface Annotation {
  readonly level: 'error' | 'warning';
  readonly title: string;
  readonly message: string;
  /** Relative to the repository. */
  readonly file: string;
  readonly line: number;
}

/** The only log commands of the harness; they pass the guard, and no text in them can begin another. */
export function annotate(stream: NodeJS.WriteStream, annotations: readonly Annotation[]): void {
  const write = unguarded.get(stream) ?? (stream.write.bind(stream) as Write);
  if (annotations.length > 0) write(annotations.map((each) => `${orderOf(each)}\n`).join(''));
}

/** A workflow command (GitHub Actions, workflow commands, `error` and `warning`). */
function orderOf({ level, title, message, file, line }: Annotation): string {
  const properties = { file, line: String(line), title };
  const given = Object.entries(properties).map(([name, value]) => `${name}=${escapedProperty(value)}`);
  return `::${level} ${given.join(',')}::${escapedMessage(message)}`;
}

function escapedMessage(text: string): string {
  return text.replace(ANYWHERE, '# ').replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapedProperty(text: string): string {
  return escapedMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
