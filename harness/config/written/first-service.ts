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
import { namedFiles, SHIPPED_CONFIG } from '../yaml/read-text.ts';

export interface FirstService {
  /** Lower-case letters, digits and hyphens. */
  readonly service: string;
  readonly url: string;
  /** Path of a GET that is known to work, below the base URL; null if there is only a WebSocket endpoint. */
  readonly samplePath: string | null;
  /** Path of the WebSocket endpoint, below the base URL. */
  readonly webSocketPath?: string;
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

/** Its config and, if none has its name, a contract. Writes nothing. @throws UsageError for an unfit answer. */
export async function initService(configDir: string, first: FirstService): Promise<readonly NewFile[]> {
  const { service, scheme, answers, samplePath } = first;
  hold('service', FIT.service(service));
  hold('url', FIT.url(first.url));
  if (samplePath !== null) hold('sample-path', FIT.samplePath(samplePath));
  for (const { option, variable } of scheme.first.asks) {
    if (variable) hold(option, FIT.variable(answers[option] ?? ''));
  }
  const url = baseUrl(first.url, (problem, remedy) => new UsageError(problem, { key: 'url', remedy }));
  const contracts = [
    ...(await namedFiles(join(configDir, 'contracts'))).keys(),
    ...(await namedFiles(join(SHIPPED_CONFIG, 'contracts'))).keys(),
  ];
  const pathIn = (folder: string) => join(configDir, folder, `${service}.yaml`);
  const config = { path: pathIn('services'), text: serviceText({ ...first, url }, configDir) };
  if (contracts.includes(service)) return [config];
  return [config, { path: pathIn('contracts'), text: contractText(first) }];
}

function hold(key: string, unfit: AnswerFault): void {
  if (unfit !== null) throw new UsageError(unfit.problem, { key, remedy: unfit.remedy });
}

/** @throws UsageError, before anything is written, when one of the files is there already. */
export async function writeNewFiles(files: readonly NewFile[]): Promise<void> {
  for (const { path } of files) {
    const name = path.replace(/^.*[\\/]|\.yaml$/g, '');
    if ((await namedFiles(dirname(path))).has(name)) throw alreadyThere(path);
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
  const remedy = 'choose another name, or remove the file first: nothing is overwritten';
  return new UsageError('is there already', { place: { file: path }, remedy });
}

/** Editors read the schema there; `conform` itself does not need it. */
const SCHEMAS = 'node_modules/conform-api/dist/config';

/** The first line of a file in a folder of the config, which tells an editor its schema. */
export function schemaLine(configDir: string, part: string, name: string): string {
  const schema = relative(join(configDir, part), join(SCHEMAS, name)).replaceAll('\\', '/');
  return `# yaml-language-server: $schema=${schema}`;
}

function serviceText(
  { service, url, scheme, answers, headers = {}, openapi, webSocketPath }: FirstService,
  configDir: string,
): string {
  const beside = (path: string) => relative(join(configDir, 'services'), path).replaceAll('\\', '/');
  const document = openapi && beside(openapi.path);
  return `${schemaLine(configDir, 'services', 'service.schema.json')}
#
# The service ${service}: where it runs, how a client gets in, and what conform may do to it.
service: ${JSON.stringify(service)}
contract: ${JSON.stringify(service)} # contracts/${service}.yaml
# What your team owns, as of this date: a newer version of conform adds no check. "all" has those of your HTTP server, too.
rules: ${newestRules('api')}

provider:
  url: ${JSON.stringify(url)}

credentials:
${indented([`scheme: ${scheme.name} # ${scheme.summary}`, ...scheme.first.lines(answers)].join('\n'))}
${(scheme.first.beside?.(answers, beside) ?? []).map((line) => `\n${line}`).join('')}
${Object.keys(headers).length === 0 ? '' : stringify({ headers })}${webSocketPath === undefined ? '' : `websocket: { url: ${JSON.stringify(webSocketPath)} }\n`}${
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
  const request = { method: 'GET', path: samplePath, fields: {}, response: NOT_STATED };
  const first =
    samplePath === null
      ? { key: 'websocket.transport', value: { protocol: 'WebSocket' }, ...said }
      : (sample ?? { key: 'endpoint.sample', value: request, ...said });
  const clauses = [first, ...documented].map(({ key, value, section, row }) => {
    return { key, standing: 'stated', value, place: { section, row } };
  });
  const written = new Set<string>(clauses.map(({ key }) => key));
  const rest = Object.entries(VOCABULARY).filter(([key]) => !written.has(key));
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

function isSample(value: unknown, path: string | null): boolean {
  return isJsonObject(value) && value.path === path;
}

function commented([key, { meaning, example }]: [string, (typeof VOCABULARY)[ClauseKey]]): string {
  const clause = { key, standing: 'stated', value: example, place: { section: 'Heading', row: 1 } };
  const [line = ''] = stringify(clause, { lineWidth: 0, collectionStyle: 'flow' }).trim().split('\n');
  return `  # ${meaning}\n  # - ${line}`;
}

function indented(text: string): string {
  return `  ${text.trimEnd().replaceAll('\n', '\n  ')}`;
}
