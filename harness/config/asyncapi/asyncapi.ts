import { resolve } from 'node:path';
import { UsageError } from '../../base/exit.ts';
import type { FieldLine } from '../../wire/exchange.ts';
import type { CredentialsBlock } from '../credential/schemes.ts';
import { SourceFiles } from '../document/files.ts';
import { Remarks } from '../document/remarks.ts';
import { child, faultAt } from '../document/source.ts';
import type { Draft } from '../draft/draft.ts';
import { readOverlays } from '../draft/overlay-files.ts';
import { basePathOf, type ProviderConfig } from '../provider/provider.ts';
import type { ReadFault } from '../yaml/read-text.ts';
import { Addresses, type AsyncApiOptions, UNKNOWN_ADDRESS } from './addresses.ts';
import type { DocumentedMessages, UnservedChannel } from './documented-messages.ts';
import { endpointOf } from './endpoints.ts';
import { MessageReader } from './messages.ts';
import { type FoundChannel, type FoundServer, Outline, serversOf, versionOf } from './outline.ts';
import { keyPlaceOf, schemesOf } from './security.ts';

/** Whether a text is an AsyncAPI document, whatever its faults. */
export function isAsyncApi(text: string): boolean {
  return /^\s*\{?\s*["']?asyncapi["']?\s*:/m.test(text.slice(0, 100_000));
}

/** Reads only the parts that a client of a WebSocket needs; the rest is for linters. @throws UsageError at its place. */
export async function readAsyncApi(
  path: string,
  options: AsyncApiOptions,
): Promise<DocumentedMessages | { readonly fault: ReadFault }> {
  const files = await SourceFiles.open(path, options.shown, options.overlays);
  if ('fault' in files) return files;
  const version = versionOf(files.root);
  const remarks = new Remarks();
  for (const remark of files.remarks) remarks.add(remark);
  const servers = serversOf(files, version, remarks);
  const outline = new Outline(files, version, remarks, options.isClient ?? false);
  if (outline.operations.length === 0) {
    const at = child(files.root, version === 2 ? 'channels' : 'operations');
    const problem = 'describes no operation that can be read';
    throw faultAt(
      at.value === undefined ? files.root : at,
      problem,
      'describe the messages that are sent and received',
    );
  }
  const speaking = speakersOf(servers);
  const [first] = speaking;
  const demands = first && remarks.attempt(() => schemesOf(first.at, files, version), 'it is not looked at');
  const keyPlace =
    demands === undefined || demands instanceof UsageError
      ? null
      : keyPlaceOf(demands, first?.at ?? files.root, options.configured, remarks);
  const addresses = new Addresses(files, { servers, speaking, remarks, keyPlace }, options);
  const reader = new MessageReader(files, remarks);
  const elsewhere: UnservedChannel[] = [];
  const open: FoundChannel[] = [];
  const byTarget = new Map<string, { readonly channels: FoundChannel[]; readonly fields: FieldLine[] }>();
  for (const channel of outline.channels) {
    const address = addresses.of(channel);
    if ('unfit' in address) {
      const { unfit: reason, isOpen = false } = address;
      remarks.at(channel.at, reason, 'nothing is sent there');
      if (isOpen) open.push(channel);
      else elsewhere.push({ reason, isOpen, ...endpointOf([channel], outline, reader) });
      continue;
    }
    const known = byTarget.get(address.target) ?? { channels: [], fields: [] };
    byTarget.set(address.target, known);
    known.channels.push(channel);
    known.fields.push(...address.fields);
  }
  // The config may say the address that they have together.
  if (open.length > 0)
    elsewhere.push({ reason: UNKNOWN_ADDRESS, isOpen: true, ...endpointOf(open, outline, reader) });
  const endpoints = [...byTarget].map(([target, { channels, fields }]) => ({
    ...{ target, fields },
    ...endpointOf(channels, outline, reader),
  }));
  const title = child(child(files.root, 'info'), 'title').value;
  return {
    title: typeof title === 'string' ? title : null,
    server: first?.url ? `${first.url.protocol}//${first.url.host}` : null,
    endpoints: endpoints.filter(({ operations }) => operations.length > 0),
    elsewhere: elsewhere.filter(({ operations }) => operations.length > 0),
    ...{ definitions: reader.definitions, remarks: remarks.all, keyPlace },
  };
}

/** Those of a WebSocket; of a document that names none, those of HTTP, which a handshake begins with. */
function speakersOf(servers: readonly FoundServer[]): readonly FoundServer[] {
  const speaking = (protocols: RegExp) => servers.filter(({ protocol }) => protocols.test(protocol));
  const sockets = speaking(/^wss?$/);
  return sockets.length > 0 ? sockets : speaking(/^https?$/);
}

interface MessageBlocks {
  readonly asyncapi?: string;
  readonly openapi?: string;
  /** Of this document, if there is no OpenAPI document. */
  readonly overlays?: readonly string[];
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly credentials: CredentialsBlock | undefined;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly websocket?: { readonly application?: 'service' | 'client' };
}

/** What the AsyncAPI document of the config says; null without one. @throws UsageError */
export async function buildMessages(
  draft: Draft,
  { asyncapi, openapi, overlays = [], parameters, credentials, headers = {}, websocket }: MessageBlocks,
  provider: ProviderConfig,
): Promise<DocumentedMessages | null> {
  if (asyncapi === undefined) return null;
  const read = await readAsyncApi(resolve(draft.scope.folder, asyncapi), {
    shown: draft.shownBeside('asyncapi', asyncapi),
    configured: { ...credentials, headers: Object.keys(headers).map((name) => name.toLowerCase()) },
    basePath: basePathOf(provider),
    overlays: openapi === undefined ? await readOverlays(draft, overlays) : [],
    isClient: websocket?.application === 'client',
    ...(parameters && { parameters }),
  });
  if (!('fault' in read)) return read;
  throw draft.fileFault('asyncapi', `the document ${asyncapi}`, read.fault);
}
