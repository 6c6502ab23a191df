import { isToken } from '../../../wire/fields/grammar/field-grammar.ts';
import { type At, child, children, faultAt } from '../../document/at.ts';
import type { SourceFiles } from '../../document/files.ts';
import { asOperation } from './swagger.ts';
import { type Version, versionOf } from './version.ts';

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace'] as const;
const MAX_OPERATIONS = 10_000;

export interface FoundOperation {
  readonly pathItem: At;
  readonly operation: At;
  readonly method: string;
  /** The path as the document writes it. */
  readonly path: string;
}

export function operationsOf(files: SourceFiles): readonly FoundOperation[] {
  const version = versionOf(files.root);
  const paths = child(files.root, 'paths');
  const found: FoundOperation[] = [];
  for (const [path, at] of children(paths)) {
    if (path.startsWith('x-')) continue;
    if (!path.startsWith('/'))
      throw faultAt(at, `the path ${path} does not begin with /`, 'write it with a slash');
    const pathItem = files.dereferenced(at);
    for (const [method, given] of methodsOf(pathItem, version)) {
      // OpenAPI has no references here; documents that are kept in many files use them all the same.
      const operation = files.dereferenced(given);
      found.push(
        version === '2.0'
          ? {
              pathItem: { ...pathItem, value: {} },
              operation: asOperation(files, pathItem, operation),
              method,
              path,
            }
          : { pathItem, operation, method, path },
      );
    }
  }
  if (found.length === 0) {
    throw faultAt(paths.value === undefined ? files.root : paths, 'describes no operation', 'add `paths`');
  }
  if (found.length > MAX_OPERATIONS) {
    throw faultAt(
      paths,
      `describes ${found.length} operations, more than ${MAX_OPERATIONS}`,
      'split the document',
    );
  }
  return found;
}

/** The methods that a path is described for; of those with a name of their own, what they name (OpenAPI 3.2). */
function methodsOf(pathItem: At, version: Version): readonly (readonly [method: string, operation: At])[] {
  const methods = version === '3.2' ? [...METHODS, 'query'] : METHODS;
  const fixed = methods.map((name) => [name.toUpperCase(), child(pathItem, name)] as const);
  const further = version === '3.2' ? children(child(pathItem, 'additionalOperations')) : [];
  for (const [method, at] of further) {
    if (!isToken(method)) throw faultAt(at, 'is no method', 'name it by letters, such as LINK');
  }
  return [...fixed, ...further].filter(([, { value }]) => value !== undefined);
}
