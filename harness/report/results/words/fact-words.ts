import { isJsonObject } from '../../../base/json-text.ts';
import { grouped, shortened } from '../../../base/text.ts';
import { plainLine } from './plain.ts';

/** UTF-16 units of a fact in words; the whole is behind it. */
const LONGEST = 220;
/** Objects within objects are told so far. */
const DEEPEST = 2;

/** An observed value as a person says it: `401 for missing and wrong, 200 for empty`, `object with title, status`. */
export function factInWords(value: unknown): string {
  return shortened(plainLine(wordsOf(value, 0)), LONGEST);
}

function wordsOf(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return grouped(value);
  if (typeof value === 'string') return value === '' ? 'empty' : value;
  if (Array.isArray(value)) {
    return value.length === 0 ? 'none' : value.map((item) => wordsOf(item, depth + 1)).join(', ');
  }
  if (!isJsonObject(value)) return String(value);
  if (isSchema(value)) return schemaInWords(value);
  const members = Object.entries(value);
  if (members.length === 0) return 'none';
  if (depth >= DEEPEST) return JSON.stringify(value);
  if (members.length > 1 && members.every(([, each]) => isStatus(each))) return statusesInWords(members);
  const told = members.map(([name, each]) => `${spaced(name)} ${wordsOf(each, depth + 1)}`);
  return depth === 0 ? told.join(', ') : `(${told.join(', ')})`;
}

/** `401 for missing, wrong; 200 for empty` */
function statusesInWords(members: readonly (readonly [string, unknown])[]): string {
  const byStatus = Map.groupBy(members, ([, status]) => status);
  return [...byStatus]
    .map(([status, named]) => `${status} for ${named.map(([name]) => spaced(name)).join(', ')}`)
    .join('; ');
}

function schemaInWords(schema: Record<string, unknown>): string {
  if (schema.type === 'array') {
    return `list of ${isJsonObject(schema.items) ? schemaInWords(schema.items) : 'values'}`;
  }
  const names = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  return names.length > 0 ? `object with ${names.join(', ')}` : String(schema.type);
}

function isSchema(value: Record<string, unknown>): boolean {
  return (
    typeof value.type === 'string' &&
    ['object', 'array'].includes(value.type) &&
    ('properties' in value || 'items' in value)
  );
}

function isStatus(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value < 600;
}

/** `unknownPath` as people write it. */
function spaced(name: string): string {
  return name.replace(
    /([a-z])([A-Z])/g,
    (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
  );
}
