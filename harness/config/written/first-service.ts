import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { stringify } from 'yaml';
import { UsageError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { codeOf } from '../../base/thrown.ts';
import { type ClauseKey, VOCABULARY } from '../../base/vocabulary.ts';
import { makeFolders } from '../../wire/record/journal.ts';
import { newestRules } from '../blocks/rules.ts';
import type { Answers, Scheme } from '../credential/scheme.ts';
import type { FirstFacts } from '../operation/openapi/first-facts.ts';
import { baseUrl } from '../shape/text-forms.ts';
import { isOneFile } from '../yaml/config-place.ts';
import { CONFIG_FILE, namedFiles, SHIPPED_CONFIG } from '../yaml/read-text.ts';

export interface FirstService {
  /** Lower-case letters, digits and hyphens. */
  readonly service: string;
  readonly url: string;
  /** Path of a GET that is known to work, below the base URL; null if there is only a WebSocket endpoint. */
  readonly samplePath: string | null;
  /** Path of the WebSocket endpoint, below the base URL. */
  readonly webSocketPath?: string;
  /** Path of an AsyncAPI document of the service. */
  readonly asyncapi?: string | undefined;
  readonly scheme: Scheme;
  readonly answers: Answers;
  /** Sent with every request; a value may be a reference such as `${env:NAME}`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An OpenAPI document of the service, and what it states; null where there is none. */
  readonly openapi: { readonly path: string; readonly facts: FirstFacts } | null;
}

export interface NewFile {
  readonly path: string;
  readonly text: string;
}

/** What makes an answer unfit, and what would be right; null when nothing does. */
export type AnswerFault = { readonly problem: string; readonly remedy: string } | null;

const fits =
  (pattern: RegExp, problem: string, remedy: string) =>
  (text: string): AnswerFault =>
    pattern.test(text) ? null : { problem, remedy };

/** Each answer can be checked the moment it is given. */
export const FIT = {
  service: fits(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'is no name for a service',
    'use lower-case letters, digits and hyphens',
  ),
  url: (text: string): AnswerFault => {
    try {
      baseUrl(text, (problem, remedy) => new UsageError(problem, { remedy }));
      return null;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return { problem: error.problem, remedy: error.remedy ?? '' };
    }
  },
  samplePath: fits(
    /^\/[\x21-\x7e]*$/,
    'is no path',
    'write a path below the base URL that answers a GET, such as /v1/orders',
  ),
  variable: fits(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    'cannot be the name of an environment variable',
    'name the variable that holds the value, such as ORDERS_API_KEY; never the value itself',
  ),
} as const;

/**
 * Its config: `conform.yaml`, or in a folder a service file and, if none has its name, a contract. Writes nothing.
 *
 * @throws UsageError for an unfit answer.
 */
export async function initService(config: string, first: FirstService): Promise<readonly NewFile[]> {
  const { service, scheme, answers, samplePath } = first;
  hold('service', FIT.service(service));
  hold('url', FIT.url(first.url));
  if (samplePath !== null) hold('sample-path', FIT.samplePath(samplePath));
  for (const { option, variable } of scheme.first.asks) {
    if (variable) hold(option, FIT.variable(answers[option] ?? ''));
  }
  const url = baseUrl(first.url, (problem, remedy) => new UsageError(problem, { key: 'url', remedy }));
  if (isOneFile(config)) return [{ path: config, text: oneFileText({ ...first, url }, config) }];
  const contracts = [
    ...(await namedFiles(join(config, 'contracts'))).keys(),
    ...(await namedFiles(join(SHIPPED_CONFIG, 'contracts'))).keys(),
  ];
  const pathIn = (folder: string) => join(config, folder, `${service}.yaml`);
  const file = { path: pathIn('services'), text: serviceText({ ...first, url }, join(config, 'services')) };
  if (contracts.includes(service)) return [file];
  return [file, { path: pathIn('contracts'), text: contractText(first) }];
}

function hold(key: string, unfit: AnswerFault): void {
  if (unfit !== null) throw new UsageError(unfit.problem, { key, remedy: unfit.remedy });
}

/** @throws UsageError, before anything is written, when one of the files is there already. */
export async function writeNewFiles(files: readonly NewFile[]): Promise<void> {
  for (const { path } of files) {
    if (['yaml', 'yml'].some((end) => existsSync(path.replace(/yaml$/, end)))) throw alreadyThere(path);
  }
  for (const { path, text } of files) {
    try {
      makeFolders(dirname(path));
      await writeFile(path, text, { flag: 'wx' });
    } catch (error) {
      const code = codeOf(error) ?? 'unknown error';
      if (code === 'EEXIST') throw alreadyThere(path);
      const remedy = 'name another folder';
      throw new UsageError(`cannot be written (${code})`, { place: { file: path }, remedy });
    }
  }
}

function alreadyThere(path: string): UsageError {
  const remedy =
    isOneFile(path) && basename(path) === CONFIG_FILE
      ? 'it has one service: for several, move it to a folder such as conformance, and name that with --config'
      : 'choose another name, or remove the file first: nothing is overwritten';
  return new UsageError('is there already', { place: { file: path }, remedy });
}

/** Editors read the schema there; `conform` itself does not need it. */
const SCHEMAS = 'node_modules/conform-api/dist/config';

/** The first line of a file in a folder of the config, which tells an editor its schema. */
export function schemaLine(configDir: string, part: string, name: string): string {
  const schema = relative(join(configDir, part), join(SCHEMAS, name)).replaceAll('\\', '/');
  return `# yaml-language-server: $schema=${schema}`;
}

function serviceText(first: FirstService, folder: string): string {
  const { service } = first;
  return `${schemaLine(folder, '', 'service.schema.json')}
#
# The service ${service}: where it runs, how a client gets in, and what conform may do to it.
service: ${JSON.stringify(service)}
contract: ${JSON.stringify(service)} # contracts/${service}.yaml
${settingsText(first, folder)}`;
}

function oneFileText(first: FirstService, file: string): string {
  const { service } = first;
  const beyond = first.openapi === null ? '' : ` beyond ${basename(first.openapi.path)}, or in place of it`;
  const clauses = ownClauses(first);
  const examples = (['limits.rate', 'errors.format'] as const).map((key) =>
    commented(key).replace(/^.*\n/, ''),
  );
  return `${schemaLine(dirname(file), '', 'conform.schema.json')}
#
# The service ${service}: where it runs, how a client gets in, what conform may do to it, and what its documents say.
service: ${JSON.stringify(service)}
${settingsText(first, dirname(file))}
# What your documents say${beyond}. \`conform clauses\` lists the keys.
${clauses === '' ? '# clauses:\n' : `clauses:\n${clauses}`}${examples.join('\n').replaceAll(/^ {2}# {0,1}/gm, '#   ')}
`;
}

/** The sample, if the document has another one or none. */
function ownClauses({ openapi, samplePath }: FirstService): string {
  const sample = openapi?.facts.clauses.find(({ key }) => key === 'endpoint.sample');
  if (samplePath === null || isSample(sample?.value, samplePath)) return '';
  const clause = { key: 'endpoint.sample', standing: 'stated', value: sampleRequest(samplePath) };
  return `${indented(stringify([clause], { lineWidth: 0 }))}\n`;
}

/** The blocks of a service; paths in it are relative to the folder. */
function settingsText(
  { url, scheme, answers, headers = {}, openapi, webSocketPath, asyncapi }: FirstService,
  folder: string,
): string {
  const beside = (path: string) => relative(folder, path).replaceAll('\\', '/');
  const document = openapi && beside(openapi.path);
  return `# What your team owns, as of this date: a newer version of conform adds no check. "all" has those of your HTTP server, too.
rules: ${newestRules('api')}

provider:
  url: ${JSON.stringify(url)}

credentials:
${indented([`scheme: ${scheme.name} # ${scheme.summary}`, ...scheme.first.lines(answers)].join('\n'))}
${(scheme.first.beside?.(answers, beside) ?? []).map((line) => `\n${line}`).join('')}
${Object.keys(headers).length === 0 ? '' : stringify({ headers })}${webSocketPath === undefined ? '' : `websocket: { url: ${JSON.stringify(webSocketPath)} }\n`}${asyncapi === undefined ? '' : `asyncapi: ${JSON.stringify(beside(asyncapi))}\n`}${
  document === null
    ? '# An OpenAPI document of the service: each operation that can be called is called, and its answer held to it.\n# openapi: ../openapi.yaml'
    : `# Each operation that can be called is called, and its answer held to this document.\nopenapi: ${JSON.stringify(document)}`
}

# The quota of your account. Leave it out when the contract states the rate, or when you do not know it.
# plan: { requests: 100, window: 60s }

safety:
  exceedRateLimit: false # true: send more requests than the plan allows, to see the refusal
  unsafeMethods: false # true: call POST, PUT, PATCH and DELETE operations as well
`;
}

/** Only a path is known; its response is judged once the user describes it. */
const NOT_STATED = 'not stated';

/** The contract: given answers are stated; every other clause is a comment. */
function contractText({ service, samplePath, openapi }: FirstService): string {
  const documented = openapi?.facts.clauses.filter(({ key }) => key !== 'endpoint.sample') ?? [];
  const sample = openapi?.facts.clauses.find(
    ({ key, value }) => key === 'endpoint.sample' && isSample(value, samplePath),
  );
  const said = { section: 'conform init', row: 1 };
  const first =
    samplePath === null
      ? { key: 'websocket.transport', value: { protocol: 'WebSocket' }, ...said }
      : (sample ?? { key: 'endpoint.sample', value: sampleRequest(samplePath), ...said });
  const clauses = [first, ...documented].map(({ key, value, section, row }) => {
    return { key, standing: 'stated', value, place: { section, row } };
  });
  const written = new Set<string>(clauses.map(({ key }) => key));
  const rest = (Object.keys(VOCABULARY) as ClauseKey[]).filter((key) => !written.has(key));
  const source = openapi === null ? `${service} documents` : basename(openapi.path);
  return `# What the documents of ${service} say, clause by clause. Only the clauses below are judged as rules; the rest is
# observed. standing: stated (the document says so), advised (it recommends it), not-shown (it leaves it open).
contract: ${JSON.stringify(service)}
title: ${JSON.stringify(openapi?.facts.title ?? service)}
source:
  document: ${JSON.stringify(source)} # file name or address of what you read

clauses:
  # The first is a request that is known to work: the others are variations of it.
${indented(stringify(clauses, { lineWidth: 0 }))}
  # What else your documents may say. Take away the # and write what they say; \`conform clauses KEY\` tells more.
${rest.map(commented).join('\n')}
`;
}

function sampleRequest(path: string) {
  return { method: 'GET', path, fields: {}, response: NOT_STATED };
}

function isSample(value: unknown, path: string | null): boolean {
  return isJsonObject(value) && value.path === path;
}

function commented(key: ClauseKey): string {
  const { meaning, example } = VOCABULARY[key];
  const clause = { key, standing: 'stated', value: example };
  const [line = ''] = stringify(clause, { lineWidth: 0, collectionStyle: 'flow' }).trim().split('\n');
  return `  # ${meaning}\n  # - ${line}`;
}

function indented(text: string): string {
  return `  ${text.trimEnd().replaceAll('\n', '\n  ')}`;
}
