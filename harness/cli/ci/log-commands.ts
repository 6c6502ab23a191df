/**
 * What CI systems take for an order when they meet it in a log: `::error::` and the like at the start of a line (GitHub),
 * `##[…]`, `##vso[…]` (GitHub, Azure) and `##teamcity[…]` anywhere in one.
 */
const AT_LINE_START = /^((?:\p{Cc}\[[\d;]*m|[^\S\r\n])*):(?=:)/gmu;
const ANYWHERE = /#(?=#(?:vso|teamcity)?\[)/gi;

/** The same text with a blank in each of them, so that it stays readable and is nobody's order. */
export function withoutLogCommands(text: string): string {
  return text.replace(AT_LINE_START, '$1: ').replace(ANYWHERE, '# ');
}

type Write = (chunk: unknown, ...rest: unknown[]) => boolean;

/** How a guarded stream writes what is its owner's own. */
const unguarded = new WeakMap<NodeJS.WritableStream, Write>();

/** From now on nothing that is written there can be an order, wherever the text came from; but for `annotate`. */
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

/** The only orders that we give; they alone pass the guard, and no text in them can begin another. */
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
