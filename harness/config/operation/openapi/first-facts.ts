import type { ClauseValue } from '../../../base/clause.ts';
import { UsageError } from '../../../base/exit.ts';
import type { ClauseKey, ErrorCondition } from '../../../base/vocabulary.ts';
import { isAuthorizationKey, type SecurityScheme } from '../../credential/scheme.ts';
import { SourceFiles } from '../../document/files.ts';
import { Remarks } from '../../document/remarks.ts';
import { child, children, type DocumentNode, type SourceFile } from '../../document/source.ts';
import type { ReadFault } from '../../yaml/read-text.ts';
import { isJsonType } from '../call/call.ts';
import { contentsOf } from './inputs.ts';
import { addressOf, type FoundOperation, firstServer, operationsOf } from './outline.ts';
import { described, firstDemand, isOptional } from './security.ts';
import { shownInBody, shownInParameter } from './shown-values.ts';

/** A clause that an OpenAPI document states, with where it says so. */
export interface DocumentedClause {
  readonly key: ClauseKey;
  readonly value: ClauseValue;
  readonly section: string;
  readonly row: number;
}

/** What `conform init` takes from an OpenAPI document; nothing that the document does not say. */
export interface FirstFacts {
  readonly title: string | null;
  /** The security scheme of the sample; null if no credential is needed, or several that one config cannot have. */
  readonly demand: SecurityScheme | null;
  /** The first of several that are needed together, of which a config has one, and why in a sentence; null otherwise. */
  readonly partDemand: { readonly first: SecurityScheme; readonly why: string } | null;
  /** Headers with further keys that are needed together with it. */
  readonly besides: readonly string[];
  /** Nothing is demanded of a client, and the document says so. */
  readonly open: boolean;
  /** A documented GET that needs no input, else a QUERY whose body the document shows; null where there is neither. */
  readonly samplePath: string | null;
  /** Why there is none, in a sentence; null if there is one. */
  readonly noSample: string | null;
  /** URL of the first server; a path if it is relative to the document; null if none is named. */
  readonly server: string | null;
  readonly clauses: readonly DocumentedClause[];
}

/** @throws UsageError at the place in the document for what cannot be understood. */
export async function firstFacts(
  path: string,
  shown: string,
  basePath: string,
  overlays: readonly SourceFile[] = [],
): Promise<FirstFacts | { readonly fault: ReadFault }> {
  const files = await SourceFiles.open(path, shown, overlays);
  if ('fault' in files) return files;
  const operations = operationsOf(files, new Remarks());
  const targetOf = (each: FoundOperation) =>
    addressOf(files.root, each.pathItem, each.operation, basePath).prefix +
    (each === byExample ? (withExamples(files, each) ?? each.path) : each.path);
  const demandsOf = ({ operation }: FoundOperation) => readable(() => firstDemand(files, operation));
  const known = operations.filter((each) => demandsOf(each) !== null);
  const demanding = known.filter((each) => demandsOf(each)?.length === 1);
  const main = mostFrequent(
    (demanding.length > 0 ? demanding : known).map((each) => JSON.stringify(demandsOf(each))),
  );
  const isMain = (each: FoundOperation) => JSON.stringify(demandsOf(each)) === main;
  const isSample = (each: FoundOperation) => each.method === 'GET' && needsNothing(files, each);
  const isShown = (each: FoundOperation) => each.method === 'GET' && withExamples(files, each) !== null;
  const byExample = known.some(isSample) ? undefined : known.find(isShown);
  const sample =
    known.find((each) => isSample(each) && isMain(each) && hasContent(files, each) && !isAside(each)) ??
    known.find((each) => isSample(each) && isMain(each) && hasContent(files, each)) ??
    known.find((each) => isSample(each) && isMain(each)) ??
    known.find(isSample) ??
    byExample ??
    known.find((each) => needsNothing(files, each) && (shownQuery(files, each) ?? null) !== null);
  const subject = sample ?? known[0];
  const demands = (subject && demandsOf(subject)) ?? [];
  const title = child(child(files.root, 'info'), 'title').value;
  const security = subject && child(subject.operation, 'security').value;
  return {
    title: typeof title === 'string' ? title : null,
    ...keysOf(demands),
    open: demands.length === 0 && (security ?? child(files.root, 'security').value) !== undefined,
    samplePath: sample === undefined ? null : targetOf(sample),
    noSample: sample === undefined ? noSample(operations) : null,
    server: firstServer(files.root),
    clauses: [
      ...(sample === undefined ? [] : [sampleClause(files, sample, targetOf(sample))]),
      ...optionalClause(files, operations),
      ...prefixClause(operations, targetOf),
      ...formatClauses(files, operations).filter(
        ({ key }) => key === 'errors.format' || sample === undefined || hasContent(files, sample),
      ),
      ...codesClause(files, operations),
    ],
  };
}

const isInHeader = (demand: SecurityScheme) =>
  demand.type === 'apiKey' && demand.in === 'header' && !isAuthorizationKey(demand);

/** The more secret a key is by its name, the later its pattern. */
const SECRECY = [/key|auth/i, /token/i, /secret/i];
const secrecyOf = ({ name }: SecurityScheme) => SECRECY.findLastIndex((each) => each.test(name));

/** Of schemes that are needed together: the credential, and the headers next to it. */
function keysOf(demands: readonly SecurityScheme[]): Pick<FirstFacts, 'demand' | 'partDemand' | 'besides'> {
  const others = demands.filter((each) => !isInHeader(each));
  const inHeaders = demands.filter(isInHeader).toSorted((a, b) => secrecyOf(b) - secrecyOf(a));
  const [demand = null, ...besides] = [...others, ...inHeaders];
  const [first] = others;
  if (others.length > 1 && first !== undefined) {
    const needed = others.map(described).join(' with ');
    const why = `The document asks for ${needed}, of which a config has one: the operations that need both are not called.`;
    return { demand: null, partDemand: { first, why }, besides: [] };
  }
  return { demand, partDemand: null, besides: besides.map(({ name }) => name) };
}

/** The path with the examples of its required parameters; null if one has none. */
function withExamples(files: SourceFiles, { pathItem, operation, path }: FoundOperation): string | null {
  if (successOf(files, operation) === undefined) return null;
  const query: string[] = [];
  let filled = path.split('#', 1)[0] ?? '';
  for (const [, at] of [pathItem, operation].flatMap((parent) => children(child(parent, 'parameters')))) {
    const parameter = readable(() => files.dereferenced(at));
    if (parameter === null) return null;
    const [name, place] = ['name', 'in'].map((key) => String(child(parameter, key).value));
    if (place !== 'path' && child(parameter, 'required').value !== true) continue;
    const shown = readable(
      () => shownInParameter([parameter], child(parameter, 'schema'), { files })[0]?.value,
    );
    if (typeof shown !== 'string' && typeof shown !== 'number') return null;
    const text = encodeURIComponent(shown);
    if (place === 'path') filled = filled.replaceAll(`{${name}}`, text);
    else if (place === 'query') query.push(`${encodeURIComponent(name ?? '')}=${text}`);
    else return null;
  }
  if (filled.includes('{')) return null;
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

/** Probes of orchestrators are mostly open, and steps of a login need more than the key, whatever the document demands for all. */
function isAside({ path }: FoundOperation): boolean {
  return (
    /\/_?(?:health\w*|ready\w*|readiness|livez?|liveness|ping|heartbeat)\/?$/i.test(path) ||
    /\/(?:o?auth\d?|sso|login|logout|password)(?:\/|$)/i.test(path)
  );
}

function mostFrequent(texts: readonly string[]): string | undefined {
  const groups = [...Map.groupBy(texts, (text) => text)];
  return groups.toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0];
}

/** A path without parameters, and none in the query that must be there. */
function needsNothing(files: SourceFiles, { pathItem, operation, path }: FoundOperation): boolean {
  if (path.includes('{') || successOf(files, operation) === undefined) return false;
  const parameters = [pathItem, operation].flatMap((parent) => children(child(parent, 'parameters')));
  return parameters.every(([, at]) => {
    const parameter = readable(() => files.dereferenced(at));
    return parameter !== null && child(parameter, 'required').value !== true;
  });
}

/** What a QUERY asks for in JSON, where the document shows it. */
function shownQuery(files: SourceFiles, { method, operation }: FoundOperation): unknown {
  if (method !== 'QUERY') return undefined;
  return readable(() => {
    const body = files.dereferenced(child(operation, 'requestBody'));
    const content = contentsOf(body, files).find(([type]) => type === 'application/json')?.[1];
    return content && shownInBody(content, { files })[0]?.value;
  });
}

type FoundOperations = readonly FoundOperation[];

function responsesOf(files: SourceFiles, operation: DocumentNode): ReturnType<typeof children> {
  return children(child(operation, 'responses')).flatMap(([code, at]) => {
    const response = readable(() => files.dereferenced(at));
    return response === null ? [] : [[code, response] as const];
  });
}

function successOf(files: SourceFiles, operation: DocumentNode): DocumentNode | undefined {
  return responsesOf(files, operation).find(([code]) => code === '200' || /^2xx$/i.test(code))?.[1];
}

/** A success with a documented body shows more than one without. */
function hasContent(files: SourceFiles, { operation }: FoundOperation): boolean {
  const success = successOf(files, operation);
  return success !== undefined && mediaTypesOf(success).length > 0;
}

function noSample(operations: FoundOperations): string {
  const reading = operations.filter(({ method }) => method === 'GET').length;
  return reading === 0
    ? 'The document has no GET that could be the sample.'
    : `The document has ${reading} GET, each of which needs a parameter without an example or documents no 200: none can be the sample.`;
}

/** null for a fault of the document, which a run remarks on. */
function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

function mediaTypesOf(response: DocumentNode): readonly string[] {
  return children(child(response, 'content')).map(([type]) => type);
}

function stated(
  key: ClauseKey,
  value: ClauseValue,
  { method, path, operation }: FoundOperation,
): DocumentedClause {
  const { line = 1 } = operation.file.placeOf(operation.pointer);
  return { key, value, section: `${method} ${path}`, row: line };
}

function sampleClause(files: SourceFiles, sample: FoundOperation, path: string): DocumentedClause {
  const success = successOf(files, sample.operation);
  const types = success === undefined ? [] : mediaTypesOf(success);
  const response = types.length > 0 && types.every(isJsonType) ? types.join(' or ') : 'as documented';
  const { method } = sample;
  const body = (shownQuery(files, sample) ?? undefined) as ClauseValue | undefined;
  const value = { method, path, fields: {}, ...(body === undefined ? {} : { body }), response };
  return stated('endpoint.sample', value, sample);
}

/** That no operation needs a credential, where each names one. */
function optionalClause(files: SourceFiles, operations: FoundOperations): readonly DocumentedClause[] {
  const [first] = operations;
  const isSaid = operations.every(({ operation }) => isOptional(files, operation));
  return first !== undefined && isSaid ? [stated('auth.optional', true, first)] : [];
}

const VERSION_PREFIX = /^(?:\/[^/{]+)*?\/v\d+(?=\/)/;

/** `/v1` or `/api/v1`, where every documented path begins with it. */
function prefixClause(
  operations: FoundOperations,
  targetOf: (each: FoundOperation) => string,
): readonly DocumentedClause[] {
  const prefixes = new Set(operations.map((each) => VERSION_PREFIX.exec(targetOf(each))?.[0] ?? ''));
  const [prefix = ''] = prefixes;
  const [first] = operations;
  return prefixes.size === 1 && prefix !== '' && first ? [stated('versioning.prefix', prefix, first)] : [];
}

/** That answers, or errors, are JSON, where every documented one with content is. */
function formatClauses(files: SourceFiles, operations: FoundOperations): readonly DocumentedClause[] {
  const ofCodes = (key: ClauseKey, codes: RegExp) => {
    const found = operations.flatMap((each) =>
      responsesOf(files, each.operation)
        .filter(([code]) => codes.test(code))
        .flatMap(([, response]) => mediaTypesOf(response).map((type) => ({ each, type }))),
    );
    const [first] = found;
    return first && found.every(({ type }) => isJsonType(type)) ? [stated(key, 'JSON', first.each)] : [];
  };
  return [...ofCodes('responses.format', /^2/), ...ofCodes('errors.format', /^(?:[45]|default$)/)];
}

/** Refusals of any operation. A documented 404 is of a resource, not of an unknown path. */
const CONDITIONS: Partial<Record<ErrorCondition, string>> = { missingCredential: '401', rateLimit: '429' };

function codesClause(files: SourceFiles, operations: FoundOperations): readonly DocumentedClause[] {
  const saying = (code: string) =>
    operations.find(({ operation }) => responsesOf(files, operation).some(([given]) => given === code));
  const codes = Object.entries(CONDITIONS).filter(([, code]) => saying(code) !== undefined);
  const first = codes[0] && saying(codes[0][1]);
  const value = Object.fromEntries(codes.map(([name, code]) => [name, Number(code)]));
  return first === undefined ? [] : [stated('errors.codes', value, first)];
}
