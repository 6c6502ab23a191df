import { type At, child, children } from '../../document/at.ts';
import type { SourceFiles } from '../../document/files.ts';
import { isJsonType } from '../call/call.ts';
import type { ExpectedResponse } from '../call/operation.ts';
import { contentsOf } from './inputs.ts';
import type { OpenApiSchemas } from './schemas.ts';

/** What a range such as `2XX`, or `default`, stands for (IANA registry of status codes). */
const SUCCESSES = [200, 201, 202, 203, 204, 205, 206, 207, 208, 226] as const;

/**
 * The responses that are documented as success: those of 2xx, else redirects, else `default`. Empty when the
 * operation documents none of them.
 */
export function readResponses(
  operation: At,
  method: string,
  files: SourceFiles,
  schemas: OpenApiSchemas,
): readonly ExpectedResponse[] {
  const given = children(child(operation, 'responses'));
  const expected = new Map<number, ExpectedResponse>();
  const add = (status: number, at: At) => {
    if (!expected.has(status))
      expected.set(status, readResponse(status, files.dereferenced(at), method, files, schemas));
  };
  const exact = (digit: string) =>
    given
      .filter(([code]) => new RegExp(`^${digit}\\d\\d$`).test(code))
      .sort(([a], [b]) => Number(a) - Number(b));
  for (const [code, at] of exact('2')) add(Number(code), at);
  for (const [code, at] of given) if (/^2xx$/i.test(code)) for (const status of SUCCESSES) add(status, at);
  if (expected.size === 0) for (const [code, at] of exact('3')) add(Number(code), at);
  if (expected.size === 0) {
    for (const [code, at] of given) if (code === 'default') for (const status of SUCCESSES) add(status, at);
  }
  return [...expected.values()];
}

function readResponse(
  status: number,
  at: At,
  method: string,
  files: SourceFiles,
  schemas: OpenApiSchemas,
): ExpectedResponse {
  const contents = method === 'HEAD' ? [] : contentsOf(at, files);
  // Generators write `*/*` for whatever the framework makes of it, which is mostly JSON.
  const json = [isJsonType, mayBeJson]
    .flatMap((isMeant) => contents.filter(([mediaType]) => isMeant(mediaType)))
    .map(([, content]) => child(content, 'schema'))
    .find((schema) => schema.value !== undefined);
  return {
    status,
    mediaTypes: [...new Set(contents.map(([mediaType]) => essenceOf(mediaType)))],
    schema: json === undefined ? null : schemas.take(json),
  };
}

/** A range that JSON is in. */
function mayBeJson(mediaType: string): boolean {
  return ['*/*', 'application/*'].includes(essenceOf(mediaType));
}

function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}
