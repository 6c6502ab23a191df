import {
  type Call,
  type CallBody,
  type Input,
  pathValues,
  placeholdersOf,
  requestOfCall,
} from './call/call.ts';
import type { ExpectedResponse, Operation } from './call/operation.ts';
import type { DocumentedInput } from './openapi/inputs.ts';
import type { DocumentedOperation } from './openapi/openapi.ts';
import type { WrittenOperation } from './written.ts';

type Written = WrittenOperation;
type Documented = DocumentedOperation;

/** One operation from what the config writes, what a document describes, or both; the config's word goes. */
export function operationOf(written: Written, documented: Documented | undefined): Operation;
export function operationOf(written: null, documented: Documented): Operation;
export function operationOf(written: Written | null, documented: Documented | undefined): Operation {
  const method = written?.block.method ?? documented?.method ?? 'GET';
  const { template, inputs, lacks } = addressed(written, documented);
  const body = bodyOf(written, documented);
  const responses = responsesOf(written, documented);
  const [response = NOTHING_DOCUMENTED, ...alternatives] = responses;
  const accepted = response.mediaTypes.filter((type) => !type.includes('*'));
  const hasAccept = inputs.some(
    ({ name, in: place }) => place === 'header' && name.toLowerCase() === 'accept',
  );
  const call: Call = {
    method,
    template,
    inputs,
    fields: accepted.length === 0 || hasAccept ? [] : [['Accept', accepted.join(', ')]],
    body,
  };
  const uncallable =
    documented?.unfit ??
    lacks ??
    body?.lacks ??
    unmetDemand(written, documented) ??
    whyEndless(response) ??
    (responses.length === 0 ? 'no success is documented for it' : null);
  return {
    id: written?.block.id ?? documented?.id ?? '',
    place: [written?.place, documented?.place].filter((place) => place !== undefined).join(', '),
    method,
    template:
      documented !== undefined && usesTemplate(written, documented) ? documented.template : pathOf(template),
    ...requestOfCall(call),
    response,
    alternatives,
    auth: authOf(written, documented),
    call,
    uncallable,
  };
}

const NOTHING_DOCUMENTED: ExpectedResponse = { status: 200, mediaTypes: [], schema: null };

/** Media types of answers that go on for as long as the client listens. */
const STREAMS: ReadonlySet<string> = new Set(['text/event-stream', 'multipart/x-mixed-replace']);

function whyEndless({ mediaTypes }: ExpectedResponse): string | null {
  const isStream = mediaTypes.length > 0 && mediaTypes.every((type) => STREAMS.has(type));
  return isStream ? `it answers with a stream (${mediaTypes.join(', ')})` : null;
}

interface Addressed {
  readonly template: string;
  readonly inputs: readonly Input[];
  /** Why a value is missing; null when none is. */
  readonly lacks: string | null;
}

/** Path and inputs, with the values that the config gives in its path, `query` and `fields`. */
function addressed(written: Written | null, documented: Documented | undefined): Addressed {
  const described: readonly DocumentedInput[] = documented?.inputs ?? [];
  const wholeTemplate = usesTemplate(written, documented);
  const [path = '', query] = written === null ? [documented?.template] : written.path.split('?', 2);
  const values = written === null || documented === undefined ? null : pathValues(documented.template, path);
  const kept = wholeTemplate ? described : described.filter((input) => input.in !== 'path');
  const inputs = new Map<string, DocumentedInput>();
  for (const input of kept) {
    const value = input.in === 'path' ? values?.get(input.name) : undefined;
    inputs.set(keyOf(input), value === undefined ? input : { ...input, value, lacks: null });
  }
  for (const input of written?.inputs ?? [])
    inputs.set(keyOf(input), overlaid(inputs.get(keyOf(input)), input));
  const verbatim: string[] = [];
  for (const piece of query?.split('&') ?? []) {
    const [[name, value] = ['', '']] = new URLSearchParams(piece);
    const known = inputs.get(`query ${name}`);
    if (known === undefined) verbatim.push(piece);
    else inputs.set(`query ${name}`, { ...known, value, lacks: null });
  }
  const template = wholeTemplate && documented !== undefined ? documented.template : path;
  const all = [...inputs.values()];
  const undescribed = placeholdersOf(template).find((name) => !inputs.has(`path ${name}`));
  return {
    template: verbatim.length === 0 ? template : `${template}?${verbatim.join('&')}`,
    inputs: all,
    lacks:
      undescribed === undefined
        ? (all.find(({ lacks }) => lacks !== null)?.lacks ?? null)
        : `its path has {${undescribed}}, which no parameter describes`,
  };
}

function overlaid(under: DocumentedInput | undefined, { value, ...over }: Input): DocumentedInput {
  if (under === undefined) return { ...over, value, lacks: null };
  const schema = over.schema ?? under.schema;
  const required = over.required || under.required;
  return value === undefined
    ? { ...under, schema, required }
    : { ...under, name: over.name, schema, required, value, lacks: null };
}

/** Whether the path parameters of the document apply: not where the config has a path of its own. */
function usesTemplate(written: Written | null, documented: Documented | undefined): boolean {
  if (written === null || documented === undefined) return written === null;
  return pathValues(documented.template, pathOf(written.path)) !== null;
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? '';
}

/** Header fields are known by their name in any letter case, all else by the very name. */
function keyOf({ in: place, name }: Input): string {
  return `${place} ${place === 'header' ? name.toLowerCase() : name}`;
}

function bodyOf(
  written: Written | null,
  documented: Documented | undefined,
): (CallBody & { readonly lacks: string | null }) | null {
  const described = documented?.body ?? null;
  if (!written?.body) return described;
  const { mediaType, value } = written.body;
  if (described === null) return { mediaType, value, required: false, schema: null, lacks: null };
  const schema = described.mediaType === mediaType ? described.schema : null;
  return { ...described, mediaType, value, schema, lacks: null };
}

function responsesOf(
  written: Written | null,
  documented: Documented | undefined,
): readonly ExpectedResponse[] {
  const described = documented?.responses ?? [];
  if (written === null) return described;
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

function authOf(written: Written | null, documented: Documented | undefined): Operation['auth'] {
  const own = written?.block.auth;
  if (own !== undefined) return own ? 'required' : 'none';
  return documented?.demand.auth ?? 'required';
}

function unmetDemand(written: Written | null, documented: Documented | undefined): string | null {
  const demand = documented?.demand;
  const own = written?.block.auth;
  return own === undefined && demand?.auth === 'required' ? demand.unmet : null;
}
