import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HarnessError, UsageError } from '../../base/exit.ts';
import { isJsonObject, parseJson } from '../../base/json-text.ts';
import { readRegularFile, UnreadableFile } from '../../base/regular-file.ts';
import { eventsIn, type JournalEvent } from '../../report/results/fold/events.ts';
import { foldEvents } from '../../report/results/fold/fold.ts';
import { validateResults } from '../../report/results/read-results.ts';
import type { Results, ServiceResult } from '../../report/results/results.ts';
import { evidenceFromJson } from '../../wire/evidence.ts';
import { readJournal } from '../../wire/record/journal.ts';
import { findMarkers } from '../../wire/redaction/marker.ts';
import type { Recorded, RecordedRun, RecordedService } from './recording.ts';

/** Largest size of a record, which is read into memory. */
const MOST_OCTETS = 512 * 1024 * 1024;

export interface RunEvidence {
  readonly kind: 'run';
  readonly file: string;
  readonly record: RecordedRun;
}

export type RecordFile = RunEvidence | { readonly kind: 'har'; readonly file: string; readonly text: string };

/** Reads a folder of a run, a journal, results or a HAR file. @throws UsageError for anything else. */
export function readRecord(path: string): RecordFile {
  const file = fileOf(path);
  if (file.endsWith('.ndjson')) return { kind: 'run', file, record: fromJournal(file) };
  const text = readText(file);
  const value = parseJson(text);
  if (value === undefined) throw noRecord(file, 'it is not JSON; it may have been cut short');
  if (isJsonObject(value) && 'log' in value) return { kind: 'har', file, text };
  if (isJsonObject(value) && 'schemaVersion' in value)
    return { kind: 'run', file, record: recordOf(validateResults(value, file), []) };
  throw noRecord(file, 'it is no journal, no results.json and no HAR file');
}

function fileOf(path: string): string {
  if (!existsSync(path)) throw noRecord(path, 'no such file or folder');
  if (!statSync(path).isDirectory()) return path;
  const found = ['journal.ndjson', 'results.json'].map((name) => join(path, name)).find(existsSync);
  if (found === undefined) throw noRecord(path, 'there is neither journal.ndjson nor results.json in it');
  return found;
}

function readText(file: string): string {
  try {
    return readRegularFile(file, MOST_OCTETS).toString();
  } catch (error) {
    if (error instanceof UnreadableFile) throw noRecord(file, error.message);
    throw noRecord(file, `it cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function noRecord(file: string, problem: string): UsageError {
  return new UsageError(`no record that can be judged: ${problem}`, {
    place: { file },
    remedy: 'give the folder of a run, such as reports/latest, or its journal.ndjson, or a HAR file',
  });
}

function fromJournal(file: string): RecordedRun {
  const { entries, badLines } = contentOf(file);
  return recordOfJournal(entries, { file, badLines });
}

function contentOf(file: string) {
  try {
    return readJournal(file);
  } catch (error) {
    if (error instanceof HarnessError) throw noRecord(file, error.message);
    throw error;
  }
}

/** @throws UsageError if the entries contain no run. */
export function recordOfJournal(
  entries: readonly unknown[],
  { file, badLines = [] }: { readonly file: string; readonly badLines?: readonly number[] },
): RecordedRun {
  const events = eventsIn(entries);
  const started = events.find((event) => event.type === 'run-started');
  if (started?.type !== 'run-started') throw noRecord(file, 'it does not say which run it is of');
  const { run } = started;
  const context = { run, finishedAt: run.startedAt, interruption: null, badLines };
  return recordOf(foldEvents(entries, context), events);
}

function recordOf({ run, services }: Results, events: readonly JournalEvent[]): RecordedRun {
  const { finishedAt, interrupted, interruption, exitCode: _, faults: __, ...started } = run;
  return {
    run: started,
    finishedAt,
    interruption: interrupted ? (interruption ?? 'nobody knows why') : null,
    services: services.map((service) => serviceOf(service, events)),
  };
}

function serviceOf(result: ServiceResult, all: readonly JournalEvent[]): RecordedService {
  const { service, environment, provider, trouble: outage, troubleBy = null } = result;
  const ofKind = <T extends JournalEvent['type']>(type: T) =>
    all.filter(
      (event): event is Extract<JournalEvent, { type: T }> =>
        event.type === type && 'service' in event && event.service === service,
    );
  const evidence = evidenceOf(result);
  const isMarked = evidence.some(({ probe }) => probe !== null);
  const isJournal = all.length > 0;
  const secrets = ofKind('secrets');
  return {
    service,
    environment,
    providerUrl: URL.canParse(provider.url) && findMarkers(provider.url).length === 0 ? provider.url : null,
    image: provider.image ?? null,
    outage,
    outageSide: troubleBy,
    evidence,
    unasked: ofKind('unasked'),
    receivers: ofKind('receiver'),
    verifications: ofKind('verification'),
    signatures: ofKind('signature'),
    secrets: secrets.length > 0 ? secrets.flatMap(({ forms }) => forms) : null,
    tellsUnasked: isJournal && isMarked,
    remarks: [
      ...(isMarked || evidence.length === 0 ? [] : [UNMARKED]),
      ...(isJournal ? [] : [WITHOUT_JOURNAL]),
    ],
  };
}

const UNMARKED =
  'the record does not say for which probe its evidence is: it was found by its purpose and its request';
const WITHOUT_JOURNAL =
  'results.json holds neither pacts as they were verified, nor where webhooks were received: judge the journal.ndjson of the run';

function evidenceOf({ ledger, evidence }: ServiceResult): readonly Recorded[] {
  const lines = new Map(ledger.map((line) => [line.evidence, line]));
  return Object.entries(evidence).map(([id, value]): Recorded => {
    const line = lines.get(id);
    const read = evidenceFromJson(value);
    return {
      probe: line?.probe ?? null,
      purpose: line?.purpose ?? read.purpose,
      requests: line?.requests ?? 0,
      evidence: read,
    };
  });
}
