import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../base/exit.ts';
import type { SecurityScheme } from '../../config/credential/scheme.ts';
import { none } from '../../config/credential/schemes.ts';
import { type FirstService, initService, writeNewFiles } from '../../config/written/first-service.ts';
import { shellWord } from '../../wire/forms/shell-word.ts';
import { missingOf, type ReadHeaders, readHeaders } from './headers.ts';
import { type RunTarget, readTarget } from './read-target.ts';

/** A service without a config: `conform run openapi.yaml --url http://127.0.0.1:8080`. */
export interface Unconfigured {
  /** A temporary folder with a config for this run. */
  readonly configDir: string;
  readonly service: string;
  /** The rule set, if the command line names none. */
  readonly rules: string | undefined;
  /** The environment, with the secrets of the command line. No file has them. */
  readonly env: NodeJS.ProcessEnv;
  /** The command line of the same run, without the headers. */
  readonly again: string;
  /** The command line that writes a config to keep; null if `conform init` does not write such a config. */
  readonly keep: string | null;
  /** Removes the folder. */
  close(): void;
}

export interface UnconfiguredOptions {
  readonly url?: string | undefined;
  readonly header?: readonly string[] | undefined;
  readonly samplePath?: string | undefined;
}

/** Sends nothing to the service, but fetches a document at a URL. @throws UsageError if the target cannot be run. */
export async function unconfigured(
  target: string,
  options: UnconfiguredOptions,
  env: NodeJS.ProcessEnv,
): Promise<Unconfigured> {
  const folder = mkdtempSync(join(tmpdir(), 'conform-'));
  const close = () => rmSync(folder, { recursive: true, force: true });
  try {
    const subject = await readTarget(target, options.url, { folder, env });
    const variable = variableOf(subject.service);
    const { demand = null, besides = [] } = subject.openapi?.facts ?? {};
    const headers = await readHeaders(options.header ?? [], demand, variable, besides);
    const first = firstServiceOf(subject, headers, options);
    const configDir = join(folder, 'config');
    await writeNewFiles(await initService(configDir, first));
    const isWebSocket = subject.webSocketPath !== null && subject.asyncapi === null;
    return {
      configDir,
      service: first.service,
      rules: isWebSocket ? 'server' : undefined,
      env: { ...env, ...headers.credential?.secrets, ...headers.secrets },
      again: commandLine(
        'run',
        target,
        ...optionsOf({ '--url': options.url, '--sample-path': options.samplePath }),
      ),
      keep: subject.webSocketPath === null ? keepLine(subject, first) : null,
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

function firstServiceOf(
  { service, url, openapi, asyncapi, samplePath, webSocketPath }: RunTarget,
  { credential, fixed }: ReadHeaders,
  options: UnconfiguredOptions,
): FirstService {
  const demand = openapi?.facts.demand ?? null;
  if (credential === null && demand !== null)
    throw new UsageError('the document asks for a credential', { remedy: headerFor(demand) });
  const lacking = missingOf(openapi?.facts.besides ?? [], fixed);
  if (lacking !== undefined)
    throw new UsageError(`the document asks for the header ${lacking} as well`, {
      remedy: `add -H '${lacking}: …'`,
    });
  const path = options.samplePath ?? samplePath;
  if (path === null && webSocketPath === null && asyncapi === null)
    throw new UsageError('no GET of the document can be called without input', {
      remedy: 'add --sample-path with the path of one that works, such as /v1/orders/42',
    });
  return {
    service,
    url,
    samplePath: path,
    ...(webSocketPath === null ? {} : { webSocketPath }),
    scheme: credential?.scheme ?? none,
    answers: credential?.answers ?? {},
    headers: fixed,
    ...(asyncapi !== null && { asyncapi }),
    openapi,
  };
}

/** How to give what a security scheme asks for. */
function headerFor({ type, in: place, name, scheme }: SecurityScheme): string {
  if (type !== 'apiKey') return `add -H 'Authorization: ${scheme === 'basic' ? 'Basic' : 'Bearer'} …'`;
  if (place === 'header') return `add -H '${name}: …'`;
  return place === 'cookie' ? `add -H 'Cookie: ${name}=…'` : 'write a config with `conform init`';
}

function variableOf(service: string): string {
  const name = /^\d/.test(service) ? `service-${service}` : service;
  return `${name.toUpperCase().replaceAll('-', '_')}_API_KEY`;
}

function keepLine({ target }: RunTarget, first: FirstService): string {
  const { service, url, samplePath, scheme, answers, openapi, asyncapi } = first;
  return commandLine(
    'init',
    ...optionsOf({ '--service': service, '--url': url, '--scheme': scheme.name }),
    ...scheme.first.asks.flatMap(({ option }) => [`--${option}`, answers[option] ?? '']),
    ...documentOptions(),
  );
  function documentOptions(): readonly string[] {
    if (asyncapi !== undefined) return ['--asyncapi', target];
    return openapi === null ? ['--sample-path', samplePath ?? '/'] : ['--openapi', target];
  }
}

function optionsOf(options: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(options).flatMap(([option, value]) => (value === undefined ? [] : [option, value]));
}

function commandLine(...words: readonly string[]): string {
  return ['conform', ...words.map(shellWord)].join(' ');
}
