import { resolve } from 'node:path';
import type { CredentialsBlock } from '../credential/schemes.ts';
import type { Draft } from '../draft/draft.ts';
import { basePathOf, type ProviderConfig } from '../provider/provider.ts';
import { readAsyncApi } from './asyncapi.ts';
import type { DocumentedMessages } from './documented-messages.ts';

interface MessageBlocks {
  readonly asyncapi?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly credentials: CredentialsBlock | undefined;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly websocket?: { readonly application?: 'service' | 'client' };
}

/** What the AsyncAPI document of the config says; null without one. @throws UsageError */
export async function buildMessages(
  draft: Draft,
  { asyncapi, parameters, credentials, headers = {}, websocket }: MessageBlocks,
  provider: ProviderConfig,
): Promise<DocumentedMessages | null> {
  if (asyncapi === undefined) return null;
  const read = await readAsyncApi(resolve(draft.scope.folder, asyncapi), {
    shown: draft.shownBeside('asyncapi', asyncapi),
    configured: { ...credentials, headers: Object.keys(headers).map((name) => name.toLowerCase()) },
    basePath: basePathOf(provider),
    isClient: websocket?.application === 'client',
    ...(parameters && { parameters }),
  });
  if (!('fault' in read)) return read;
  throw draft.fileFault('asyncapi', `the document ${asyncapi}`, read.fault);
}
