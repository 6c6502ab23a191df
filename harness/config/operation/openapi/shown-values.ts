import { isJsonObject, parseJson } from '../../../base/json-text.ts';
import { EndlessSchema } from '../../../wire/json/schema.ts';
import type { SourceFiles } from '../../document/files.ts';
import type { Remarks } from '../../document/remarks.ts';
import { child, children, type DocumentNode } from '../../document/source.ts';
import { type NamedExample, textOf } from '../call/call.ts';
import type { OpenApiSchemas } from './schemas.ts';

interface ShownScope {
  readonly files: SourceFiles;
  readonly schemas: OpenApiSchemas;
  readonly remarks: Remarks;
}

/** Examples, default and enumerated values of a parameter, best first. `holders`: the parameter and its content. */
export function shownInParameter(
  holders: readonly DocumentNode[],
  at: DocumentNode,
  { files }: Pick<ShownScope, 'files'>,
): readonly DocumentNode[] {
  const schema = at.value === undefined ? at : files.dereferenced(at);
  return [
    ...holders.flatMap((holder) => [child(holder, 'example'), ...namedExamples(holder, files)]),
    child(schema, 'example'),
    ...children(child(schema, 'examples')).map(([, each]) => each),
    child(schema, 'default'),
    child(schema, 'const'),
    ...children(child(schema, 'enum')).map(([, each]) => each),
  ].filter(({ value }) => value !== undefined && value !== null);
}

/** The examples of a body. */
export function shownInBody(
  content: DocumentNode,
  { files }: Pick<ShownScope, 'files'>,
): readonly DocumentNode[] {
  return [child(content, 'example'), ...namedExamples(content, files)].filter(
    ({ value }) => value !== undefined,
  );
}

/** What examples hold; OpenAPI 3.2 has a second word for it. */
function namedExamples(holder: DocumentNode, files: SourceFiles): readonly DocumentNode[] {
  return children(child(holder, 'examples')).map(([, at]) => {
    const example = files.dereferenced(at);
    const value = child(example, 'dataValue');
    return value.value === undefined ? child(example, 'value') : value;
  });
}

/** The named examples that fit the schema, as they are sent. */
export function fittingExamples(
  holders: readonly DocumentNode[],
  { files, schemas }: Pick<ShownScope, 'files' | 'schemas'>,
  schema: unknown,
  { readingsOf = (value) => [value], sent = ({ value }) => value }: ExampleReading = {},
): { readonly examples?: readonly NamedExample[] } {
  const examples = holders.flatMap((holder) =>
    namedExamples(holder, files).flatMap((at, index) => {
      const isFit =
        at.value !== undefined &&
        (schema === null || readingsOf(at.value).some((value) => misfit(value, schema, schemas) === null));
      const [name = `${index}`] = children(child(holder, 'examples'))[index] ?? [];
      return isFit ? [{ name, value: sent(at) }] : [];
    }),
  );
  return examples.length === 0 ? {} : { examples: examples.slice(0, MAX_EXAMPLES) };
}

interface ExampleReading {
  /** All that the value may stand for. */
  readonly readingsOf?: (value: unknown) => readonly unknown[];
  readonly sent?: (shown: DocumentNode) => unknown;
}

/** Named examples of one parameter or body. */
const MAX_EXAMPLES = 20;

/** The first value that fits the schema; undefined for none. Each other one before it is a fault of the document. */
export function firstFitting(
  shown: readonly DocumentNode[],
  { schemas, remarks }: Pick<ShownScope, 'schemas' | 'remarks'>,
  schema: unknown,
  readingsOf: (value: unknown) => readonly unknown[] = (value) => [value],
): DocumentNode | undefined {
  if (schema === null || shown.length === 0) return shown[0];
  return shown.find((at) => {
    const [fault = null, ...others] = readingsOf(at.value).map((value) => misfit(value, schema, schemas));
    if (fault === null || others.includes(null)) return true;
    remarks.at(at, `does not fit its schema: ${fault}`, 'it is not sent');
    return false;
  });
}

function misfit(value: unknown, schema: unknown, { book }: OpenApiSchemas): string | null {
  try {
    const fault = book.compile(schema)(value);
    // Many documents use formats as hints.
    return fault === null || fault.keyword === 'format' ? null : fault.message;
  } catch (error) {
    if (error instanceof EndlessSchema) return null;
    throw error;
  }
}

/** All that the text of a parameter may stand for: its value, the same as text, and the text read as JSON or a list. */
export function readingsOfText(value: unknown): readonly unknown[] {
  const text = textOf(value, ',');
  const read = parseJson(text);
  return [value, text, text.split(','), ...(read === undefined ? [] : [read])];
}

/** The value without the members that the schema has only for responses (`readOnly`). */
export function withoutReadOnly(shown: DocumentNode, schemaAt: DocumentNode, scope: ShownScope): unknown {
  return pruned(shown, schemaAt, scope, 0);
}

const MAX_DEPTH = 20;

function pruned(shown: DocumentNode, schemaAt: DocumentNode, scope: ShownScope, depth: number): unknown {
  const { value } = shown;
  if (depth > MAX_DEPTH || schemaAt.value === undefined) return value;
  const schema = scope.files.dereferenced(schemaAt);
  if (Array.isArray(value)) {
    const items = child(schema, 'items');
    return children(shown).map(([, item]) => pruned(item, items, scope, depth + 1));
  }
  if (!isJsonObject(value)) return value;
  const parts = children(child(schema, 'allOf')).map(([, part]) => part);
  if (parts.length > 0 && child(schema, 'properties').value === undefined) {
    return parts.reduce<unknown>(
      (left, part) => pruned({ ...shown, value: left }, part, scope, depth + 1),
      value,
    );
  }
  const properties = child(schema, 'properties');
  const kept = children(shown).flatMap(([name, inner]) => {
    const property = child(properties, name);
    if (property.value === undefined) return [[name, inner.value] as const];
    if (child(scope.files.dereferenced(property), 'readOnly').value !== true)
      return [[name, pruned(inner, property, scope, depth + 1)] as const];
    scope.remarks.at(inner, 'is read-only, and shown in a request', 'it is not sent');
    return [];
  });
  return Object.fromEntries(kept);
}
