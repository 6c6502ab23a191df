import { stringify } from 'yaml';
import { UsageError } from '../../base/exit.ts';
import { CLAUSE_KEYS, isClauseKey, type JsonSchema, VOCABULARY } from '../../base/vocabulary.ts';
import { didYouMean } from '../../config/yaml/nearest.ts';
import type { CheckDefinition, Suite } from '../../engine/check/check.ts';
import { loadSuites, SUITES_URL } from '../../engine/selection/selection.ts';

/**
 * `conform clauses [KEY]`: the vocabulary of contracts. Without a key one line each; with a key its meaning, the form of
 * its value, an example and the checks that rest on it.
 */
export async function clauses(key?: string): Promise<number> {
  const suites = await loadSuites(SUITES_URL);
  if (key !== undefined && !isClauseKey(key)) {
    throw new UsageError(`no clause is called ${JSON.stringify(key)}`, {
      remedy: `${didYouMean(key, CLAUSE_KEYS)}; \`conform clauses\` shows all`,
    });
  }
  process.stdout.write(key === undefined ? overview(suites) : described(key, restingOn(key, suites)));
  return 0;
}

function restingOn(key: string, suites: readonly Suite[]): readonly CheckDefinition[] {
  return suites
    .flatMap(({ checks }) => checks)
    .filter(({ grounds }) => grounds.some((ground) => ground.kind === 'clause' && ground.key === key));
}

function overview(suites: readonly Suite[]): string {
  const width = Math.max(...CLAUSE_KEYS.map((key) => key.length));
  const lines = Object.entries(VOCABULARY).map(([key, { meaning }]) => {
    const checks = restingOn(key, suites).length;
    const resting = checks === 0 ? '' : `  (${checks} ${checks === 1 ? 'check' : 'checks'})`;
    return `${key.padEnd(width)}  ${meaning}${resting}`;
  });
  return `${lines.join('\n')}\n\n\`conform clauses KEY\` shows form, example and checks of one.\n`;
}

function described(key: keyof typeof VOCABULARY, checks: readonly CheckDefinition[]): string {
  const { meaning, value, example } = VOCABULARY[key];
  const clause = {
    key,
    standing: 'stated',
    value: example,
    place: { section: 'Heading in the document', row: 1 },
  };
  return [
    key,
    `  ${meaning}`,
    '',
    'Form of its value',
    ...formOf(value).map((line) => `  ${line}`),
    '',
    'Example',
    ...stringify([clause])
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`),
    '',
    'standing is stated (the documents say so), advised (they recommend it) or not-shown (leave value out).',
    '',
    checks.length === 0 ? 'No check rests on it.' : 'Checks that rest on it',
    ...checks.map(({ id, title }) => `  ${id}  ${title}`),
    '',
  ].join('\n');
}

/** A JSON Schema of the vocabulary in words, one line for each member. */
function formOf(schema: JsonSchema): readonly string[] {
  const { properties, required } = schema as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  const lines = Object.entries(properties ?? {}).map(([name, inner]) => {
    const need = required?.includes(name) ? '' : ' (may be left out)';
    return `  ${name}: ${inWords(inner)}${need}`;
  });
  return [inWords(schema), ...lines];
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list of texts',
  object: 'a mapping',
};

function inWords(schema: JsonSchema): string {
  const { type, enum: values, items, description } = schema;
  if (typeof description === 'string') return description;
  if (Array.isArray(values)) return `one of ${values.join(', ')}`;
  if (type === undefined) return 'anything';
  const inner = items as JsonSchema | undefined;
  if (type === 'array' && Array.isArray(inner?.enum)) return `a list of ${inner.enum.join(', ')}`;
  const named = [type].flat().map((each) => TYPES[String(each)] ?? String(each));
  return named.join(' or ');
}
