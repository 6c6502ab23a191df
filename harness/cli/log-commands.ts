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

/** From now on nothing that is written there can be an order, wherever the text came from. */
export function guard(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
  stream.write = (chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === 'string' ? withoutLogCommands(chunk) : chunk, ...rest);
}
