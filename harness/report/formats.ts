import { UsageError } from '../base/exit.ts';
import { didYouMean } from '../config/yaml/nearest.ts';
import { inPieces, type ReportFormat } from './format.ts';
import { ctrf } from './formats/ctrf.ts';
import { har } from './formats/har.ts';
import { junit } from './formats/junit.ts';
import { markdown } from './formats/markdown.ts';
import { htmlPage } from './html/page.ts';

const json: ReportFormat = {
  name: 'json',
  files: [
    {
      path: 'results.json',
      holds:
        'everything, by `harness/report/results/results.schema.json`; all other reports are rendered from it',
      readers: 'tools',
    },
  ],
  render(results) {
    const services = results.services.map((service) => [service]);
    return { 'results.json': () => inPieces({ ...results, services: [] }, ['services'], services) };
  },
};

/** Every format; a run writes all of them, `conform report --format` those that it is given. */
export const REPORT_FORMATS: readonly ReportFormat[] = [htmlPage, json, junit, ctrf, har, markdown];

/** @throws UsageError for a name that no format has. */
export function formatsNamed(names: readonly string[]): readonly ReportFormat[] {
  const known = REPORT_FORMATS.map(({ name }) => name);
  return names.map((each) => {
    const format = REPORT_FORMATS.find(({ name }) => name === each.trim());
    if (format !== undefined) return format;
    const problem = `no report format is called ${JSON.stringify(each)}`;
    throw new UsageError(problem, { remedy: didYouMean(each, known) });
  });
}
