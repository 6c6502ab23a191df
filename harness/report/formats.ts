import { ctrf } from './ctrf.ts';
import type { ReportFormat } from './format.ts';
import { har } from './har.ts';
import { htmlPage } from './html/page.ts';
import { junit } from './junit.ts';
import { markdown } from './markdown.ts';
import type { Results } from './results/results.ts';

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
  render: (results) => ({ 'results.json': () => inPieces(results) }),
};

/** Above, between and below the services, as `JSON.stringify(results, null, 2)` has it: no text holds a new line. */
const SERVICES = '\n  "services": [';
const BETWEEN = '\n    ';

/** A service at a time: many of them are longer than the longest text that there can be. */
function* inPieces(results: Results): Iterable<string> {
  const whole = JSON.stringify({ ...results, services: [] }, null, 2);
  const place = whole.indexOf(SERVICES) + SERVICES.length;
  yield whole.slice(0, place);
  for (const [at, service] of results.services.entries()) {
    yield `${at === 0 ? '' : ','}${BETWEEN}`;
    yield JSON.stringify(service, null, 2).replaceAll('\n', BETWEEN);
  }
  yield `${results.services.length === 0 ? '' : '\n  '}${whole.slice(place)}\n`;
}

/** Every format; a run writes all of them, `conform report --format` those that it is given. */
export const REPORT_FORMATS: readonly ReportFormat[] = [htmlPage, json, junit, ctrf, har, markdown];
