import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { HarnessError } from '../../base/exit.ts';
import { type JsonObject, parseJsonObject } from '../../base/json-text.ts';
import { readRegularFile } from '../../base/regular-file.ts';
import Type from '../../base/schema/type.ts';
import { reasonOf } from '../../base/thrown.ts';
import { Count, Instant, Milliseconds, problemIn } from '../results/shapes.ts';
import { counted } from '../results/tally.ts';
import { oneAtATime, writeWhole } from '../whole-file.ts';
import type { PastRun } from './history.ts';

/** `history.ndjson`: a line for each run, a letter for each check, the operations that violate one, and lines with lists of checks. */

const MOST_RUNS = 400;
const MOST_BYTES = 16 * 1024 * 1024;

const IDS = Type.Object({ checks: Type.String(), ids: Type.Array(Type.String()) });
const RUN = Type.Object({
  run: Type.String({ minLength: 1 }),
  at: Instant,
  exit: Type.Integer(),
  services: Type.Array(
    Type.Object({
      service: Type.String(),
      environment: Type.Union([Type.String(), Type.Null()]),
      version: Type.Union([Type.String(), Type.Null()]),
      checks: Type.String(),
      outcomes: Type.String(),
      requests: Count,
      ms: Milliseconds,
      operations: Type.Optional(
        Type.Unsafe<Readonly<Record<string, readonly string[]>>>({
          type: 'object',
          additionalProperties: { type: 'array', items: { type: 'string' } },
        }),
      ),
      noVerdict: Type.Optional(Type.Boolean()),
    }),
  ),
});
type RunLine = Static<typeof RUN>;
type IdsLine = Static<typeof IDS>;

export interface History {
  readonly runs: readonly PastRun[];
  /** What of it cannot be read, in sentences. */
  readonly notes: readonly string[];
}

/** The runs before. A line that cannot be read gets a note, and stays in the file. */
export function readHistory(reportsDir: string): History {
  const path = historyPath(reportsDir);
  const { lines, notes } = linesOf(path);
  const lists = new Map(lines.flatMap(({ ids }) => (ids ? [[ids.checks, ids.ids] as const] : [])));
  const unread = lines.flatMap(({ run, ids }, index) => (run || ids ? [] : [index + 1]));
  const lost = unread.length === 0 ? [] : [`${path}: ${whichLines(unread)} cannot be read and tells nothing`];
  // The last line of a run counts: a run that is repeated takes its own place.
  const runs = new Map(lines.flatMap(({ run }) => (run ? [[run.run, pastOf(run, lists)] as const] : [])));
  return { runs: [...runs.values()], notes: [...notes, ...lost] };
}

function whichLines(numbers: readonly number[]): string {
  const shown = numbers.slice(0, 3).join(', ');
  return numbers.length > 3 ? `${counted(numbers.length, 'line')} (${shown} …)` : `line ${shown}`;
}

/** Adds a run, dropping the oldest. Returns why it could not be written, null if it was. */
export function remember(reportsDir: string, run: PastRun): string | null {
  try {
    record(reportsDir, run);
    return null;
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error;
    return error.message;
  }
}

function record(reportsDir: string, run: PastRun): void {
  oneAtATime(reportsDir, () => {
    const path = historyPath(reportsDir);
    if (!isReadable(path)) throw new HarnessError(`cannot write ${path}: it is not a regular file`);
    const { lines } = linesOf(path);
    const lists = new Map<string, IdsLine>();
    const line = lineOf(run, lists);
    const written = [
      ...lines.filter((each) => each.run?.run !== run.id && each.ids === null),
      { text: JSON.stringify(line), run: line, ids: null },
    ].slice(-MOST_RUNS);
    for (const { ids } of lines) if (ids) lists.set(ids.checks, ids);
    let size = 0;
    const fits = ({ text }: Line, index: number) => {
      size += text.length + 1;
      return index === 0 || size <= MOST_BYTES;
    };
    const kept = written.toReversed().filter(fits).toReversed();
    const used = new Set(kept.flatMap(({ run: each }) => each?.services.map(({ checks }) => checks) ?? []));
    const heads = [...lists.values()].flatMap((ids) => (used.has(ids.checks) ? JSON.stringify(ids) : []));
    writeWhole(path, [...heads, ...kept.map(({ text }) => text), ''].join('\n'));
  });
}

/** A device may never end, and a pipe without a writer is never opened. */
function isReadable(path: string): boolean {
  return !existsSync(path) || statSync(path).isFile();
}

function historyPath(reportsDir: string): string {
  return join(reportsDir, 'history.ndjson');
}

interface Line {
  readonly text: string;
  readonly run: RunLine | null;
  readonly ids: IdsLine | null;
}

function linesOf(path: string): { readonly lines: readonly Line[]; readonly notes: readonly string[] } {
  let text: string;
  try {
    if (!existsSync(path)) return { lines: [], notes: [] };
    if (!isReadable(path)) return { lines: [], notes: [`${path} is not a regular file: it tells nothing`] };
    if (statSync(path).size > 4 * MOST_BYTES)
      return { lines: [], notes: [`${path} is too large to be the history of these runs: it tells nothing`] };
    text = readRegularFile(path, 4 * MOST_BYTES).toString();
  } catch (error) {
    return { lines: [], notes: [`${path} cannot be read: ${reasonOf(error)}`] };
  }
  const lines = text.split('\n').filter((each) => each.trim() !== '');
  return { lines: lines.map(lineIn), notes: [] };
}

function lineIn(text: string): Line {
  const value = parseJsonObject(text);
  return { text, run: fitting(RUN, 'run', value), ids: fitting(IDS, 'ids', value) };
}

/** `key` tells that a line is meant to be of this shape. */
function fitting<S extends TSchema>(shape: S, key: string, value: JsonObject | null): Static<S> | null {
  return value !== null && key in value && !problemIn(shape, value) ? (value as Static<S>) : null;
}

function lineOf({ id, startedAt, exitCode, services }: PastRun, lists: Map<string, IdsLine>): RunLine {
  return {
    run: id,
    at: startedAt,
    exit: exitCode,
    services: services.map(({ outcomes, operations = new Map(), durationMs, ...service }) => {
      const ids = [...outcomes.keys()];
      const checks = createHash('sha256').update(ids.join('\n')).digest('base64url').slice(0, 12);
      lists.set(checks, { checks, ids });
      return {
        ...service,
        checks,
        outcomes: [...outcomes.values()].join(''),
        ...(operations.size > 0 && { operations: Object.fromEntries(operations) }),
        ms: Math.round(durationMs),
      };
    }),
  };
}

function pastOf({ run, at, exit, services }: RunLine, lists: Map<string, readonly string[]>): PastRun {
  return {
    id: run,
    startedAt: at,
    exitCode: exit,
    services: services.map(({ checks, outcomes, operations, ms, ...service }) => ({
      ...service,
      ...(operations && { operations: new Map(Object.entries(operations)) }),
      outcomes: new Map((lists.get(checks) ?? []).map((id, index) => [id, outcomes[index] ?? '.'])),
      durationMs: ms,
    })),
  };
}
