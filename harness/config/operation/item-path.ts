import { isJsonObject } from '../../base/json-text.ts';
import { type Operation, withoutEndSlash } from './call/call.ts';

/**
 * The path of the items that a POST creates elsewhere: `/repos/{owner}/{repo}` for `POST /user/repos`. Both end with the same
 * noun, and a read has the schema of the creation. null if none is documented for certain.
 */
export function itemPathElsewhere(create: Operation, operations: readonly Operation[]): string | null {
  const path = pathOf(create);
  const noun = nounOf(path);
  const { status, schema } = create.response;
  // RFC 9110 §15.3.2: a 201 names what it has created by Location.
  if (create.method !== 'POST' || status !== 201 || !isJsonObject(schema) || noun !== path.split('/').at(-1))
    return null;
  if (operations.some((operation) => pathOf(operation).startsWith(`${path}/{`))) return null;
  const written = JSON.stringify(schema);
  const [read, ...others] = operations.filter((operation) => {
    const item = pathOf(operation);
    return (
      operation.method === 'GET' &&
      item.endsWith('}') &&
      nounOf(item) === noun &&
      !path.startsWith(`${item}/`) &&
      alternativesOf(operation.response.schema).some((each) => JSON.stringify(each) === written)
    );
  });
  return read === undefined || others.length > 0 ? null : pathOf(read);
}

/** A read may be documented for items of several kinds. */
function alternativesOf(schema: unknown): readonly unknown[] {
  if (!isJsonObject(schema)) return [];
  return [schema, ...[schema.oneOf, schema.anyOf].flatMap((each) => (Array.isArray(each) ? each : []))];
}

/** The last segment that is no parameter. */
function nounOf(path: string): string {
  return path.split('/').findLast((segment) => !segment.includes('{')) ?? '';
}

function pathOf({ call }: Operation): string {
  return withoutEndSlash(call.template.split('?', 1)[0] ?? '');
}
