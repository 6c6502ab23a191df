import type { Results } from './results/results.ts';

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
  /**
   * The documents of a run by path, and within a path with `SERVICE` by service. Pure, and bounded in what it takes
   * from results, however long the texts of a provider are; what stands there is safe for whoever reads the format.
   */
  render(results: Results): Readonly<Record<string, string | ReadonlyMap<string, string>>>;
}
