import { fileURLToPath } from 'node:url';
import type { Suite } from '../engine/check/check.ts';
import { isFinding } from '../report/diagnosis/diagnose.ts';
import { proofCases } from './cases.ts';
import { standsFor } from './gaps.ts';
import type { ProvenCase } from './proof.ts';

/** Where the messages stand that have been read, one line a check. */
export const MESSAGES = fileURLToPath(new URL('messages.txt', import.meta.url));

/**
 * The lines of `messages.txt`: what each check says of the first defect that proves it, in the order of the suites.
 * Where that defect is not among the cases, the line of `read` stays.
 */
export function messageLines(
  read: readonly string[],
  cases: readonly ProvenCase[],
  suites: readonly Suite[],
): readonly string[] {
  const before = new Map(read.map((line) => [line.slice(0, line.indexOf(' ')), line]));
  const defects = proofCases();
  return suites
    .flatMap(({ checks }) => checks)
    .flatMap(({ id }) => {
      const first = defects.find(({ fails }) => fails.includes(id));
      const proven = cases.find(({ kind, name }) => kind === 'defect' && name === first?.name);
      if (proven === undefined) return before.get(id) ?? [];
      const found = proven.findings.find((each) => isFinding(each) && standsFor(id, each));
      return found === undefined ? [] : `${id} (${proven.name}) ${found.outcome}: ${steady(found.message)}`;
    });
}

/** Differences between the lines of the file and today's messages, one line each. */
export function messageGaps(read: readonly string[], now: readonly string[]): readonly string[] {
  const [before, after] = [new Set(read), new Set(now)];
  const changed = [
    ...now.filter((line) => !before.has(line)).map((line) => `new: ${line}`),
    ...read.filter((line) => !after.has(line)).map((line) => `gone: ${line}`),
  ];
  return changed.length === 0
    ? []
    : [...changed, 'once they are read, `npm run prove -- --update` keeps them'];
}

/** The message without values that change with each run, and without lines of configs and the path of this checkout. */
function steady(message: string): string {
  return (
    message
      .replaceAll(fileURLToPath(new URL('../../', import.meta.url)), '')
      .replace(/127\.0\.0\.1:\d+/g, 'HOST')
      .replace(/\.yaml:\d+:\d+/g, '.yaml:LINE')
      .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      // But for the window of the proof, which is always the same.
      .replace(/\b(?!60 s)\d+(?:\.\d+)? s\b/g, 'N s')
      .replace(/\b\d+ ms\b/g, 'N ms')
      .replace(/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, 'UUID')
      .replace(/"\d+\.\d+"/g, '"N.N"')
      // The ETag of an item that has the time of its creation in it.
      .replace(/"[\w-]{16}"/g, '"ETAG"')
      .replace(/(?<![\w+/])[\w+/]{27}=/g, 'ACCEPT')
  );
}
