import { formatPlace, UsageError } from '../../../base/exit.ts';
import { asList } from '../../../base/json-text.ts';
import type { Definitions } from '../../../wire/json/schema.ts';
import { SourceFiles } from '../../document/files.ts';
import { Remarks, subjectOf } from '../../document/remarks.ts';
import {
  child,
  children,
  type DocumentNode,
  type DocumentRemark,
  type SourceFile,
} from '../../document/source.ts';
import type { ReadFault } from '../../yaml/read-text.ts';
import type { DocumentedAnswer } from '../call/call.ts';
import { type Input, placeholdersOf } from '../call/call.ts';
import { Examples } from '../call/example.ts';
import { readAnswers } from './answers.ts';
import { readBody } from './bodies.ts';
import { type DocumentedBody, type DocumentedInput, readInputs } from './inputs.ts';
import { type LinkTarget, readLinks } from './links.ts';
import { addressOf, type FoundOperation, operationsOf, remarkOnServers, versionOf } from './outline.ts';
import { OpenApiSchemas } from './schemas.ts';
import { type Configured, type Demand, OpenApiSecurity } from './security.ts';

/** An operation as a document describes it, before the config has its say. */
export interface DocumentedOperation {
  readonly id: string;
  readonly method: string;
  readonly tags: readonly string[];
  /** Path below the provider's base address, with `{name}` for each path parameter. */
  readonly template: string;
  /** `#running`: the end of its path, which tells it from others and is never sent; '' for none. */
  readonly fragment: string;
  readonly inputs: readonly DocumentedInput[];
  readonly body: DocumentedBody | null;
  readonly answers: readonly DocumentedAnswer[];
  readonly demand: Demand;
  /** Why it cannot be called whatever the config adds; null when nothing stands against it. */
  readonly unfit: string | null;
  /** For a person: `openapi.yaml:12:5`. */
  readonly place: string;
}

export interface OpenApiDocument {
  readonly operations: readonly DocumentedOperation[];
  /** Schemas of requests and responses, by the URI with which the operations refer to them. */
  readonly definitions: Definitions;
  readonly remarks: readonly DocumentRemark[];
  /** Names of the requests that the service sends: its webhooks, and the callbacks of operations. */
  readonly webhooks: readonly string[];
}

export interface OpenApiOptions {
  /** Overlay documents, in the order in which they apply. */
  readonly overlays?: readonly SourceFile[];
  readonly shown: string;
  readonly configured: Configured | undefined;
  /** Path of the provider's base address: '' or `/api`. */
  readonly basePath: string;
  /** URL of the service under test; absent if it is not known, or on this machine. */
  readonly address?: string;
}

/** They are about the connection, or echo the request. */
const NEVER_SENT: ReadonlySet<string> = new Set(['TRACE', 'CONNECT']);

/** Reads only the parts that calls need; the rest is for linters. @throws UsageError at its place. */
export async function readOpenApi(
  path: string,
  options: OpenApiOptions,
): Promise<OpenApiDocument | { readonly fault: ReadFault }> {
  const files = await SourceFiles.open(path, options.shown, options.overlays);
  if ('fault' in files) return files;
  const version = versionOf(files.root);
  const remarks = new Remarks();
  for (const remark of files.remarks) remarks.add(remark);
  const requests = new OpenApiSchemas(files, 'request', version);
  const responses = new OpenApiSchemas(files, 'response', version);
  if (requests.unknownDialect !== null) remarks.fault(requests.unknownDialect, 'no schema of it is judged');
  const found = operationsOf(files, remarks);
  const holders = found.flatMap(({ pathItem, operation }) => [pathItem, operation]);
  remarkOnServers([files.root, ...holders], options.address ?? null, remarks);
  const { configured } = options;
  const declared = found.map(({ operation }) => operation);
  const security = new OpenApiSecurity({ files, remarks }, configured, declared);
  const examples = new Examples(requests.definitions, requests.book);
  const scope = { files, schemas: requests, examples, configured, remarks };
  const ids = new Set<string>();
  const faults: UsageError[] = [];
  const operations = found.map(({ pathItem, operation, method, path: shown }): DocumentedOperation => {
    const written = shown.replaceAll(/\{\+([^{}]+)\}/g, '{$1}');
    const isReserved = ({ in: place, name }: Input) => place === 'path' && shown.includes(`{+${name}}`);
    const { prefix, elsewhere } = addressOf(files.root, pathItem, operation, options.basePath);
    const input = remarks.attempt(
      () => ({
        inputs: ofPath(readInputs([pathItem, operation], scope), written, operation, remarks).map((input) =>
          isReserved(input) ? { ...input, reserved: true as const } : input,
        ),
        body: readBody(operation, method, scope),
        demand: security.demandOf(operation),
      }),
      `${method} ${written} is not called`,
    );
    remarkOnContent(operation, remarks);
    const isUnread = input instanceof UsageError;
    if (isUnread) faults.push(input);
    const [path = '', fragment] = written.split('#', 2);
    if (fragment !== undefined) remarks.at(pathItem, 'has a fragment', 'it is never sent');
    return {
      id: ownId(operation, `${method} ${written}`, ids, remarks),
      method,
      tags: asList(child(operation, 'tags').value).filter((tag) => typeof tag === 'string'),
      template: prefix + path.replaceAll(/[^\x21-\x7e]/g, encodeURIComponent),
      fragment: fragment === undefined ? '' : `#${fragment}`,
      ...(isUnread ? NO_INPUT : input),
      answers: readAnswers(operation, method, { files, schemas: responses, remarks }),
      unfit: isUnread ? unreadable(input) : NEVER_SENT.has(method) ? `${method} is not sent` : elsewhere,
      place: formatPlace(operation.file.placeOf(operation.pointer)),
    };
  });
  const linked = withLinks(operations, found, { files, remarks });
  const [fault] = faults;
  if (fault !== undefined && faults.length === operations.length) throw fault;
  return {
    operations: linked,
    definitions: { ...requests.definitions, ...responses.definitions },
    remarks: remarks.all,
    webhooks: [child(files.root, 'webhooks'), ...declared.map((at) => child(at, 'callbacks'))].flatMap((at) =>
      children(at).flatMap(([name]) => (name.startsWith('x-') ? [] : [name])),
    ),
  };
}

/** The operations with the links of their responses, which lead to one another. */
function withLinks(
  operations: readonly DocumentedOperation[],
  found: readonly FoundOperation[],
  { files, remarks }: { readonly files: SourceFiles; readonly remarks: Remarks },
): readonly DocumentedOperation[] {
  if (!files.mention('links')) return operations;
  const targets = operations.map(({ method, template, inputs }, index): LinkTarget => {
    const { operation, path = '' } = found[index] ?? {};
    const operationId = operation && child(operation, 'operationId').value;
    return { operationId, method, path, template, inputs };
  });
  return operations.map((each, index) => {
    const operation = found[index]?.operation;
    const responses = operation === undefined ? [] : children(child(operation, 'responses'));
    const answers = each.answers.map((answer) => {
      const [, given] = responses.find(([code]) => code.toUpperCase() === answer.code.toUpperCase()) ?? [];
      const read = () => given && readLinks(files.dereferenced(given), { files, remarks, targets });
      const links = remarks.attempt(read, 'its links are not followed');
      return links === undefined || links instanceof UsageError || links.length === 0
        ? answer
        : { ...answer, links };
    });
    return { ...each, answers };
  });
}

/** RFC 9110 §15.3.5 and §15.4.5: such answers have no content, whatever is described. */
function remarkOnContent(operation: DocumentNode, remarks: Remarks): void {
  for (const code of ['204', '304']) {
    const content = child(child(child(operation, 'responses'), code), 'content');
    if (children(content).length > 0)
      remarks.at(content, `is described for a ${code}, which has none`, 'it is not expected');
  }
}

/** A path has parameters that nothing describes: any text may be their value. One that it does not have is never sent. */
function ofPath(
  described: readonly DocumentedInput[],
  path: string,
  operation: DocumentNode,
  remarks: Remarks,
): readonly DocumentedInput[] {
  const placeholders = new Set(placeholdersOf(path));
  const inputs = described.filter(({ in: place, name }) => {
    const isSent = place !== 'path' || placeholders.has(name);
    if (!isSent) remarks.at(operation, `its path has no {${name}}`, 'this parameter is not sent');
    return isSent;
  });
  const known = new Set(inputs.flatMap(({ in: place, name }) => (place === 'path' ? [name] : [])));
  const others = new Set([...placeholders].filter((name) => name !== '' && !known.has(name)));
  return [
    ...inputs,
    ...[...others].map((name): DocumentedInput => {
      const text = `its path has {${name}}, which no parameter describes`;
      remarks.at(operation, text, 'its value is taken from other answers');
      const base = { name, in: 'path', required: true, schema: null, form: 'comma' } as const;
      return { ...base, value: undefined, lacks: text, findable: true };
    }),
  ];
}

const NO_INPUT = { inputs: [], body: null, demand: { auth: 'none' } } as const;

function unreadable({ key, problem, place }: UsageError): string {
  const at = place === undefined ? '' : ` (${formatPlace(place)})`;
  return `the document cannot be read there: ${subjectOf(key)}${problem}${at}`;
}

/** The operationId, or method and path where it has none or an earlier one has the same. */
function ownId(operation: DocumentNode, fallback: string, taken: Set<string>, remarks: Remarks): string {
  const at = child(operation, 'operationId');
  const { value } = at;
  if (typeof value === 'string' && taken.has(value))
    remarks.at(at, 'is that of another operation', `${fallback} stands for it`);
  const id = typeof value === 'string' && value !== '' && !taken.has(value) ? value : fallback;
  taken.add(id);
  return id;
}
