import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { shapeFaults } from '../../base/schema/shape-faults.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PUBLISHED = globSync(['config/*.schema.json', 'harness/report/results/*.schema.json'], { cwd: ROOT });

const CONDITIONS = new Set(['if', 'then']);

/** A schema with all schemas below it: a shape is looked at only when a value has the member that it is of. */
function* schemasIn(schema: unknown): Iterable<object> {
  if (typeof schema !== 'object' || schema === null) return;
  yield schema;
  const at = schema as Readonly<Record<string, unknown>>;
  for (const many of ['properties', '$defs', 'anyOf', 'allOf'])
    for (const each of Object.values(at[many] ?? {})) yield* schemasIn(each);
  for (const one of ['items', 'additionalProperties', 'propertyNames', 'then']) yield* schemasIn(at[one]);
}

it.each(PUBLISHED)('%s has no keyword that is not checked', (path) => {
  const whole = JSON.parse(readFileSync(`${ROOT}${path}`, 'utf8')) as { $defs?: Record<string, object> };
  const all = [...schemasIn(whole)];
  expect(all.length).toBeGreaterThan(5);
  for (const each of all) {
    // Editors know by `if` which shape a value has: the code chooses it itself.
    const checked = JSON.parse(JSON.stringify(each), (key, value) =>
      CONDITIONS.has(key) ? undefined : value,
    );
    expect(() => shapeFaults(checked, whole.$defs)(null)).not.toThrow();
  }
});
