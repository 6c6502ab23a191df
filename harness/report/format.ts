import type { Results } from './results/results.ts';

/** What a warning is in JUnit, which knows none. */
export const JUNIT_WARNINGS = ['skipped', 'failure', 'pass'] as const;
export type JunitWarnings = (typeof JUNIT_WARNINGS)[number];

/** What a user chooses of how reports are written. */
export interface ReportChoices {
  readonly junitWarnings: JunitWarnings;
}

/** A warning passes, with its message as output of the case. */
export const DEFAULT_CHOICES: ReportChoices = { junitWarnings: 'pass' };

/** A text; or its pieces in their order, where it may be too large to lie in memory as a whole. */
export type ReportText = string | (() => Iterable<string>);

/** One form in which the results of a run are written down. Everything that lists formats reads it from here. */
export interface ReportFormat {
  /** As `--format` calls it. */
  readonly name: string;
  /** The files that a run may leave, for reports/README.md. `SERVICE` in a path: a file for each service. */
  readonly files: readonly {
    readonly path: string;
    readonly holds: string;
    readonly readers: string;
  }[];
  /** Documents by path, with `SERVICE` by service. Pure, bounded in size, and safe for its readers. */
  render(
    results: Results,
    choices: ReportChoices,
  ): Readonly<Record<string, ReportText | ReadonlyMap<string, ReportText>>>;
}

/** `JSON.stringify(whole, null, 2)` in pieces that fit into memory: `groups` fill the empty list at `path`. */
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
