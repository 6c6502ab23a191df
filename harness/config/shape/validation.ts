import type { TSchema } from 'typebox';
import { type Place, UsageError } from '../../base/exit.ts';
import { asList, isJsonObject } from '../../base/json-text.ts';
import { type ShapeFault, shapeFaults } from '../../base/schema/shape-faults.ts';
import { keyWithin, type Located, type LocatedMap, plainOf } from '../yaml/located.ts';
import { didYouMean, nearestNames } from '../yaml/nearest.ts';
import { wholeSchemaOf } from './json-schema.ts';

/** What the schema of a shape refuses in a file, each with its place. */
export function faultsIn(shape: TSchema): (file: LocatedMap) => readonly UsageError[] {
  let find: ReturnType<typeof shapeFaults> | undefined;
  return (file) => {
    find ??= shapeFaults(wholeSchemaOf(shape));
    return schemaFaults(find(plainOf(file)), file);
  };
}

/** Without consequences, such as a mistyped key that is missing. Credentials are never quoted. */
function schemaFaults(faults: readonly ShapeFault[], tree: LocatedMap): readonly UsageError[] {
  const unknown = faults.filter(({ keyword }) => keyword === 'additionalProperties');
  const isMistyped = ({ keyword, path, name = '' }: ShapeFault) =>
    keyword === 'required' &&
    unknown.some(
      (other) => other.path.join('.') === path.join('.') && nearestNames(other.name ?? '', [name]).length > 0,
    );
  return faults.filter((fault) => !isMistyped(fault)).map((fault) => errorOf(fault, tree));
}

function errorOf({ path, keyword, message, schema, name = '' }: ShapeFault, tree: LocatedMap): UsageError {
  const node = nodeAt(tree, path);
  const own = node?.origin.kind === 'file' ? node.origin.place : null;
  const key = path.join('.');
  const within = keyWithin(key, name);
  const error = (at: string, place: Place | null, problem: string, remedy: string) =>
    new UsageError(problem, { key: at, remedy, ...(place ? { place } : {}) });
  const fault = (problem: string, remedy: string) =>
    error(key, own, problem, wordsOf(schema)?.replace(/^/, 'write ') ?? remedy);

  switch (keyword) {
    case 'additionalProperties': {
      const known = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
      return error(within, keyPlaceIn(node, name), 'unknown key', didYouMean(name, known));
    }
    case 'propertyNames': {
      // The schema of the names says what they are.
      const words = wordsOf(schema.propertyNames) ?? 'another name';
      return error(within, keyPlaceIn(node, name) ?? own, `is not ${words}`, `write ${words}`);
    }
    case 'required':
      return error(within, own, 'is missing', `add \`${name}:\``);
    case 'type': {
      const wanted = [schema.type].flat().map((type) => TYPE_WORDS[String(type)] ?? String(type));
      const got = kindOf(node);
      return got === 'nothing'
        ? fault('is empty', `write ${wanted.join(' or ')}, or remove the key`)
        : fault(`must be ${wanted.join(' or ')}, not ${got}`, `write ${wanted.join(' or ')}`);
    }
    case 'enum': {
      const value = node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : null;
      const quoted = value === null || key.startsWith('credentials') ? 'the value' : JSON.stringify(value);
      return fault(`${quoted} is not known here`, didYouMean(value ?? '', asList(schema.enum).map(String)));
    }
    case 'pattern':
    case 'minLength': {
      const isEmpty = node?.kind === 'scalar' && node.value === '';
      return fault(isEmpty ? 'is empty' : 'has the wrong form', 'correct it');
    }
    case 'minimum':
      return fault(`must be at least ${String(schema.minimum)}`, 'write a larger number');
    case 'maximum':
      return fault(`must be at most ${String(schema.maximum)}`, 'write a smaller number');
    default:
      return fault(message, 'see the schema');
  }
}

/** What a schema wants, in words; null if it does not say. */
function wordsOf(schema: unknown): string | null {
  const expected = isJsonObject(schema) ? schema['x-expected'] : undefined;
  return typeof expected === 'string' ? expected : null;
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a mapping',
  array: 'a list',
  null: 'null',
};

function kindOf(node: Located | undefined): string {
  if (node === undefined) return 'nothing';
  if (node.kind === 'map') return 'a mapping';
  if (node.kind === 'list') return 'a list';
  if (node.value === null) return 'nothing';
  if (typeof node.value === 'string') return 'text';
  if (typeof node.value === 'boolean') return 'true or false';
  return Number.isInteger(node.value) ? 'a number' : 'a fraction';
}

function nodeAt(tree: Located, path: readonly string[]): Located | undefined {
  return path.reduce<Located | undefined>((node, part) => {
    if (node?.kind === 'map') return node.entries.get(part)?.value;
    return node?.kind === 'list' ? node.items[Number(part)] : undefined;
  }, tree);
}

function keyPlaceIn(node: Located | undefined, name: string): Place | null {
  return (node?.kind === 'map' ? node.entries.get(name)?.keyPlace : null) ?? null;
}
