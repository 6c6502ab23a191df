import { UsageError } from '../../../base/exit.ts';
import { schemeNamed } from '../../credential/schemes.ts';
import type { SourceFiles } from '../../document/files.ts';
import type { Remarks } from '../../document/remarks.ts';
import { child, children, type DocumentNode, faultAt } from '../../document/source.ts';
import { type CallBody, type Input, type InputForm, isFormType, textOf } from '../call/call.ts';
import type { Example, Examples } from '../call/example.ts';
import type { OpenApiSchemas } from './schemas.ts';
import type { Configured } from './security.ts';
import { firstFitting, fittingExamples, readingsOfText, shownInParameter } from './shown-values.ts';

/** Something that a call takes, and why it has no value where it has none. */
export interface DocumentedInput extends Input {
  readonly lacks: string | null;
  /** It names something that the service has, so that only an answer can have its value. */
  readonly findable: boolean;
}

export interface DocumentedBody extends CallBody {
  readonly lacks: string | null;
}

export interface InputScope {
  readonly files: SourceFiles;
  readonly schemas: OpenApiSchemas;
  readonly examples: Examples;
  readonly configured: Configured | undefined;
  readonly remarks: Remarks;
}

/** Fields that OpenAPI 3.1 §4.8.12.1 has parameters not describe. */
const DESCRIBED_ELSEWHERE: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization']);

/** The parameters of an operation over those of its path, the credential and what goes with every request left out. */
export function readInputs(holders: readonly DocumentNode[], scope: InputScope): readonly DocumentedInput[] {
  const found = new Map<string, DocumentedInput>();
  for (const parent of holders) {
    const own = new Map<string, DocumentedInput>();
    for (const [, at] of children(child(parent, 'parameters'))) {
      const parameter = scope.files.dereferenced(at);
      const input = readInput(parameter, scope);
      if (isCredential(input, scope)) continue;
      const key = `${input.in} ${input.in === 'header' ? input.name.toLowerCase() : input.name}`;
      const earlier = own.get(key);
      if (earlier === undefined) own.set(key, input);
      else {
        scope.remarks.at(child(parameter, 'name'), 'is described twice', 'both descriptions count');
        own.set(key, bothOf(earlier, input));
      }
    }
    for (const [key, input] of own) found.set(key, input);
  }
  return [...found.values()];
}

/** Two descriptions of one parameter: header names are the same in any letter case. */
function bothOf(first: DocumentedInput, second: DocumentedInput): DocumentedInput {
  const [demanding, other] = second.required && !first.required ? [second, first] : [first, second];
  return demanding.lacks === null || other.value === undefined ? demanding : { ...other, required: true };
}

function isCredential({ name, in: place }: Input, { configured }: InputScope): boolean {
  if (place === 'header' && DESCRIBED_ELSEWHERE.has(name.toLowerCase())) return true;
  const { scheme = '', name: own, headers = [] } = configured ?? {};
  if (place === 'header' && headers.includes(name.toLowerCase())) return true;
  if (own?.toLowerCase() !== name.toLowerCase()) return false;
  const key = { type: 'apiKey', scheme: '', in: place, name: own, tokenUrl: '', openIdConnectUrl: '' };
  return schemeNamed(scheme)?.opens(key, key) ?? false;
}

function readInput(at: DocumentNode, scope: InputScope): DocumentedInput {
  const name = child(at, 'name').value;
  const given = child(at, 'in').value;
  // OpenAPI 3.2: all of the query, which has the form of its media type.
  const isWholeQuery = given === 'querystring';
  const place = isWholeQuery ? 'query' : given;
  if (typeof name !== 'string' || name === '')
    throw faultAt(at, 'is a parameter without a name', 'add `name`');
  if (!isPlace(place))
    throw faultAt(at, 'is a parameter of no known place', 'write `in: path, query, header or cookie`');
  const [contentType, content] = contentsOf(at, scope.files)[0] ?? [];
  const schemaAt = child(content ?? at, 'schema');
  const schema = schemaOf(schemaAt, scope, `the parameter ${JSON.stringify(name)} is held to no schema`);
  const required = place === 'path' || child(at, 'required').value === true;
  const wholeForm = isFormType(contentType ?? '') ? 'repeated' : null;
  const ownForm = content === undefined ? formOf(at, place) : 'json';
  const form = isWholeQuery ? wholeForm : ownForm;
  const isReserved = place === 'query' && child(at, 'allowReserved').value === true;
  const reserved = isReserved ? ({ reserved: true } as const) : {};
  const holders = content === undefined ? [at] : [content, at];
  const named = fittingExamples(holders, scope, schema, { readingsOf: readingsOfText });
  const examples = named.examples?.filter(({ value }) => whyNotSent(place, value) === null);
  const base = {
    name,
    in: place,
    required,
    schema,
    form: form ?? 'comma',
    ...reserved,
    ...(examples && { examples }),
  };
  const without = (lacks: string | null, findable = false): DocumentedInput => ({
    ...base,
    value: undefined,
    lacks,
    findable,
  });
  const lacking = (why: string, findable = false) =>
    without(`the required ${place} parameter ${JSON.stringify(name)} ${why}`, findable);

  if (!required) return without(null);
  if (form === null) return lacking('is written in a style that is not spoken here');
  const candidates = shownInParameter(holders, schemaAt, scope).filter((shown) => isExact(shown, scope));
  const shownAt = firstFitting(candidates, scope, schema, readingsOfText);
  const shown = shownAt?.value;
  const isListed = shownAt?.pointer.at(-1) === 'const' || shownAt?.pointer.at(-2) === 'enum';
  const isExample = place === 'path' && shownAt !== undefined && !isListed;
  // Made-up identifiers name nothing: the answer would rightly be 404.
  if (shown === undefined && (place === 'path' || isIdentifier(name)))
    return lacking('has no example, default or enumerated value', true);
  if (shown === undefined && schema === null && schemaAt.value !== undefined) return lacking(UNREAD);
  const example: Example = shown === undefined ? scope.examples.of(schema) : { value: shown };
  if ('reason' in example) return lacking(`has no example: ${example.reason}`);
  const misfit = whyNotSent(place, example.value);
  if (misfit !== null) return lacking(misfit, place === 'path');
  return {
    ...base,
    value: example.value,
    lacks: null,
    findable: false,
    ...(isExample && { from: 'example' }),
    ...(example.isMade && { from: 'made' }),
  };
}

/** A number of JSON is a double here: of a longer integer the last digits are lost, and another one would be sent. */
function isExact(shown: DocumentNode, { remarks }: InputScope): boolean {
  if (!Number.isInteger(shown.value) || Number.isSafeInteger(shown.value)) return true;
  remarks.at(shown, 'is an integer beyond 2^53, of which the last digits are lost', 'it is not sent');
  return false;
}

/** `account_id`, `accountId`, `AccountSid` */
function isIdentifier(name: string): boolean {
  return /(?:^|_|-)(?:id|uuid|guid|sid)$|[a-z](?:Id|ID|Uuid|UUID|Guid|Sid)$/.test(name);
}

export const UNREAD = 'has a schema that cannot be read';

/** null if there is none, or none that can be read. `effect`: what that means. */
export function schemaOf(
  at: DocumentNode,
  { schemas, remarks }: Pick<InputScope, 'schemas' | 'remarks'>,
  effect: string,
): { readonly $ref: string } | null {
  if (at.value === undefined) return null;
  const schema = remarks.attempt(() => schemas.take(at), effect);
  return schema instanceof UsageError ? null : schema;
}

/** A path segment of dots means another path; a field value holds no control characters (RFC 9110 §5.5). */
function whyNotSent(place: Input['in'], value: unknown): string | null {
  const text = textOf(value, ',');
  if (place === 'path' && ['', '.', '..'].includes(text)) return 'has an example that is no path segment';
  return place === 'header' && !/^[\x20-\x7e]+$/.test(text) ? 'has an example that no field can carry' : null;
}

/** The form of a parameter's style (OpenAPI 3.1 §4.8.12.2.1.1); null for those that are not spoken here. */
export function formOf(at: DocumentNode, place: Input['in']): InputForm | null {
  const { value: given } = child(at, 'style');
  const style = typeof given === 'string' ? given : DEFAULT_STYLE[place];
  const { value: exploding } = child(at, 'explode');
  const explode = typeof exploding === 'boolean' ? exploding : style === 'form';
  const forms: Readonly<Record<string, InputForm | null>> = {
    simple: place === 'path' || place === 'header' ? (explode && place === 'path' ? 'pairs' : 'comma') : null,
    label: place !== 'path' ? null : explode ? 'label-exploded' : 'label',
    matrix: place !== 'path' ? null : explode ? 'matrix-exploded' : 'matrix',
    tabDelimited: 'tab',
    form: explode && place === 'query' ? 'repeated' : 'comma',
    spaceDelimited: explode ? 'repeated' : 'space',
    pipeDelimited: explode ? 'repeated' : 'pipe',
    deepObject: 'deep-object',
  };
  return Object.hasOwn(forms, style) ? (forms[style] ?? null) : null;
}

const DEFAULT_STYLE = { path: 'simple', query: 'form', header: 'simple', cookie: 'form' } as const;

function isPlace(value: unknown): value is Input['in'] {
  return typeof value === 'string' && Object.hasOwn(DEFAULT_STYLE, value);
}

export function contentsOf(at: DocumentNode, files: SourceFiles): ReturnType<typeof children> {
  const contents = children(child(at, 'content'));
  return contents.map(([type, content]) => [type, files.dereferenced(content)] as const);
}
