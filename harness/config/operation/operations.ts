import { resolve } from 'node:path';
import { UsageError } from '../../base/exit.ts';
import { isLoopback } from '../../base/loopback.ts';
import { SAFE_METHODS } from '../../wire/request.ts';
import { isStreamType } from '../../wire/stream/stream.ts';
import type { CredentialsBlock } from '../credential/schemes.ts';
import type { DocumentRemark } from '../document/source.ts';
import type { Draft } from '../draft/draft.ts';
import { readOverlays } from '../draft/overlay-files.ts';
import { basePathOf, type ProviderConfig } from '../provider/provider.ts';
import type { Loaded } from '../shape/loaded.ts';
import {
  answerFor,
  type Call,
  type ExpectedResponse,
  type Input,
  type Operation,
  pathValues,
  placeholdersOf,
  requestOfCall,
} from './call/call.ts';
import { isMeant, type LeftOutOperation, nothingMeant } from './choice.ts';
import { type EVENTS, termsOf } from './events.ts';
import { type PARAMETERS, withGivenValues } from './given-values.ts';
import { successesOf } from './openapi/answers.ts';
import { type FirstFacts, firstFacts } from './openapi/first-facts.ts';
import type { DocumentedBody, DocumentedInput } from './openapi/inputs.ts';
import { type DocumentedOperation, type OpenApiDocument, readOpenApi } from './openapi/openapi.ts';
import { type OPERATIONS, operationsBlock, readWritten, type WrittenOperation } from './written.ts';

/** An operation as the config writes it and as a document describes it; one of the two at least. */
interface Sources {
  readonly written?: WrittenOperation | undefined;
  readonly documented?: DocumentedOperation | undefined;
}

/** One operation of its sources; the config's word goes. */
function operationOf(sources: Sources): Operation {
  const { written, documented } = sources;
  const method = written?.block.method ?? documented?.method ?? 'GET';
  const { template, inputs, lacks, awaits } = addressed(sources);
  const body = bodyOf(sources);
  const responses = responsesOf(sources);
  const [response = NOTHING_DOCUMENTED, ...alternatives] = responses;
  // Who takes an endless answer as gladly gets one.
  const accepted = response.mediaTypes.filter(
    (type) => !type.includes('*') && (isStream(response) || !isStreamType(type)),
  );
  const hasAccept = inputs.some((input) => keyOf(input) === 'header accept');
  const call: Call = {
    method,
    template,
    inputs,
    fields: accepted.length === 0 || hasAccept ? [] : [['Accept', accepted.join(', ')]],
    body,
  };
  const unmet = unmetDemand(sources);
  const endless = whyEndless(response);
  const unread = documented?.unfit ?? lacks ?? body?.lacks ?? null;
  const obstacle =
    unread ?? unmet ?? endless ?? (responses.length === 0 ? 'no success is documented for it' : null);
  const missing = awaits[0]?.lacks ?? null;
  const uncallable = obstacle ?? missing;
  const isByDesign = uncallable === null || (endless !== null && uncallable === endless);
  return {
    id: written?.block.id ?? documented?.id ?? '',
    place: [written?.place, documented?.place].filter((place) => place !== undefined).join(', '),
    method,
    tags: documented?.tags ?? [],
    template:
      documented && usesTemplate(sources) ? documented.template + documented.fragment : pathOf(template),
    ...requestOfCall(call),
    response,
    alternatives,
    answers: answersOf(sources, responses),
    auth: authOf(sources),
    safe: SAFE_METHODS.has(method) || (written?.block.safe ?? false),
    call,
    uncallable,
    ...(!isByDesign && { uncallableBy: unread === null && unmet !== null ? 'config' : 'document' }),
    awaits: obstacle === null ? awaits.map(({ name }) => name) : [],
  };
}

const NOTHING_DOCUMENTED: ExpectedResponse = { status: 200, mediaTypes: [], schema: null };

/** It goes on for as long as the client listens, and has no items. */
const ENDLESS = 'multipart/x-mixed-replace';

function whyEndless({ mediaTypes }: ExpectedResponse): string | null {
  const isEndless = mediaTypes.length > 0 && mediaTypes.every((type) => type === ENDLESS);
  return isEndless ? `it answers with a stream (${ENDLESS})` : null;
}

function isStream({ mediaTypes }: ExpectedResponse): boolean {
  return mediaTypes.length > 0 && mediaTypes.every(isStreamType);
}

/** Streams have their terms, of which each needs to know how many there are. */
function withTerms(
  operations: readonly Operation[],
  written: OperationBlocks['events'],
): readonly Operation[] {
  const streams = operations.filter(({ response }) => isStream(response));
  const terms = termsOf(written, streams.length);
  return operations.map((each) => (streams.includes(each) ? { ...each, stream: terms } : each));
}

interface Addressed {
  readonly template: string;
  readonly inputs: readonly Input[];
  /** Why a value is missing that no answer can have; null when none is. */
  readonly lacks: string | null;
  /** The inputs whose value an answer may have. */
  readonly awaits: readonly DocumentedInput[];
}

/** Path and inputs, with the values that the config gives in its path, `query` and `fields`. */
function addressed(sources: Sources): Addressed {
  const { written, documented } = sources;
  const described: readonly DocumentedInput[] = documented?.inputs ?? [];
  const wholeTemplate = usesTemplate(sources);
  const [path = '', query] = written ? written.path.split('?', 2) : [documented?.template];
  const values = written && documented ? pathValues(documented.template, path) : null;
  const kept = wholeTemplate ? described : described.filter((input) => input.in !== 'path');
  const inputs = new Map<string, DocumentedInput>();
  for (const input of kept) {
    const value = input.in === 'path' ? values?.get(input.name) : undefined;
    inputs.set(keyOf(input), value === undefined ? input : { ...input, value, lacks: null, from: 'config' });
  }
  for (const input of written?.inputs ?? [])
    inputs.set(keyOf(input), overlaid(inputs.get(keyOf(input)), input));
  const verbatim: string[] = [];
  for (const piece of query?.split('&') ?? []) {
    const [[name, value] = ['', '']] = new URLSearchParams(piece);
    const known = inputs.get(`query ${name}`);
    if (known === undefined) verbatim.push(piece);
    else inputs.set(`query ${name}`, { ...known, value, lacks: null, from: 'config' });
  }
  const template = wholeTemplate && documented ? documented.template : path;
  const all = [...inputs.values()];
  const undescribed = placeholdersOf(template).find((name) => !inputs.has(`path ${name}`));
  return {
    template: verbatim.length === 0 ? template : `${template}?${verbatim.join('&')}`,
    inputs: all.map((input) => (isAwaited(input) && input.in !== 'path' ? awaited(input) : input)),
    awaits: all.filter(isAwaited),
    lacks:
      undescribed === undefined
        ? (all.find((input) => input.lacks !== null && !isAwaited(input))?.lacks ?? null)
        : `its path has {${undescribed}}, which no parameter describes`,
  };
}

function isAwaited({ lacks, findable }: DocumentedInput): boolean {
  return lacks !== null && findable;
}

/** Its place is kept by its name in braces, as it is in a path. */
function awaited(input: DocumentedInput): DocumentedInput {
  return { ...input, value: `{${input.name}}` };
}

function overlaid(under: DocumentedInput | undefined, { value, ...over }: Input): DocumentedInput {
  if (under === undefined) return { ...over, value, lacks: null, findable: false };
  const schema = over.schema ?? under.schema;
  const required = over.required || under.required;
  return value === undefined
    ? { ...under, schema, required }
    : { ...under, name: over.name, schema, required, value, lacks: null, from: 'config' };
}

/** Whether the path parameters of the document apply: not where the config has a path of its own. */
function usesTemplate({ written, documented }: Sources): boolean {
  if (!written || !documented) return !written;
  return pathValues(documented.template, pathOf(written.path)) !== null;
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? '';
}

/** Header fields are known by their name in any letter case, all else by the very name. */
function keyOf({ in: place, name }: Input): string {
  return `${place} ${place === 'header' ? name.toLowerCase() : name}`;
}

function bodyOf({ written, documented }: Sources): DocumentedBody | null {
  const described = documented?.body ?? null;
  if (!written?.body) return described;
  const { mediaType, value } = written.body;
  if (described === null) return { mediaType, value, required: false, schema: null, lacks: null };
  const schema = described.mediaType === mediaType ? described.schema : null;
  const { isMade: _, ...rest } = described;
  return { ...rest, mediaType, value, schema, lacks: null };
}

function responsesOf({ written, documented }: Sources): readonly ExpectedResponse[] {
  const described = successesOf(documented?.answers ?? []);
  if (!written) return described;
  const { status } = written.block.response ?? {};
  const base =
    (status === undefined ? described[0] : described.find((each) => each.status === status)) ??
    NOTHING_DOCUMENTED;
  const own: ExpectedResponse = {
    status: status ?? base.status,
    mediaTypes: written.mediaTypes ?? base.mediaTypes,
    schema: written.schema ?? base.schema,
  };
  return status === undefined ? [own, ...described.slice(1)] : [own];
}

/** The config's word about its response goes here too. */
function answersOf(
  { written, documented }: Sources,
  [own]: readonly ExpectedResponse[],
): Operation['answers'] {
  const described = documented?.answers ?? [];
  if (!written?.block.response || own === undefined || described.length === 0) return described;
  const { status, mediaTypes, schema } = own;
  const contents = mediaTypes.map((mediaType) => ({ mediaType, schema }));
  const code = `${status}`;
  const { headers = [], links } = answerFor(described, status) ?? {};
  return [
    { code, contents, headers, ...(links && { links }) },
    ...described.filter((each) => each.code !== code),
  ];
}

function authOf({ written, documented }: Sources): Operation['auth'] {
  const own = written?.block.auth;
  if (own !== undefined) return own ? 'required' : 'none';
  return documented?.demand.auth ?? 'required';
}

function unmetDemand({ written, documented }: Sources): string | null {
  const demand = documented?.demand;
  const own = written?.block.auth;
  return own === undefined && demand?.auth === 'required' ? demand.unmet : null;
}

interface OperationBlocks {
  readonly operations?: Loaded<typeof OPERATIONS>;
  readonly openapi?: string;
  readonly asyncapi?: string;
  readonly overlays?: readonly string[];
  readonly parameters?: Loaded<typeof PARAMETERS>;
  readonly events?: Loaded<typeof EVENTS> | null;
  readonly credentials: CredentialsBlock | undefined;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly tls?: { readonly cert?: string };
}

export interface Operations {
  readonly operations: readonly Operation[];
  /** Those that the config excludes. */
  readonly leftOut: readonly LeftOutOperation[];
  readonly definitions: Readonly<Record<string, unknown>>;
  /** Faults of the OpenAPI document. */
  readonly remarks: readonly DocumentRemark[];
  /** Names of the requests that the service sends, as the document describes them. */
  readonly webhooks: readonly string[];
}

/** Operations of the config, completed by the document, then the others of it. @throws UsageError. */
export async function buildOperations(
  draft: Draft,
  written: OperationBlocks,
  provider: ProviderConfig,
): Promise<Operations> {
  const block = operationsBlock(written.operations);
  const own = await readWritten(draft, block.calls, block.key);
  const document = await readDocument(draft, written, provider);
  const left = new Set(document?.operations.map((each) => withGivenValues(each, written.parameters)));
  const operations: Operation[] = [];
  for (const each of own) {
    const documented = documentedFor(each, left);
    if (documented !== undefined) left.delete(documented);
    operations.push(operationOf({ written: each, documented }));
  }
  // The id of one may be that of an operation of the config with another path.
  const taken = new Set(operations.map(({ id }) => id));
  for (const documented of left) {
    const id = taken.has(documented.id) ? `${documented.method} ${documented.template}` : documented.id;
    taken.add(id);
    operations.push(operationOf({ documented: { ...documented, id } }));
  }
  const { definitions = {}, remarks = [], webhooks = [] } = document ?? {};
  const all = withTerms(operations, written.events);
  return { ...withoutExcluded(draft, all, block.exclude), definitions, remarks, webhooks };
}

function withoutExcluded(
  draft: Draft,
  all: readonly Operation[],
  exclude: readonly { readonly match: string; readonly because: string }[],
): Pick<Operations, 'operations' | 'leftOut'> {
  for (const [index, { match }] of exclude.entries()) {
    if (all.some((each) => isMeant(each, match))) continue;
    const { problem, remedy = '' } = nothingMeant(match, all);
    draft.faults.add(draft.faultAt(`operations.exclude.${index}.match`, problem, remedy));
  }
  const reasonFor = (operation: Operation) => exclude.find(({ match }) => isMeant(operation, match))?.because;
  return {
    operations: all.filter((each) => reasonFor(each) === undefined),
    leftOut: all.flatMap((operation) => {
      const reason = reasonFor(operation);
      return reason === undefined ? [] : [{ operation, reason }];
    }),
  };
}

async function readDocument(
  draft: Draft,
  { openapi, asyncapi, overlays = [], credentials, headers = {}, tls }: OperationBlocks,
  provider: ProviderConfig,
): Promise<OpenApiDocument | null> {
  if (openapi === undefined) {
    if (overlays.length > 0 && asyncapi === undefined)
      draft.faults.add(
        draft.faultAt('overlays', 'there is no document', 'name it in `openapi` or `asyncapi`'),
      );
    return null;
  }
  const read = await readOpenApi(resolve(draft.scope.folder, openapi), {
    shown: draft.shownBeside('openapi', openapi),
    configured: {
      ...credentials,
      headers: Object.keys(headers).map((name) => name.toLowerCase()),
      cookies: cookiesIn(headers),
      certificate: tls?.cert !== undefined,
    },
    basePath: basePathOf(provider),
    overlays: await readOverlays(draft, overlays),
    ...addressIn(provider),
  });
  if (!('fault' in read)) return read;
  throw draft.fileFault('openapi', `the document ${openapi}`, read.fault);
}

/** The names of the cookies of every request. */
function cookiesIn(headers: Readonly<Record<string, unknown>>): readonly string[] {
  const written = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'cookie');
  return written.flatMap(([, value]) =>
    Array.from(String(value).matchAll(/(?:^|;)\s*([^=;\s]+)=/g), ([, name = '']) => name),
  );
}

/** What the document of the config states; null without a document, or if it has a fault: `buildOperations` reports it. */
export async function factsOfDocument(
  draft: Draft,
  { openapi, overlays = [] }: Pick<OperationBlocks, 'openapi' | 'overlays'>,
  provider: ProviderConfig,
): Promise<FirstFacts | null> {
  if (openapi === undefined) return null;
  try {
    const path = resolve(draft.scope.folder, openapi);
    const applied = await readOverlays(draft, overlays);
    const facts = await firstFacts(
      path,
      draft.shownBeside('openapi', openapi),
      basePathOf(provider),
      applied,
    );
    return 'fault' in facts ? null : facts;
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

/** What runs on this machine has an address that no document knows. */
function addressIn(provider: ProviderConfig): { readonly address?: string } {
  const url = provider.kind === 'url' ? URL.parse(provider.url) : null;
  return url === null || isLoopback(url.hostname) ? {} : { address: url.href };
}

function documentedFor(
  written: WrittenOperation,
  documented: ReadonlySet<DocumentedOperation>,
): DocumentedOperation | undefined {
  const candidates = [...documented];
  const { block, path } = written;
  const named = candidates.find(({ id, method }) => id === block.id && method === block.method);
  const fitting = candidates.filter(
    ({ method, template }) => method === block.method && pathValues(template, pathOf(path)) !== null,
  );
  // A literal path comes before one with parameters.
  return named ?? fitting.sort((a, b) => a.template.split('{').length - b.template.split('{').length)[0];
}
