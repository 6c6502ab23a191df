import { relative, resolve } from 'node:path';
import { withShortValues } from '../../base/text.ts';
import { clausePlaces } from '../../config/contract.ts';
import { isOneFile } from '../../config/yaml/config-place.ts';
import {
  type CauseEntry,
  causeEntries,
  checksByService,
  faultInWords,
  firstOf,
} from '../../report/results/causes.ts';
import type { CheckResult } from '../../report/results/check-result.ts';
import type { Results, ServiceResult } from '../../report/results/results.ts';
import { verdictOf } from '../../report/results/run-verdict.ts';
import { ageInWords, endingSoon, flakyNow } from '../../report/results/words/news.ts';
import { cut, plainLine } from '../../report/results/words/plain.ts';
import { VERDICTS, verdictSentence } from '../../report/results/words/words.ts';
import type { Annotation } from './log-commands.ts';

/** GitHub shows at most this number of annotations of a level for each step. */
const SHOWN = 10;
/** UTF-16 units. */
const LONGEST = 1_000;

interface Spot {
  readonly file: string;
  readonly line: number;
}

/**
 * The failures as annotations, one for each cause, at the line of the violated clause in the service config or the
 * contract. A run without a verdict has an annotation too, so that no job is red without a reason.
 */
export async function annotationsOf(
  results: Results,
  { configDir, repository }: { readonly configDir: string; readonly repository: string },
): Promise<readonly Annotation[]> {
  const contracts = new Set(results.services.map(({ contract }) => contract));
  const places = new Map(
    await Promise.all(
      [...contracts].map(async (name) => [name, await clausePlaces(configDir, name)] as const),
    ),
  );
  const at = ({ file, line }: Spot): Spot => ({ file: relative(repository, resolve(file)), line });
  const spotOf = (service: ServiceResult, check: CheckResult): Spot => {
    const clauses = check.grounds.filter(({ kind }) => kind === 'clause');
    // An operation stands at its own line of the document.
    const operation = spotIn(check.finding?.ground?.place?.split(', ', 1)[0] ?? '');
    if (operation !== null) return at(operation);
    const spots = clauses.flatMap(({ ref, place }) => {
      const written = spotIn(place);
      if (written !== null) return written;
      const clause = places.get(service.contract)?.get(ref);
      return clause === undefined ? [] : { file: clause.file, line: clause.line ?? 1 };
    });
    return at(spots[0] ?? configOf(service, configDir));
  };
  const causes = causeEntries(results).flatMap((each): Annotation[] => {
    const [leading] = each.findings;
    if (leading === undefined) return [];
    const level = each.outcome === 'fail' || results.run.strict ? 'error' : 'warning';
    return [{ level, ...textOf(each, results), ...spotOf(leading.service, leading.check) }];
  });
  const ending = endingSoon(results).map(({ entry, message }): Annotation => {
    const [, file = configDir, line = '1'] = /^(.+):(\d+)$/.exec(entry.place) ?? [];
    const title = `A known failure ends on ${entry.until}: ${entry.check}`;
    return {
      level: 'warning',
      title: shown(title),
      message: shown(message),
      ...at({ file, line: Number(line) }),
    };
  });
  // Those that fail are marked where they stand.
  const passing = flakyNow(results).filter(
    ({ check }) => check.outcome !== 'fail' && check.outcome !== 'warning',
  );
  const flaky = passing.map(({ service, check }): Annotation => {
    const message = `${service.service}: it passes now, and failed before, with no known change of the provider`;
    return { level: 'warning', title: `Flaky: ${check.id}`, message, ...spotOf(service, check) };
  });
  const verdict = verdictOf(results);
  const [first] = results.services;
  const isUnexplained = verdict.exitCode !== 0 && !causes.some(({ level }) => level === 'error');
  const general: readonly Annotation[] = isUnexplained
    ? [
        {
          level: 'error',
          title: VERDICTS[verdict.word].headline,
          message: shown(verdictSentence(verdict, results)),
          ...at(first === undefined ? { file: configDir, line: 1 } : configOf(first, configDir)),
        },
      ]
    : [];
  return (['error', 'warning'] as const).flatMap((level) =>
    bounded([...general, ...causes, ...ending, ...flaky].filter((each) => each.level === level)),
  );
}

/** Of `openapi.yaml:12:5`; null for other texts. */
function spotIn(place: string): Spot | null {
  const [, file, line] = /^(.+\.(?:ya?ml|json)):(\d+)(?::\d+)?$/.exec(place) ?? [];
  return file === undefined ? null : { file, line: Number(line) };
}

function configOf({ service }: ServiceResult, configDir: string): Spot {
  return { file: isOneFile(configDir) ? configDir : `${configDir}/services/${service}.yaml`, line: 1 };
}

function textOf(entry: CauseEntry, results: Results): Pick<Annotation, 'title' | 'message'> {
  const age = ageInWords(entry.findings, results);
  const change = entry.findings[0]?.check.change;
  const side = faultInWords(entry.findings.map(({ check }) => check));
  const where = checksByService(entry).map(([service, ids]) => `${service}: ${firstOf(ids, 5)}`);
  return {
    title: `${cut(shown(entry.sentence), 200)}${age === '' ? '' : ` (${age})`}`,
    message: shown(
      [
        where.join('; '),
        ...(side === null ? [] : [`Fault of ${side}`]),
        ...(change === undefined ? [] : [change]),
      ].join('. '),
    ),
  };
}

/** The annotations that GitHub shows; the last one has the number of the rest. */
function bounded(annotations: readonly Annotation[]): readonly Annotation[] {
  const more = annotations.length - SHOWN;
  if (more <= 0) return annotations;
  return annotations
    .slice(0, SHOWN)
    .map((each, at) =>
      at === SHOWN - 1 ? { ...each, message: `${each.message} (and ${more} more: see the report)` } : each,
    );
}

function shown(text: string): string {
  return cut(withShortValues(plainLine(text), 200), LONGEST);
}
