import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../base/exit.ts';
import { parseJsonObject } from '../../base/json-text.ts';
import { reasonOf } from '../../base/thrown.ts';
import { readAsyncApi } from '../../config/asyncapi/asyncapi.ts';
import type { Scheme, SecurityScheme } from '../../config/credential/scheme.ts';
import { SCHEMES, schemeNamed } from '../../config/credential/schemes.ts';
import { type FirstFacts, firstFacts } from '../../config/operation/openapi/first-facts.ts';
import { FIT, type FirstService, initService, writeNewFiles } from '../../config/written/first-service.ts';
import { configFolder } from '../../config/yaml/config-place.ts';
import { didYouMean } from '../../config/yaml/nearest.ts';
import { CONFIG_FILE, usualConfig } from '../../config/yaml/read-text.ts';
import { firstAnswer } from '../../engine/provider/first-answer.ts';
import { fetchDocument } from '../../wire/http/fetch.ts';
import { proxiesOf } from '../../wire/socket/proxies.ts';
import { openAsker } from '../ask.ts';
import { HARNESS } from '../process.ts';
import { variablePart } from '../unconfigured/headers.ts';

export interface InitOptions extends Readonly<Record<string, string | undefined>> {
  readonly service?: string;
  readonly url?: string;
  /** File or URL of an OpenAPI document. */
  readonly openapi?: string;
  /** File or URL of an AsyncAPI document. */
  readonly asyncapi?: string;
  readonly samplePath?: string;
  readonly scheme?: string;
  /** Default: `conform.yaml` for a document where there is no config yet, else the usual one. */
  readonly config?: string;
}

/**
 * `conform init`: writes a first service config. Asks only for answers that neither the options nor the OpenAPI document
 * have, and only at a terminal; repeats a question after an invalid answer. States nothing beyond the answers.
 */
export async function init(options: InitOptions): Promise<number> {
  const asker = openAsker(EXAMPLE);
  try {
    const service = await asker.answer(options.service, {
      option: 'service',
      question: 'Name of the service',
      unfit: FIT.service,
    });
    const url = await asker.answer(options.url, {
      option: 'url',
      question: 'Base URL',
      fallback: 'http://127.0.0.1:8080',
      unfit: FIT.url,
    });
    const config = options.config ?? firstConfig(options.openapi ?? options.asyncapi);
    const openapi = await documentOf(options.openapi, service, url, config);
    const asyncapi = await messagesOf(options.asyncapi, service, config);
    const noSample = options.samplePath === undefined ? (openapi?.facts.noSample ?? null) : null;
    if (noSample !== null) process.stderr.write(`${noSample} --sample-path names one.\n`);
    const samplePath =
      noSample !== null || isOfMessagesAlone(options)
        ? null
        : await asker.answer(options.samplePath ?? openapi?.facts.samplePath ?? undefined, {
            option: 'sample-path',
            question: 'Path of a GET that works, such as /v1/orders',
            unfit: FIT.samplePath,
          });
    const { partDemand = null, demand: whole = null } = openapi?.facts ?? {};
    if (partDemand !== null) process.stderr.write(`${partDemand.why}\n`);
    const demand = whole ?? partDemand?.first ?? null;
    const demanded = openapi === null ? undefined : schemeFor({ ...openapi.facts, demand }, options);
    const scheme = chosenScheme(
      await asker.answer(options.scheme ?? demanded?.name, {
        option: 'scheme',
        question: `Scheme (${NAMES.join(', ')})`,
        fallback: SCHEMES[0].name,
        unfit: (text) =>
          schemeNamed(text) === undefined
            ? { problem: 'is no credential scheme', remedy: didYouMean(text, NAMES) }
            : null,
      }),
    );
    const capitals = service.toUpperCase().replaceAll('-', '_');
    const documented = await documentedAnswers(demand, scheme);
    const answers: Record<string, string> = {};
    for (const { option, question, fallback, variable } of scheme.first.asks) {
      answers[option] = await asker.answer(options[camelCase(option)] ?? (documented[option] || undefined), {
        option,
        question,
        fallback: fallback.replace('SERVICE', capitals),
        unfit: variable ? FIT.variable : () => null,
      });
    }
    const besides = Object.fromEntries(
      (openapi?.facts.besides ?? []).map((name) => [name, `${capitals}_${variablePart(name)}`]),
    );
    const headers = Object.fromEntries(
      Object.entries(besides).map(([name, variable]) => [name, `\${env:${variable}}`]),
    );
    const first: FirstService = { service, url, samplePath, scheme, answers, headers, openapi, asyncapi };
    const files = await initService(config, first);
    await writeNewFiles(files);
    process.stdout.write(`${files.map(({ path }) => `wrote ${path}\n`).join('')}${leaveOutReports()}`);
    const ofScheme = scheme.first.asks.flatMap(({ option, variable }) =>
      variable ? [answers[option] ?? ''] : [],
    );
    const variables = [...ofScheme, ...Object.values(besides)];
    const asked = { configDir: config, service, env: process.env, harness: HARNESS };
    if (samplePath !== null) process.stderr.write(`${await firstAnswer(asked)}\n`);
    const unset = variables.filter((name) => !process.env[name]);
    process.stderr.write(nextStep(service, unset, config));
    return 0;
  } finally {
    asker.close();
  }
}

/**
 * The credential scheme for a document's security scheme. If several fit: the one with most options given, then the
 * usual one.
 */
function schemeFor({ demand, open }: FirstFacts, options: InitOptions): Scheme | undefined {
  if (open) return SCHEMES.find((scheme) => scheme.open);
  if (demand === null) return undefined;
  const answered = ({ first }: Scheme) =>
    first.asks.filter(({ option }) => options[camelCase(option)] !== undefined).length;
  const isMeant = (scheme: Scheme) => Number(scheme.isMeant?.(demand) ?? false);
  return SCHEMES.filter((scheme) => scheme.opens(demand, { name: demand.name })).toSorted(
    (a, b) => answered(b) - answered(a) || isMeant(b) - isMeant(a),
  )[0];
}

/** Answers to the questions of a credential scheme, from a security scheme or its OpenID provider. */
async function documentedAnswers(
  demand: SecurityScheme | null,
  { first }: Scheme,
): Promise<Readonly<Record<string, string>>> {
  if (demand === null) return {};
  const { name, tokenUrl, openIdConnectUrl } = demand;
  const asksForTokens = first.asks.some(({ option }) => option === 'token-url');
  return {
    'key-name': name,
    'token-url': tokenUrl || (asksForTokens && openIdConnectUrl ? await discovered(openIdConnectUrl) : ''),
  };
}

/** The token endpoint of an OpenID provider (OpenID Connect Discovery 1.0 §4); '' if unknown. */
async function discovered(url: string): Promise<string> {
  const text = await fetchDocument(url, { proxies: proxiesOf(process.env) }).catch(() => '');
  const endpoint = parseJsonObject(text)?.token_endpoint;
  return typeof endpoint === 'string' ? endpoint : '';
}

/** The document of --openapi; one from a URL is saved next to the config. @throws UsageError when there is none. */
async function documentOf(
  named: string | undefined,
  service: string,
  url: string,
  configDir: string,
): Promise<{ readonly path: string; readonly facts: FirstFacts } | null> {
  if (named === undefined) return null;
  const path = await fileOf('openapi', named, service, configDir);
  const facts = await firstFacts(path, path, new URL(url).pathname);
  if (!('fault' in facts)) return { path, facts };
  throw new UsageError(facts.fault.problem, { place: { file: path }, remedy: facts.fault.remedy });
}

/** Nothing is known of its requests without an upgrade. */
function isOfMessagesAlone({ asyncapi, openapi, samplePath }: InitOptions): boolean {
  return asyncapi !== undefined && openapi === undefined && samplePath === undefined;
}

/** The path of the document of --asyncapi. @throws UsageError if it is none. */
async function messagesOf(
  named: string | undefined,
  service: string,
  configDir: string,
): Promise<string | undefined> {
  if (named === undefined) return undefined;
  const path = await fileOf('asyncapi', named, service, configDir);
  const read = await readAsyncApi(path, { shown: path, configured: undefined, basePath: '' });
  if (!('fault' in read)) return path;
  throw new UsageError(read.fault.problem, { place: { file: path }, remedy: read.fault.remedy });
}

type DocumentOption = 'openapi' | 'asyncapi';

/** Of a document at a URL, the file that it is saved to. */
function fileOf(
  option: DocumentOption,
  named: string,
  service: string,
  configDir: string,
): Promise<string> | string {
  const isAddress = URL.canParse(named) && /^https?:/.test(named);
  return isAddress ? saved(option, named, service, configDir) : named;
}

async function saved(
  option: DocumentOption,
  address: string,
  service: string,
  configDir: string,
): Promise<string> {
  const kind = option === 'openapi' ? 'OpenAPI' : 'AsyncAPI';
  const refuse = (problem: string) =>
    new UsageError(`the ${kind} document ${problem}`, {
      key: option,
      remedy: 'download it, and give the path of the file',
    });
  const text = await fetchDocument(address, { proxies: proxiesOf(process.env) }).catch((error: unknown) => {
    throw refuse(reasonOf(error));
  });
  const folder = join(configFolder(configDir), option);
  const path = join(folder, `${service}.${/^\s*\{/.test(text) ? 'json' : 'yaml'}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, text);
  return path;
}

function firstConfig(document: string | undefined): string {
  const usual = usualConfig();
  return document === undefined || existsSync(usual) ? usual : CONFIG_FILE;
}

/** Reports do not belong in a repository. */
function leaveOutReports(): string {
  if (existsSync('.gitignore')) return '';
  writeFileSync('.gitignore', 'node_modules/\nreports/\n');
  return 'wrote .gitignore\n';
}

const EXAMPLE =
  'for example: conform init --service orders --url https://orders.example --openapi openapi.yaml --key-env ORDERS_API_KEY';

function nextStep(service: string, unset: readonly string[], configDir: string): string {
  const config = configDir === usualConfig() ? '' : ` --config ${configDir}`;
  const plural = unset.length > 1 ? 's' : '';
  const keys =
    unset.length === 0 ? '' : `set the environment variable${plural} ${unset.join(' and ')}, then `;
  return `Next: ${keys}run \`conform run ${service}${config}\`\n`;
}

const NAMES = SCHEMES.map(({ name }) => name);

function chosenScheme(name: string): Scheme {
  const scheme = schemeNamed(name);
  if (scheme !== undefined) return scheme;
  throw new UsageError(`no credential scheme is called ${JSON.stringify(name)}`, {
    remedy: didYouMean(name, NAMES),
  });
}

/** Commander's name for the value of an option. */
function camelCase(option: string): string {
  return option.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
