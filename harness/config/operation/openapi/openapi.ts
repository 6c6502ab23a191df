import type { CredentialsBlock } from '../../../credential/schemes.ts';
import type { Definitions } from '../../../evidence/json/schema.ts';
import { Examples } from '../../call/example.ts';
import type { ExpectedResponse } from '../../call/operation.ts';
import { type At, child, children, faultAt } from '../../document/at.ts';
import { SourceFiles } from '../../document/files.ts';
import type { ReadFault } from '../../yaml/read-text.ts';
import { type DocumentedBody, type DocumentedInput, readBody, readInputs } from './inputs.ts';
import { readResponses } from './responses.ts';
import { OpenApiSchemas } from './schemas.ts';
import { type Demand, OpenApiSecurity } from './security.ts';
import { addressOf } from './servers.ts';

/** An operation as a document describes it, before the config has its say. */
export interface DocumentedOperation {
  readonly id: string;
  readonly method: string;
  /** Path below the provider's base address, with `{name}` for each path parameter. */
  readonly template: string;
  readonly inputs: readonly DocumentedInput[];
  readonly body: DocumentedBody | null;
  readonly responses: readonly ExpectedResponse[];
  readonly demand: Demand;
  /** Why it cannot be called whatever the config adds; null when nothing stands against it. */
  readonly unfit: string | null;
  readonly at: At;
}

export interface OpenApiDocument {
  readonly operations: readonly DocumentedOperation[];
  /** Schemas of what is sent and answered, by the URI with which the operations refer to them. */
  readonly definitions: Definitions;
}

export interface OpenApiOptions {
  /** The path as messages name it. */
  readonly shown: string;
  readonly configured: Pick<CredentialsBlock, 'scheme' | 'name'> | undefined;
  /** Path of the provider's base address: '' or `/api`. */
  readonly basePath: string;
}

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace'] as const;
const MAX_OPERATIONS = 10_000;

/**
 * The operations of an OpenAPI 3.0 or 3.1 document. Only what calls need is read: whether the document is right in
 * everything else is for a linter to say, and a fault in its prose is no fault of the service.
 *
 * @throws UsageError at the place in the document for what cannot be understood.
 */
export async function readOpenApi(
  path: string,
  options: OpenApiOptions,
): Promise<OpenApiDocument | { readonly fault: ReadFault }> {
  const files = await SourceFiles.open(path, options.shown);
  if ('fault' in files) return files;
  const is30 = versionOf(files.root) === '3.0';
  const requests = new OpenApiSchemas(files, 'request', is30);
  const responses = new OpenApiSchemas(files, 'response', is30);
  const found = operationsOf(files);
  const security = new OpenApiSecurity(
    files,
    options.configured,
    found.map(({ operation }) => operation),
  );
  const examples = new Examples(requests.definitions, requests.book);
  const scope = { files, schemas: requests, examples, configured: options.configured };
  const ids = new Set<string>();
  const operations = found.map(({ pathItem, operation, method, path: written }): DocumentedOperation => {
    const { prefix, elsewhere } = addressOf(files.root, pathItem, operation, options.basePath);
    return {
      id: ownId(operation, `${method} ${written}`, ids),
      method,
      template: prefix + written.replaceAll(/[^\x21-\x7e]/g, encodeURIComponent),
      inputs: readInputs(pathItem, operation, scope),
      body: readBody(operation, method, scope),
      responses: readResponses(operation, method, files, responses),
      demand: security.demandOf(operation),
      unfit: method === 'TRACE' ? 'TRACE is not sent' : elsewhere,
      at: operation,
    };
  });
  return { operations, definitions: { ...requests.definitions, ...responses.definitions } };
}

export function versionOf(root: At): '3.0' | '3.1' {
  const swagger = child(root, 'swagger');
  if (swagger.value !== undefined) {
    throw faultAt(swagger, `is a Swagger ${String(swagger.value)} document`, 'convert it to OpenAPI 3');
  }
  const { value } = child(root, 'openapi');
  if (value === undefined)
    throw faultAt(root, 'is no OpenAPI document', 'name a document with `openapi: 3.0.x` or 3.1.x');
  const [, version] = /^(3\.[01])(?:\.|$)/.exec(String(value)) ?? [];
  if (version === '3.0' || version === '3.1') return version;
  throw faultAt(
    child(root, 'openapi'),
    `version ${String(value)} is not read`,
    'write it in OpenAPI 3.0 or 3.1',
  );
}

export interface FoundOperation {
  readonly pathItem: At;
  readonly operation: At;
  readonly method: string;
  /** The path as the document writes it. */
  readonly path: string;
}

export function operationsOf(files: SourceFiles): readonly FoundOperation[] {
  const paths = child(files.root, 'paths');
  const found: FoundOperation[] = [];
  for (const [path, at] of children(paths)) {
    if (path.startsWith('x-')) continue;
    if (!path.startsWith('/'))
      throw faultAt(at, `the path ${path} does not begin with /`, 'write it with a slash');
    const pathItem = files.dereferenced(at);
    for (const name of METHODS) {
      const given = child(pathItem, name);
      if (given.value === undefined) continue;
      // OpenAPI has no references here; documents that are kept in many files use them all the same.
      found.push({ pathItem, operation: files.dereferenced(given), method: name.toUpperCase(), path });
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

/** The operationId, or method and path where it has none or an earlier one has the same. */
function ownId(operation: At, fallback: string, taken: Set<string>): string {
  const { value } = child(operation, 'operationId');
  const id = typeof value === 'string' && value !== '' && !taken.has(value) ? value : fallback;
  taken.add(id);
  return id;
}
