import { readFileSync } from 'node:fs';
import { UsageError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { codeOf, reasonOf } from '../../base/thrown.ts';
import { withFinding } from './before-findings.ts';
import { RESULTS, type Results } from './results.ts';
import { problemIn } from './shapes.ts';

const SCHEMA_VERSION = 1;

/**
 * Holds a value against `results.schema.json`. Fields that this version does not know are left in place.
 * `source` names the value in the error, usually a path.
 */
export function validateResults(value: unknown, source = 'results'): Results {
  const version = isJsonObject(value) ? value.schemaVersion : undefined;
  if (typeof version === 'number' && version > SCHEMA_VERSION) {
    throw new UsageError(
      `schema version ${version} is newer than this conform understands (${SCHEMA_VERSION})`,
      {
        place: { file: source },
        key: 'schemaVersion',
        remedy: 'use the version of conform that wrote the file, or a newer one',
      },
    );
  }
  const fault = problemIn(RESULTS, value);
  if (!fault) return withFindings(value as Results);
  const { key, problem } = fault;
  throw new UsageError(`not a results file: ${problem}`, {
    place: { file: source },
    ...(key === '' ? {} : { key }),
    remedy: 'give a results.json as `conform run` writes it',
  });
}

function withFindings(results: Results): Results {
  const services = results.services.map((service) => ({
    ...service,
    checks: service.checks.map((check) => withFinding(check, service.service)),
  }));
  return { ...results, services };
}

/** Reads and validates a `results.json`. Throws UsageError (exit 2) when it cannot be read or is not one. */
export function readResults(path: string): Results {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UsageError(`cannot be read: ${READ_FAULTS[codeOf(cause) ?? ''] ?? reasonOf(cause)}`, {
      place: { file: path },
      remedy: 'give the path of a results.json, e.g. reports/latest/results.json',
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`not JSON: ${reasonOf(cause)}`, {
      place: { file: path },
      remedy: 'the file may have been cut short; render the run again',
    });
  }
  return validateResults(value, path);
}

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
};
