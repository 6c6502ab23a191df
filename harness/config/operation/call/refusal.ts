import { EndlessSchema, type SchemaBook } from '../../../wire/json/schema.ts';
import type { Facets } from './call.ts';

/** Whether a schema rules a value out; null as a schema rules nothing out. */
export function refusalBy(book: SchemaBook, schema: unknown): (value: unknown) => boolean {
  if (schema === null) return () => false;
  let judge: ReturnType<SchemaBook['compile']> | undefined;
  return (value) => {
    judge ??= book.compile(schema);
    try {
      return judge(value) !== null;
    } catch (error) {
      if (error instanceof EndlessSchema) return false;
      throw error;
    }
  };
}

/** Formats of identifiers; of the others many documents make hints. */
const FORMATS: readonly unknown[] = ['uuid', 'date', 'date-time'];
/** A draft whose formats are no annotations alone. */
const ASSERTED = { $schema: 'http://json-schema.org/draft-07/schema#' };

/** Whether a text has the format of a schema, if that is one of identifiers. */
export function isOfFormat(
  text: string,
  { keywords: { format } }: Pick<Facets, 'keywords'>,
  book: SchemaBook,
): boolean {
  return !FORMATS.includes(format) || !refusalBy(book, { ...ASSERTED, format })(text);
}
