import { dirname, join, resolve } from 'node:path';
import { SchemaBook } from '../../evidence/json/schema.ts';
import type { Draft } from '../draft.ts';
import { type DocumentedOperation, type OpenApiDocument, readOpenApi } from '../openapi/openapi.ts';
import type { Operation, ProviderConfig, ServiceConfig } from '../service.ts';
import { operationOf } from './assemble.ts';
import { pathValues } from './template.ts';
import { readWritten, type WrittenOperation } from './written.ts';

/**
 * The operations of the config, then those of the OpenAPI document that the config does not name. Where both name
 * one, by its id or by a method and path that fit, the config's word goes and the document adds what it leaves out.
 *
 * @throws UsageError for what cannot be sent or understood, at its place in either file.
 */
export async function buildOperations(
  draft: Draft,
  provider: ProviderConfig,
): Promise<Pick<ServiceConfig, 'operations'> & Required<Pick<ServiceConfig, 'definitions'>>> {
  const document = await readDocument(draft, provider);
  const written = await readWritten(draft);
  const left = new Set(document?.operations);
  const scope = document?.requests ?? { definitions: {}, book: new SchemaBook() };
  const operations: Operation[] = [];
  for (const each of written) {
    const documented = documentedFor(each, left);
    if (documented !== undefined) left.delete(documented);
    operations.push(operationOf(each, documented, scope));
  }
  for (const documented of left) {
    // Its id may be that of an operation of the config with another path.
    const taken = operations.some(({ id }) => id === documented.id);
    const id = taken ? `${documented.method} ${documented.template}` : documented.id;
    const operation = operationOf(null, { ...documented, id }, scope);
    rememberOrigins(draft, operations.length, documented, operation);
    operations.push(operation);
  }
  return { operations, definitions: document?.responseDefinitions ?? {} };
}

async function readDocument(draft: Draft, provider: ProviderConfig): Promise<OpenApiDocument | null> {
  const { openapi, credentials } = draft.blocks;
  if (openapi === undefined || openapi === null) return null;
  const read = await readOpenApi(resolve(draft.scope.folder, openapi), {
    shown: shownBeside(draft, openapi),
    configured: credentials,
    basePath: basePathOf(provider),
  });
  if (!('fault' in read)) return read;
  const { problem, remedy } = read.fault;
  throw draft.faultAt(
    'openapi',
    `the document ${openapi}: ${problem}`,
    `${remedy}; it is relative to this file`,
  );
}

/** The document as a person would name it who has named the service file. */
function shownBeside({ origins, scope }: Draft, path: string): string {
  const origin = origins.get('openapi');
  return origin?.kind === 'file' ? join(dirname(origin.place.file), path) : resolve(scope.folder, path);
}

function basePathOf(provider: ProviderConfig): string {
  if ('path' in provider) return provider.path;
  // A port that is not known yet does not change the path.
  return 'url' in provider ? (URL.parse(provider.url.replace('$' + '{PORT}', '1'))?.pathname ?? '') : '';
}

function documentedFor(
  written: WrittenOperation,
  documented: ReadonlySet<DocumentedOperation>,
): DocumentedOperation | undefined {
  const candidates = [...documented];
  const { block, path } = written;
  const named = candidates.find(({ id, method }) => id === block.id && method === block.method);
  if (named !== undefined) return named;
  const [plain = ''] = path.split('?', 1);
  return (
    candidates
      .filter(({ method, template }) => method === block.method && pathValues(template, plain) !== null)
      // A path in so many words comes before one with parameters.
      .sort((a, b) => a.template.split('{').length - b.template.split('{').length)[0]
  );
}

/** What the effective config prints of an operation, but for its fields. */
const PRINTED = [
  'id',
  'method',
  'path',
  'auth',
  'body.text',
  'body.type',
  'response.status',
  'response.schema',
] as const;

function rememberOrigins(
  { origins }: Draft,
  index: number,
  { at }: DocumentedOperation,
  { fields }: Operation,
): void {
  const origin = {
    kind: 'file',
    place: at.file.placeOf(at.pointer),
    environment: null,
    reference: null,
  } as const;
  origins.set(`operations.${index}`, origin);
  for (const key of [...PRINTED, ...fields.map(([name]) => `fields.${name}`)]) {
    origins.set(`operations.${index}.${key}`, origin);
  }
}
