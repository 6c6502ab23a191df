import { EndlessSchema, type SchemaBook } from '../../../wire/json/schema.ts';

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
