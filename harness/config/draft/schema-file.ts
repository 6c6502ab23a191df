import { resolve } from 'node:path';
import { formatPlace } from '../../base/exit.ts';
import { reasonOf } from '../../base/thrown.ts';
import { SchemaBook } from '../../evidence/json/schema.ts';
import { jsonFault } from '../yaml/json-fault.ts';
import { readText } from '../yaml/read-text.ts';
import type { Draft } from './draft.ts';

const MAX_SCHEMA_BYTES = 1024 * 1024;

/**
 * A JSON Schema that a config holds, or the path of a file with one, relative to the config.
 *
 * @throws UsageError when the file cannot be read, or what it holds is no JSON Schema (2020-12).
 */
export async function readSchema(draft: Draft, key: string, named: unknown): Promise<unknown> {
  const fault = (problem: string, remedy: string) => draft.faultAt(key, problem, remedy);
  let schema: unknown = named;
  if (typeof named === 'string') {
    const read = await readText(resolve(draft.scope.folder, named), MAX_SCHEMA_BYTES);
    if ('fault' in read) {
      throw fault(
        `the schema file ${named}: ${read.fault.problem}`,
        `${read.fault.remedy}; it is relative to this file`,
      );
    }
    const wrong = jsonFault(read.text);
    if (wrong) {
      const { problem, line, column } = wrong;
      const file = formatPlace({ file: named, ...(line && { line }), ...(column && { column }) });
      throw fault(`the schema file ${file} ${problem}`, 'a JSON Schema file holds one JSON text');
    }
    schema = JSON.parse(read.text);
  }
  holdToSchema(draft, key, schema);
  return schema;
}

/** @throws UsageError when it is no JSON Schema (2020-12). */
export function holdToSchema(draft: Draft, key: string, schema: unknown): void {
  try {
    new SchemaBook().compile(schema);
  } catch (error) {
    const why = reasonOf(error);
    throw draft.faultAt(key, `is not a JSON Schema (2020-12): ${why}`, 'correct the schema');
  }
}
