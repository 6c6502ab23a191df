import type { ErrorObject } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { type Place, UsageError } from '../../base/exit.ts';
import { asList, isJsonObject } from '../../base/json-text.ts';
import { type OwnSchema, ownSchema } from '../../base/schema/own-schema.ts';
import { pointerMembers } from '../../wire/json/pointer.ts';
import { keyWithin, type Located, type LocatedMap, plainOf } from '../yaml/located.ts';
import { didYouMean, nearestNames } from '../yaml/nearest.ts';
import { wholeSchemaOf } from './json-schema.ts';

/** Tells everything that a schema of ours refuses, with the schema that refuses it. */
export function everyFault(schema: object): OwnSchema {
  return ownSchema(schema, { allErrors: true, verbose: true, strict: true, strictTypes: false });
}

/** What the schema of a shape refuses in a file, each with its place. */
export function faultsIn(shape: TSchema): (file: LocatedMap) => readonly UsageError[] {
  let fits: OwnSchema | undefined;
  return (file) => {
    fits ??= everyFault(wholeSchemaOf(shape));
    return fits(plainOf(file)) ? [] : schemaFaults(fits.errors ?? [], file);
  };
}

/**
 * What is only a consequence is left out: that a key is missing
 * where it is mistyped. Values below `credentials` are never quoted.
 */
function schemaFaults(errors: readonly ErrorObject[], tree: LocatedMap): readonly UsageError[] {
  const unknown = errors.filter(({ keyword }) => keyword === 'additionalProperties');
  const isMistyped = ({ keyword, instancePath, params }: ErrorObject) =>
    keyword === 'required' &&
    unknown.some(
      (other) =>
        other.instancePath === instancePath &&
        nearestNames(String(other.params.additionalProperty), [String(params.missingProperty)]).length > 0,
    );
  const isOfOtherType = ({ keyword, instancePath }: ErrorObject) =>
    keyword !== 'type' &&
    errors.some((other) => other.keyword === 'type' && other.instancePath === instancePath);
  return errors
    .filter((error) => error.propertyName === undefined && !isMistyped(error) && !isOfOtherType(error))
    .map((error) => {
      const { problem, key, remedy, place } = describe(error, tree);
      return new UsageError(problem, { key, remedy, ...(place ? { place } : {}) });
    });
}

interface Fault {
  readonly place: Place | null;
  readonly key: string;
  readonly problem: string;
  readonly remedy: string;
}

function describe(error: ErrorObject, tree: LocatedMap): Fault {
  const path = pointerMembers(error.instancePath);
  const node = nodeAt(tree, path);
  const place = node?.origin.kind === 'file' ? node.origin.place : null;
  const key = path.join('.');
  const within = (name: string) => keyWithin(key, name);
  const schema = isJsonObject(error.parentSchema) ? error.parentSchema : {};
  const expected = typeof schema['x-expected'] === 'string' ? schema['x-expected'] : null;
  const { params } = error;
  const fault = (problem: string, remedy: string): Fault => ({
    place,
    key,
    problem,
    remedy: expected === null ? remedy : `write ${expected}`,
  });

  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty);
      const known = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
      return unknownKey(node, within(name), name, known);
    }
    case 'propertyNames': {
      const name = String(params.propertyName);
      return { place: keyPlaceIn(node, name) ?? place, key: within(name), ...badName(schema) };
    }
    case 'required': {
      const name = String(params.missingProperty);
      return { place, key: within(name), problem: 'is missing', remedy: `add \`${name}:\`` };
    }
    case 'type': {
      const wanted = [params.type].flat().map((type) => TYPE_WORDS[String(type)] ?? String(type));
      const got = kindOf(node);
      return got === 'nothing'
        ? fault('is empty', `write ${wanted.join(' or ')}, or remove the key`)
        : fault(`must be ${wanted.join(' or ')}, not ${got}`, `write ${wanted.join(' or ')}`);
    }
    case 'enum': {
      const known = asList(params.allowedValues).map(String);
      const value = node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : null;
      const quoted = value === null || key.startsWith('credentials') ? 'the value' : JSON.stringify(value);
      return fault(`${quoted} is not known here`, didYouMean(value ?? '', known));
    }
    case 'pattern':
    case 'minLength':
      return fault(
        node?.kind === 'scalar' && node.value === '' ? 'is empty' : 'has the wrong form',
        'correct it',
      );
    case 'minimum':
      return fault(`must be at least ${String(params.limit)}`, 'write a larger number');
    case 'maximum':
      return fault(`must be at most ${String(params.limit)}`, 'write a smaller number');
    default:
      return fault(error.message ?? 'does not fit its schema', 'see the schema');
  }
}

/** The schema of the names says what they are. */
function badName({ propertyNames }: Readonly<Record<string, unknown>>): Pick<Fault, 'problem' | 'remedy'> {
  const expected = isJsonObject(propertyNames) ? propertyNames['x-expected'] : undefined;
  const words = typeof expected === 'string' ? expected : 'another name';
  return { problem: `is not ${words}`, remedy: `write ${words}` };
}

function unknownKey(node: Located | undefined, key: string, name: string, known: readonly string[]): Fault {
  return { place: keyPlaceIn(node, name), key, problem: 'unknown key', remedy: didYouMean(name, known) };
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
