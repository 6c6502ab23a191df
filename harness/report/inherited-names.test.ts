import { describe, expect, it } from 'vitest';
import { UsageError } from '../base/exit.ts';
import { withInheritedNames } from '../base/fixtures/inherited-names.ts';
import { hasMembers } from '../base/json-text.ts';
import { withCauses } from './diagnosis/causes.ts';
import { failingService, sampleCheck, sampleResults } from './fixtures/sample-results.ts';
import { wholeText } from './fixtures/whole-text.ts';
import { DEFAULT_CHOICES, type ReportFormat, type ReportText } from './format.ts';
import { REPORT_FORMATS } from './formats.ts';
import { withKnown } from './memory/known.ts';
import { validateResults } from './results/read-results.ts';
import type { Results } from './results/results.ts';
import { verdictText } from './terminal/terminal.ts';

/** One service with a finding, its evidence and an observation. */
function small(): Results {
  const service = failingService();
  const { causes: _, unexplained: __, ...whole } = sampleResults();
  return {
    ...whole,
    services: [
      {
        ...service,
        checks: [sampleCheck('fail')],
        ledger: service.ledger.slice(0, 1),
        observations: service.observations.slice(0, 1),
        evidence: Object.fromEntries(Object.entries(service.evidence).filter(([id]) => id === 'e1')),
      },
    ],
  };
}

/** All that a format makes of results. */
function written(format: ReportFormat, results: Results): string {
  const documents = Object.values(format.render(results, DEFAULT_CHOICES));
  const texts = documents.flatMap((each) =>
    each instanceof Map ? [...each.values()] : [each as ReportText],
  );
  return texts.map(wholeText).join('\n');
}

/** Everything that is made of a file of results. */
function rendered(results: Results): string {
  const told = withCauses(withKnown(results));
  return [
    ...REPORT_FORMATS.map((format) => written(format, told)),
    verdictText(told, { width: 80, color: false, verbosity: 'verbose' }),
  ].join('\n');
}

describe('a file of results with names that every object has', () => {
  it('is rendered, or refused at its place', () => {
    let count = 0;
    for (const other of withInheritedNames(small())) {
      const text = JSON.stringify(other);
      try {
        const shown = rendered(validateResults(JSON.parse(text)));
        expect(shown, text).not.toContain('[native code]');
      } catch (error) {
        expect(error, text).toBeInstanceOf(UsageError);
      }
      count += 1;
    }
    expect(count).toBeGreaterThan(300);
    expect(hasMembers({}) && 'a' in {}).toBe(false);
  });

  it.each(['__proto__', 'constructor', 'toString'])('loses nothing that is called %s', (name) => {
    const text = JSON.stringify(small())
      .replaceAll('"search"', JSON.stringify(name))
      .replaceAll('"e1"', JSON.stringify(name));
    const results = validateResults(JSON.parse(text));
    for (const format of REPORT_FORMATS) {
      const shown = written(format, withCauses(withKnown(results))).replaceAll('&#95;', '_');
      expect(shown, format.name).toContain(name);
    }
    const [service] = results.services;
    expect(Object.keys(service?.evidence ?? {})).toContain(name);
  });
});
