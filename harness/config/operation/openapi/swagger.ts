import { asList, isJsonObject } from '../../../base/json-text.ts';
import type { SourceFiles } from '../../document/files.ts';
import { child, children, type DocumentNode, faultAt } from '../../document/source.ts';
import { isFormType, isJsonType } from '../call/call.ts';

/** In the form of OpenAPI 3.0, with the lines of its parts. Upgrades of the library lose parameters. */
export function asOperation(files: SourceFiles, path: DocumentNode, operation: DocumentNode): DocumentNode {
  const parameters = parametersOf(files, [path, operation]);
  const inputs = parameters.filter(({ value }) => !isContent(value));
  const contents = parameters.filter(({ value }) => isContent(value));
  const body = bodyOf(operation, contents, mediaTypes(files.root, operation, 'consumes'));
  const produces = mediaTypes(files.root, operation, 'produces');
  const responses = children(child(operation, 'responses')).map(
    ([code, at]) => [code, responseOf(files.dereferenced(at), ofAnswer(code, produces))] as const,
  );
  return put(operation, {
    parameters: put(child(operation, 'parameters'), Object.fromEntries(inputs.map(inputOf).entries())),
    ...(body ? { requestBody: body } : {}),
    responses: put(child(operation, 'responses'), Object.fromEntries(responses)),
  });
}

function put(at: DocumentNode, parts: Readonly<Record<string, DocumentNode>>): DocumentNode {
  return { ...at, parts: new Map(Object.entries(parts)) };
}

/** A value that is said at a place in other words. */
function said(at: DocumentNode, value: unknown): DocumentNode {
  return { file: at.file, pointer: at.pointer, value };
}

/** `keyword`: consumes or produces. */
function mediaTypes(root: DocumentNode, operation: DocumentNode, keyword: string): readonly string[] {
  const own = child(operation, keyword).value;
  const types = Array.isArray(own) ? own : asList(child(root, keyword).value);
  return types.filter((type) => typeof type === 'string');
}

/** Those of an operation over those of its path; all that make up a body stand for each other. */
function parametersOf(files: SourceFiles, holders: readonly DocumentNode[]): readonly DocumentNode[] {
  const found = new Map<string, DocumentNode>();
  for (const holder of holders) {
    for (const [, at] of children(child(holder, 'parameters'))) {
      const parameter = files.dereferenced(at);
      const name =
        child(parameter, 'in').value === 'body' ? '' : JSON.stringify(child(parameter, 'name').value);
      found.set(`${JSON.stringify(child(parameter, 'in').value)} ${name}`, parameter);
    }
  }
  return [...found.values()];
}

function isContent(parameter: unknown): boolean {
  return isJsonObject(parameter) && (parameter.in === 'body' || parameter.in === 'formData');
}

function inputOf(parameter: DocumentNode): DocumentNode {
  const { value: format } = child(parameter, 'collectionFormat');
  const { style, explode } = FORMS.get(typeof format === 'string' ? format : 'csv') ?? UNKNOWN_FORM;
  const place = child(parameter, 'in').value;
  const isSimple = style === 'form' && (place === 'path' || place === 'header');
  return put(parameter, {
    schema: said(parameter, schemaOf(parameter)),
    style: said(parameter, isSimple ? 'simple' : style),
    explode: said(parameter, explode),
    ...exampleOf(parameter),
  });
}

const FORMS = new Map([
  ['csv', { style: 'form', explode: false }],
  ['ssv', { style: 'spaceDelimited', explode: false }],
  ['pipes', { style: 'pipeDelimited', explode: false }],
  ['multi', { style: 'form', explode: true }],
]);
/** OpenAPI 3.0 has no word for tabs. */
const UNKNOWN_FORM = { style: 'tabDelimited', explode: false };

/** What a parameter says of its values, which is no schema of its own before OpenAPI 3.0. */
const KEYWORDS =
  `type format items default maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength
  pattern maxItems minItems uniqueItems enum multipleOf x-nullable`.split(/\s+/);

function schemaOf(parameter: DocumentNode): Readonly<Record<string, unknown>> {
  const said = KEYWORDS.map((keyword) => [keyword, child(parameter, keyword).value] as const);
  const schema = Object.fromEntries(said.filter(([, value]) => value !== undefined));
  return isFile(schema) ? { type: 'string', format: 'binary' } : schema;
}

function isFile(schema: unknown): boolean {
  return isJsonObject(schema) && schema.type === 'file';
}

function exampleOf(parameter: DocumentNode): { readonly example?: DocumentNode } {
  const example = child(parameter, 'x-example');
  return example.value === undefined ? {} : { example };
}

function bodyOf(
  operation: DocumentNode,
  contents: readonly DocumentNode[],
  consumes: readonly string[],
): DocumentNode | null {
  const [first] = contents;
  if (first === undefined) return null;
  const body = contents.find(({ value }) => isJsonObject(value) && value.in === 'body');
  if (body) {
    const types = consumes.length === 0 ? ['application/json'] : consumes;
    const content = { schema: child(body, 'schema'), ...exampleOf(body) };
    return put(body, { content: contentOf(body, types, content) });
  }
  const required = contents.filter((field) => child(field, 'required').value === true);
  const schema = said(child(operation, 'parameters'), {
    type: 'object',
    required: required.map(nameOf),
    properties: Object.fromEntries(contents.map((field) => [nameOf(field), schemaOf(field)])),
  });
  const hasFile = contents.some((field) => isFile(field.value));
  const usual = hasFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  const forms = consumes.filter((type) => isFormType(type) || /^multipart\//i.test(type));
  return put(said(first, {}), {
    required: said(first, required.length > 0),
    content: contentOf(first, forms.length === 0 ? [usual] : forms, { schema }),
  });
}

function nameOf(field: DocumentNode): string {
  const { value } = child(field, 'name');
  if (typeof value === 'string') return value;
  throw faultAt(field, 'is a parameter without a name', 'add `name`');
}

/** `produces` has one list for all answers: errors next to an archive or a page may be JSON. */
function ofAnswer(code: string, produces: readonly string[]): readonly string[] {
  if (code.startsWith('2') || produces.length === 0 || produces.some(isJsonType)) return produces;
  return [...produces, 'application/json', 'application/problem+json'];
}

/** Without a schema nothing is sent (Swagger 2.0, Response Object), whatever `produces` says. */
function responseOf(response: DocumentNode, produces: readonly string[]): DocumentNode {
  const schema = child(response, 'schema');
  if (schema.value === undefined) return put(response, { headers: headersOf(response) });
  const hasSchema = !isFile(schema.value);
  const types = hasSchema && produces.length === 0 ? ['*/*'] : produces;
  const content = contentOf(response, types, hasSchema ? { schema } : {});
  return put(response, { headers: headersOf(response), content });
}

/** A header is a schema itself before OpenAPI 3.0. */
function headersOf(response: DocumentNode): DocumentNode {
  const headers = child(response, 'headers');
  const each = children(headers).map(
    ([name, at]) => [name, put(at, { schema: said(at, schemaOf(at)) })] as const,
  );
  return put(headers, Object.fromEntries(each));
}

function contentOf(
  at: DocumentNode,
  types: readonly string[],
  content: Readonly<Record<string, DocumentNode>>,
): DocumentNode {
  const each = put(said(at, {}), content);
  return put(said(at, {}), Object.fromEntries(types.map((type) => [type, each])));
}
