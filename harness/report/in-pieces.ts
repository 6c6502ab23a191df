/**
 * `JSON.stringify(whole, null, 2)` with a new line at its end, where a list is filled: some of it at a time, since what
 * many services have to tell is longer than the longest text that there can be.
 *
 * @param whole has an empty list at `path`, the only one of that name and depth.
 * @param groups of what goes into the list.
 */
export function* inPieces(
  whole: object,
  path: readonly string[],
  groups: Iterable<readonly unknown[]>,
): Iterable<string> {
  const around = (list: readonly unknown[]) =>
    JSON.stringify(
      path.reduceRight<unknown>((inside, key) => ({ [key]: inside }), list),
      null,
      2,
    );
  const [before = '', after = ''] = around([null]).split('null');
  const [space = ''] = /\s+$/.exec(before) ?? [];
  const [end = ''] = /^\s+/.exec(after) ?? [];
  const text = JSON.stringify(whole, null, 2);
  // No text holds a new line.
  const list = `${end}${JSON.stringify(path.at(-1))}: [`;
  const place = text.indexOf(`${list}]`) + list.length;
  yield text.slice(0, place);
  let isEmpty = true;
  for (const group of groups) {
    if (group.length === 0) continue;
    yield isEmpty ? space : `,${space}`;
    yield around(group).slice(before.length, -after.length);
    isEmpty = false;
  }
  yield `${isEmpty ? '' : end}${text.slice(place)}\n`;
}
