import { UsageError } from '../../../base/exit.ts';
import { isStreamType } from '../../../wire/stream/stream.ts';
import { child, children, type DocumentNode } from '../../document/source.ts';
import { type AnswerHeader, type DocumentedAnswer, type ExpectedResponse, isJsonType } from '../call/call.ts';
import { contentsOf, formOf, type InputScope, schemaOf } from './inputs.ts';

type AnswerScope = Pick<InputScope, 'files' | 'schemas' | 'remarks'>;

/** The responses that a document describes for an operation, in its order; those to HEAD have no content. */
export function readAnswers(
  operation: DocumentNode,
  method: string,
  scope: AnswerScope,
): readonly DocumentedAnswer[] {
  return children(child(operation, 'responses'))
    .filter(([code]) => CODE.test(code))
    .map(([written, given]) => {
      const code = written === 'default' ? written : written.toUpperCase();
      const read = () => readAnswer(scope.files.dereferenced(given), method, scope);
      const answer = scope.remarks.attempt(read, 'only its status is judged');
      return { code, ...(answer instanceof UsageError ? { contents: [], headers: [] } : answer) };
    });
}

const CODE = /^(?:[1-5](?:\d\d|xx)|default)$/i;

function readAnswer(at: DocumentNode, method: string, scope: AnswerScope): Omit<DocumentedAnswer, 'code'> {
  const contents = method === 'HEAD' ? [] : contentsOf(at, scope.files);
  return {
    contents: contents.map(([mediaType, content]) => {
      const essence = essenceOf(mediaType);
      const itemSchema =
        isStreamType(essence) &&
        schemaOf(child(content, 'itemSchema'), scope, 'the items of the stream are not judged');
      return {
        mediaType: essence,
        schema:
          isJsonType(mediaType) || mayBeJson(essence)
            ? schemaOf(child(content, 'schema'), scope, 'the response body is not judged')
            : null,
        ...(itemSchema && { itemSchema }),
      };
    }),
    headers: headersOf(at, scope),
  };
}

/** Content-Type is described by the content (OpenAPI 3.1 §4.8.17). */
function headersOf(response: DocumentNode, scope: AnswerScope): readonly AnswerHeader[] {
  const headers = children(child(response, 'headers')).filter(([name]) => !/^content-type$/i.test(name));
  return headers.map(([name, given]) => {
    const at = scope.files.dereferenced(given);
    const [content] = contentsOf(at, scope.files);
    const schema = child(content?.[1] ?? at, 'schema');
    return {
      name,
      required: child(at, 'required').value === true,
      schema: schemaOf(schema, scope, `the header ${name} is held to no schema`),
      form: content === undefined ? (formOf(at, 'header') ?? 'comma') : 'json',
    };
  });
}

function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** What a range such as `2XX`, or `default`, stands for (IANA registry of status codes). */
const SUCCESSES = [200, 201, 202, 203, 204, 205, 206, 207, 208, 226] as const;

/** The documented successes: those of 2xx, else redirects, else `default`; empty for none. */
export function successesOf(answers: readonly DocumentedAnswer[]): readonly ExpectedResponse[] {
  const exact = (digit: string) =>
    answers
      .filter(({ code }) => code.startsWith(digit) && !code.endsWith('XX'))
      .sort((a, b) => Number(a.code) - Number(b.code))
      .map((answer) => expected(Number(answer.code), answer));
  const of = (wanted: string) => answers.filter(({ code }) => code === wanted).flatMap(ofEach);
  const own = exact('2');
  const all = [...own, ...of('2XX').filter(({ status }) => own.every((each) => each.status !== status))];
  if (all.length > 0) return all;
  const redirects = exact('3');
  return redirects.length > 0 ? redirects : of('default');
}

function ofEach(answer: DocumentedAnswer): readonly ExpectedResponse[] {
  return SUCCESSES.map((status) => expected(status, answer));
}

function expected(status: number, { contents }: DocumentedAnswer): ExpectedResponse {
  // Generators write `*/*` for whatever the framework makes of it, which is mostly JSON.
  const json = [isJsonType, mayBeJson]
    .flatMap((isMeant) => contents.filter(({ mediaType }) => isMeant(mediaType)))
    .find(({ schema }) => schema !== null);
  return {
    status,
    mediaTypes: [...new Set(contents.map(({ mediaType }) => mediaType))],
    schema: json?.schema ?? null,
  };
}

/** A range that JSON is in. */
function mayBeJson(mediaType: string): boolean {
  return ['*/*', 'application/*'].includes(mediaType);
}
