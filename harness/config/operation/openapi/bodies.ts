import { child, children, type DocumentNode } from '../../document/source.ts';
import { isFormType, isJsonType, isMultipartType, type MemberEncoding } from '../call/call.ts';
import type { Example } from '../call/example.ts';
import { type SampleFile, sampleFile } from '../call/sample-files.ts';
import { contentsOf, type DocumentedBody, formOf, type InputScope, schemaOf, UNREAD } from './inputs.ts';
import { firstFitting, fittingExamples, shownInBody, withoutReadOnly } from './shown-values.ts';

/** Methods whose requests have no content that means anything (RFC 9110 §9.3). */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Any type, which is mostly JSON. */
const isRange = (mediaType: string): boolean => mediaType === '*/*' || mediaType === 'application/*';

/** The forms of a body that can be written here, best first. */
const FORMS: readonly ((mediaType: string) => boolean)[] = [
  isJsonType,
  isFormType,
  isMultipartType,
  (mediaType) => /^text\/(?!xml)/i.test(mediaType),
  isRange,
  (mediaType) => /^application\/octet-stream/i.test(mediaType) || sampleFile(mediaType) !== null,
];

/** The request body in the first form that can be written here. */
export function readBody(operation: DocumentNode, method: string, scope: InputScope): DocumentedBody | null {
  const given = child(operation, 'requestBody');
  if (given.value === undefined || WITHOUT_CONTENT.has(method)) return null;
  const at = scope.files.dereferenced(given);
  const required = child(at, 'required').value === true;
  const contents = contentsOf(at, scope.files);
  const isShownAsText = (content: DocumentNode) =>
    shownInBody(content, scope).some(({ value }) => typeof value === 'string');
  const chosen =
    FORMS.map((isMeant) => contents.find(([mediaType]) => isMeant(mediaType))).find(Boolean) ??
    // Other forms, such as XML, are sent as the document shows them.
    contents.find(([, content]) => isShownAsText(content));
  if (chosen === undefined) {
    const names = contents.map(([mediaType]) => mediaType).join(', ') || 'nothing';
    const lacks = required ? `its body is taken as ${names}, which is not made up here` : null;
    return { mediaType: '', required, schema: null, value: undefined, lacks };
  }
  const [written, content] = chosen;
  const file = fileOf(content, written, scope);
  const mediaType = isRange(written) ? 'application/json' : (file?.mediaType ?? written);
  const schemaAt = child(content, 'schema');
  const schema = schemaOf(schemaAt, scope, 'the request body is held to no schema');
  const isJson = isJsonType(mediaType);
  const example =
    shownBody(content, scope, isJson ? schema : null) ??
    (file === null
      ? madeUp(schemaAt, scope, schema, isJson)
      : ({ value: file.octets, isMade: true } as const));
  const lacks = required && 'reason' in example ? `its body has no example: ${example.reason}` : null;
  const { value, isMade } = 'value' in example ? example : {};
  const typed = isMultipartType(mediaType) ? filesIn(schemaAt, scope) : {};
  const files = Object.keys(typed);
  const sent = (shown: DocumentNode) => withoutReadOnly(shown, schemaAt, scope);
  const named = fittingExamples([content], scope, isJson ? schema : null, { sent });
  const made = {
    ...(isMade && { isMade }),
    ...(file !== null && value === file.octets && { isFile: true as const }),
  };
  const otherTypes = contents.flatMap(([type]) => (type === written ? [] : [type]));
  const more = {
    ...made,
    ...(otherTypes.length > 0 && { otherTypes }),
    ...(files.length > 0 && { files }),
    ...encodingIn(content, typed, scope),
    ...named,
  };
  return { mediaType, required, schema, value, lacks, ...more };
}

/** A file of the media type, unless the document shows the content; null if none is known. */
function fileOf(content: DocumentNode, mediaType: string, scope: InputScope): SampleFile | null {
  return shownInBody(content, scope).length > 0 ? null : sampleFile(mediaType);
}

/** How members of a form are written, as far as the document says it (OpenAPI 3.1 §4.8.15). */
function encodingIn(
  content: DocumentNode,
  typed: ReturnType<typeof filesIn>,
  { files }: InputScope,
): Pick<DocumentedBody, 'encoding'> {
  const ofSchema = Object.entries(typed).filter(([, { contentType }]) => contentType !== undefined);
  const each = children(child(content, 'encoding')).map(([name, given]): [string, MemberEncoding] => {
    const at = files.dereferenced(given);
    const { value: types } = child(at, 'contentType');
    const [contentType = ''] = typeof types === 'string' ? types.split(',', 1) : [];
    const isSaid = ['style', 'explode'].some((key) => child(at, key).value !== undefined);
    const form = isSaid ? formOf(at, 'query') : null;
    const isType = /^ *(?:[\w.+-]+\/[\w.+-]+|image\/\*)(?:;[\x20-\x7e]*)?$/.test(contentType);
    const own = isType ? { contentType: contentType.trim() } : typed[name];
    return [name, { ...own, ...(form && { form }) }];
  });
  const all = [...ofSchema, ...each];
  return all.length === 0 ? {} : { encoding: Object.fromEntries(all) };
}

function shownBody(content: DocumentNode, scope: InputScope, schema: unknown): Example | null {
  const shown = firstFitting(shownInBody(content, scope), scope, schema);
  if (shown === undefined) return null;
  return { value: withoutReadOnly(shown, child(content, 'schema'), scope) };
}

/** Content without a documented form is a few octets. */
function madeUp(schemaAt: DocumentNode, scope: InputScope, schema: unknown, isJson: boolean): Example {
  if (schema !== null) return scope.examples.of(schema);
  if (schemaAt.value !== undefined) return { reason: `it ${UNREAD}` };
  return isJson ? scope.examples.of(null) : { value: 'conform', isMade: true };
}

/** The members of a form that are files, with the type that their schema names. */
function filesIn(
  schemaAt: DocumentNode,
  { files }: InputScope,
): Readonly<Record<string, Pick<MemberEncoding, 'contentType'>>> {
  if (schemaAt.value === undefined) return {};
  const fileIn = (at: DocumentNode): Pick<MemberEncoding, 'contentType'> | null => {
    const { value: items } = child(at, 'items');
    if (items !== undefined) return fileIn(files.dereferenced(child(at, 'items')));
    const { value: type } = child(at, 'contentMediaType');
    if (typeof type === 'string' && sampleFile(type) !== null) return { contentType: type };
    return type !== undefined || child(at, 'format').value === 'binary' ? {} : null;
  };
  const properties = files.dereferenced(child(files.dereferenced(schemaAt), 'properties'));
  const found = children(properties).map(([name, at]) => [name, fileIn(files.dereferenced(at))] as const);
  return Object.fromEntries(found.flatMap(([name, file]) => (file === null ? [] : [[name, file] as const])));
}
