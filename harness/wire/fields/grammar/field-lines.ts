import type { FieldLine } from '../../exchange.ts';
import { trimSpace } from './field-grammar.ts';

/** Values of the field lines with that name, in order, without the white space around them. Names in any case. */
export function fieldValues(fields: readonly FieldLine[], name: string): readonly string[] {
  const wanted = name.toLowerCase();
  return fields.filter(([given]) => given.toLowerCase() === wanted).map(([, value]) => trimSpace(value));
}

/** The combined field value (RFC 9110 §5.3): the lines joined with `, `; undefined when there is none. */
export function fieldValue(fields: readonly FieldLine[], name: string): string | undefined {
  const values = fieldValues(fields, name);
  return values.length === 0 ? undefined : values.join(', ');
}

/** The lines of a message as Node tells them, names and values in turn (`rawHeaders`). */
export function linesIn(raw: readonly string[]): readonly FieldLine[] {
  return raw.flatMap((name, at): readonly FieldLine[] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));
}
