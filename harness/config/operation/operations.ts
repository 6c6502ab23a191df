import { resolve } from 'node:path';
import type { CredentialsBlock } from '../credential/schemes.ts';
import type { Draft } from '../draft/draft.ts';
import type { ProviderConfig } from '../provider/provider.ts';
import type { Loaded } from '../shape/kinds.ts';
import { operationOf } from './assemble.ts';
import { pathValues } from './call/call.ts';
import type { Operation } from './call/operation.ts';
import { type DocumentedOperation, type OpenApiDocument, readOpenApi } from './openapi/openapi.ts';
import { type OPERATIONS, readWritten, type WrittenOperation } from './written.ts';

interface Written {
  readonly operations?: Loaded<typeof OPERATIONS>;
  readonly openapi?: string;
  readonly credentials: CredentialsBlock | undefined;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly tls?: { readonly cert?: string };
}

export interface Operations {
  readonly operations: readonly Operation[];
  readonly definitions: Readonly<Record<string, unknown>>;
}

/**
 * The operations of the config, then those of the OpenAPI document that the config does not name. Where both name
 * one, by its id or by a method and path that fit, the config's word goes and the document adds what it leaves out.
 *
 * @throws UsageError for what cannot be sent or understood, at its place in either file.
 */
export async function buildOperations(
  draft: Draft,
  written: Written,
  provider: ProviderConfig,
): Promise<Operations> {
  const own = await readWritten(draft, written.operations ?? []);
  const document = await readDocument(draft, written, provider);
  const left = new Set(document?.operations);
  const operations: Operation[] = [];
  for (const each of own) {
    const documented = documentedFor(each, left);
    if (documented !== undefined) left.delete(documented);
    operations.push(operationOf(each, documented));
  }
  // The id of one may be that of an operation of the config with another path.
  const taken = new Set(operations.map(({ id }) => id));
  for (const documented of left) {
    const id = taken.has(documented.id) ? `${documented.method} ${documented.template}` : documented.id;
    taken.add(id);
    operations.push(operationOf(null, { ...documented, id }));
  }
  return { operations, definitions: document?.definitions ?? {} };
}

async function readDocument(
  draft: Draft,
  { openapi, credentials, headers = {}, tls }: Written,
  provider: ProviderConfig,
): Promise<OpenApiDocument | null> {
  if (openapi === undefined) return null;
  const read = await readOpenApi(resolve(draft.scope.folder, openapi), {
    shown: draft.shownBeside('openapi', openapi),
    configured: {
      ...credentials,
      headers: Object.keys(headers).map((name) => name.toLowerCase()),
      certificate: tls?.cert !== undefined,
    },
    basePath: basePathOf(provider),
  });
  if (!('fault' in read)) return read;
  throw draft.fileFault('openapi', `the document ${openapi}`, read.fault);
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
