import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { UsageError } from '../../base/exit.ts';
import { filledIn } from '../../base/finding.ts';
import { isAsyncApi, readAsyncApi } from '../../config/asyncapi/asyncapi.ts';
import type { Credentials } from '../../config/credential/scheme.ts';
import { none } from '../../config/credential/schemes.ts';
import { loadServices } from '../../config/load.ts';
import type { ReferenceName } from '../../config/service.ts';
import { parseDuration } from '../../config/shape/text-forms.ts';
import { serviceFiles } from '../../config/yaml/config-place.ts';
import { didYouMean } from '../../config/yaml/nearest.ts';
import { settingNamed } from '../../proof/settings.ts';
import { listDefects, listVariants } from '../../reference/catalogue.ts';
import { exampleCredentials, howToCall } from '../../reference/how-to-call.ts';
import { MOCK_DEVIATIONS } from '../../reference/mock/deviations.ts';
import { startMock } from '../../reference/mock/mock.ts';
import { type RunningReference, startReference } from '../../reference/reference.ts';
import { counted } from '../../report/results/tally.ts';
import { onSignal } from '../process.ts';
import { documentedService } from '../unconfigured/documented-service.ts';

export interface ServeOptions {
  readonly port: number;
  /** `true` without a name: list them. */
  readonly defect?: true | readonly string[];
  readonly variant?: string;
  readonly plan?: string;
  readonly config: string;
}

interface ServedPlan {
  readonly requests: number;
  readonly windowMs: number;
}

const REFERENCES: readonly ReferenceName[] = ['search', 'messaging', 'realtime'];
/** The documented limits; realtime's is not shown. */
const DOCUMENTED: Readonly<Record<ReferenceName, ServedPlan | null>> = {
  search: { requests: 100, windowMs: 60_000 },
  messaging: { requests: 1000, windowMs: 60_000 },
  realtime: null,
};

/** `conform serve`: a reference provider until Ctrl-C or SIGTERM. */
export async function serve(contract: string | undefined, options: ServeOptions): Promise<number> {
  if (contract !== undefined && isDocument(contract)) return serveDocument(contract, options);
  const service = contract === undefined ? null : referenceNamed(contract);
  if (options.defect === true) return listFaults(service);
  if (service === null) {
    throw new UsageError('no reference provider is named', {
      remedy: `name one of ${REFERENCES.join(', ')}`,
    });
  }
  const configured = await configuredReference(service, options.config);
  const credentials = configured?.credentials ?? exampleCredentials(service);
  const provider = await startReference({
    service,
    credentials,
    plan: options.plan === undefined ? (configured?.plan ?? DOCUMENTED[service]) : quotaOf(options.plan),
    defects: options.defect ?? [],
    variant: options.variant ?? null,
    port: options.port,
  });
  // Before its address is printed, so that it always ends in good order.
  const ended = new Promise<void>((resolve) => void onSignal(resolve));
  const lines = [howToCall(provider, credentials), ...settingsFor(provider), 'Ctrl-C ends it.'];
  process.stdout.write(`${lines.join('\n')}\n`);
  await ended;
  await provider.stop();
  return 0;
}

function isDocument(name: string): boolean {
  return REFERENCES.every((known) => known !== name) && existsSync(name);
}

/** A mock of the service that an OpenAPI document describes. */
async function serveDocument(path: string, { port, defect, variant, plan }: ServeOptions): Promise<number> {
  if (variant !== undefined || plan !== undefined) {
    const key = variant === undefined ? '--plan' : '--variant';
    throw new UsageError('is for the built-in services', { key, remedy: `leave out ${key}` });
  }
  if (defect === true) {
    process.stdout.write(`${MOCK_DEVIATIONS.map(({ name, cause }) => `${name}  ${cause}`).join('\n')}\n`);
    return 0;
  }
  const [deviation, ...more] = defect ?? [];
  if (more.length > 0)
    throw new UsageError('a document is served with one fault', { key: '--defect', remedy: 'name one' });
  if (isAsyncApi(await readFile(path, 'utf8'))) return serveMessages(path, port);
  const { config, env, close } = await documentedService(path);
  // The folder is not needed any more.
  close();
  const mock = await startMock({ config, port, deviation: deviation ?? null });
  const ended = new Promise<void>((resolve) => void onSignal(resolve));
  const callable = config.operations.filter(
    ({ uncallable, awaits }) => uncallable === null || awaits.length > 0,
  );
  const key = Object.values(env)[0];
  const lines = [
    `${path} at ${mock.url}`,
    `${callable.length} of ${counted(config.operations.length, 'operation')}`,
    ...(key === undefined ? [] : [`The key is ${key} (${config.credentials.scheme.name}).`]),
    'Ctrl-C ends it.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  await ended;
  await mock.stop();
  return 0;
}

/** A mock of the WebSocket that an AsyncAPI document describes. It asks for no credential. */
async function serveMessages(path: string, port: number): Promise<number> {
  const messages = await readAsyncApi(path, { shown: path, configured: { scheme: 'none' }, basePath: '' });
  if ('fault' in messages)
    throw new UsageError(messages.fault.problem, { key: path, remedy: messages.fault.remedy });
  const config = { operations: [], credentials: none.of({}) };
  const mock = await startMock({ config, messages, port });
  const ended = new Promise<void>((resolve) => void onSignal(resolve));
  const address = mock.url.replace('http', 'ws');
  const targets = messages.endpoints.map(({ target }) => `${address}${target}`);
  process.stdout.write(`${[path, ...targets, 'Ctrl-C ends it.'].join('\n')}\n`);
  await ended;
  await mock.stop();
  return 0;
}

/** Settings of the config for deviations that do not show under the shipped one. */
function settingsFor({ service, defects, variant }: RunningReference): readonly string[] {
  const names = [...defects, ...(variant?.split('+') ?? [])];
  return [...listDefects(service), ...listVariants(service)]
    .filter(({ name }) => names.includes(name))
    .flatMap(({ name, setting }) => {
      const words = setting === undefined ? null : settingNamed(setting).words;
      return words === null ? [] : `${name} shows only if config/services/${service}.yaml has ${words}`;
    });
}

/** The user's own config of this reference provider, so that both sides have the same keys. */
async function configuredReference(
  service: ReferenceName,
  configDir: string,
): Promise<{ readonly credentials: Credentials; readonly plan: ServedPlan | null } | null> {
  if (!(await serviceFiles(configDir)).has(service)) return null;
  const { services } = await loadServices({ configDir, services: [service], env: process.env });
  const config = services[0]?.config;
  return config?.provider.kind === 'reference' ? config : null;
}

function referenceNamed(name: string): ReferenceName {
  const found = REFERENCES.find((known) => known === name);
  if (found !== undefined) return found;
  throw new UsageError(`there is no reference provider ${JSON.stringify(name)}`, {
    remedy: didYouMean(name, REFERENCES),
  });
}

function quotaOf(text: string): ServedPlan {
  const [, count, window = ''] = /^(\d{1,7})\/(.+)$/.exec(text) ?? [];
  const windowMs = parseDuration(window);
  const requests = Number(count);
  if (windowMs === null || windowMs === 0 || !(requests > 0)) {
    throw new UsageError(`--plan ${JSON.stringify(text)} is no quota`, { remedy: 'write it like 100/60s' });
  }
  return { requests, windowMs };
}

function listFaults(service: ReferenceName | null): number {
  const of = service ?? undefined;
  const lines = (title: string, all: readonly (readonly [name: string, text: string])[]) => {
    const width = Math.max(...all.map(([name]) => name.length));
    return [title, ...all.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)];
  };
  const text = [
    ...lines(
      'Defects',
      listDefects(of).map(({ name, cause }) => [name, filledIn(cause)]),
    ),
    '',
    ...lines(
      'Conforming variants',
      listVariants(of).map(({ name, summary }) => [name, summary]),
    ),
  ];
  process.stdout.write(`${text.join('\n')}\n`);
  return 0;
}
