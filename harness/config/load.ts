import { join } from 'node:path';
import type { Contract } from '../contract/clause.ts';
import { UsageError } from '../exit.ts';
import { buildPlan, buildSafety, buildTimeouts } from './blocks/limits-block.ts';
import { buildTls } from './blocks/tls-block.ts';
import { buildWebhooks } from './blocks/webhooks-block.ts';
import { buildWebSocket } from './blocks/websocket-block.ts';
import { readContract } from './contract/contract-file.ts';
import { type Draft, draftService } from './draft.ts';
import { fillFacts } from './facts.ts';
import { buildOperations } from './operation/operations.ts';
import { withPactOption } from './pact/pact-option.ts';
import { buildPacts } from './pact/pacts-block.ts';
import { buildProvider, staysHere } from './provider/provider.ts';
import { buildCredentials } from './secret/credentials.ts';
import type { ServiceConfig } from './service.ts';
import { asServiceFile } from './service-shape.ts';
import { namedFiles, SHIPPED_CONFIG } from './yaml/catalogue-folder.ts';
import { type LocatedMap, originsOf, readLocated } from './yaml/located.ts';
import { didYouMean } from './yaml/nearest.ts';
import { faultsOf, type Origin, type Origins } from './yaml/origin.ts';
import { overlaid } from './yaml/overlay.ts';

export interface LoadOptions {
  /** Folder with `services/` and, where the user has contracts of their own, `contracts/`. */
  readonly configDir: string;
  /** Names of the services to load; all of the folder when empty or not given. */
  readonly services?: readonly string[] | undefined;
  readonly environment?: string | undefined;
  /** Takes the place of the provider of the one service that is loaded. */
  readonly providerUrl?: string | undefined;
  /** Files, folders and URLs of pacts, relative to the working folder, in place of the configured ones. */
  readonly pacts?: readonly string[] | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** How long a `${exec:…}` may take, in ms. */
  readonly execTimeoutMs?: number | undefined;
}

export interface LoadedService {
  readonly config: ServiceConfig;
  /** Dotted config key to the origin of its value. */
  readonly origins: Origins;
  /** The service file. */
  readonly file: string;
}

export interface LoadedServices {
  readonly configDir: string;
  readonly environment: string | null;
  readonly services: readonly LoadedService[];
}

const EXEC_TIMEOUT_MS = 10_000;

/**
 * Reads, overlays and validates the services of a config folder, in the order asked for, else by name. Sends nothing.
 *
 * @throws UsageError at the first thing that is wrong, naming file:line:column, key and remedy.
 */
export async function loadServices(options: LoadOptions): Promise<LoadedServices> {
  const { configDir, environment } = options;
  const folder = join(configDir, 'services');
  const files = await namedFiles(folder);
  if (files.size === 0) {
    throw new UsageError('there is no service here', {
      place: { file: folder },
      remedy: 'name another folder with --config, or let `conform init` write a first service',
    });
  }
  const asked = options.services ?? [];
  const wanted = asked.length > 0 ? [...new Set(asked)] : [...files.keys()];
  if (options.providerUrl !== undefined && wanted.length !== 1) {
    throw new UsageError(`--provider-url is for one service, not for ${wanted.length}`, {
      remedy: `name the service: ${wanted.join(', ')}`,
    });
  }
  const contracts = contractFinder(configDir);
  const services: LoadedService[] = [];
  for (const name of wanted) {
    const file = files.get(name);
    if (file === undefined) {
      throw new UsageError(`there is no service ${JSON.stringify(name)} in ${folder}`, {
        remedy: didYouMean(name, [...files.keys()]),
      });
    }
    services.push(await loadService(name, file, contracts, options));
  }
  return { configDir, environment: environment ?? null, services };
}

async function loadService(
  name: string,
  file: string,
  findContract: FindContract,
  options: LoadOptions,
): Promise<LoadedService> {
  const tree = await readLocated(file);
  const written = asServiceFile(tree);
  if (written.service !== name) {
    throw faultsOf(originsOf(tree))(
      'service',
      `is not the name of this file, which is ${JSON.stringify(name)}`,
      `name it ${name}, or rename the file`,
    );
  }
  const environment = options.environment ?? null;
  const effective = withPactOption(
    withProviderUrl(overlaid(tree, name, environment), options.providerUrl),
    options.pacts ?? [],
  );
  const reading = { env: options.env, execTimeoutMs: options.execTimeoutMs ?? EXEC_TIMEOUT_MS };
  const draft = await draftService(effective, file, reading, asServiceFile);
  const contract = await findContract(draft);
  const config = await buildConfig(draft, contract, environment, options.configDir);
  return { config, origins: draft.origins, file };
}

async function buildConfig(
  draft: Draft,
  contract: Contract,
  environment: string | null,
  configDir: string,
): Promise<ServiceConfig> {
  const provider = await buildProvider(draft);
  const plan = buildPlan(draft, contract);
  const { operations, definitions } = await buildOperations(draft, provider);
  const websocket = await buildWebSocket(draft);
  const safety = buildSafety(draft, provider, plan, operations);
  const timeouts = buildTimeouts(draft);
  const pacts = await buildPacts(draft, configDir);
  const tls = await buildTls(draft);
  // Last, so that no secret is fetched for a config that is wrong anyway.
  const credentials = await buildCredentials(draft, staysHere(provider));
  const webhooks = await buildWebhooks(draft, staysHere(provider));
  return {
    service: draft.blocks.service,
    environment,
    contract,
    provider,
    credentials,
    plan,
    operations,
    definitions,
    websocket,
    ...(webhooks ? { webhooks } : {}),
    ...(tls ? { tls } : {}),
    ...(pacts ? { pacts } : {}),
    safety,
    timeouts,
    facts: fillFacts(draft, { plan, credentials, operations, websocket, webhooks, pacts }),
  };
}

function withProviderUrl(tree: LocatedMap, url: string | undefined): LocatedMap {
  if (url === undefined) return tree;
  const origin: Origin = { kind: 'option', option: '--provider-url' };
  const value = { kind: 'scalar', origin, value: url } as const;
  const provider = { kind: 'map', origin, entries: new Map([['url', { keyPlace: null, value }]]) } as const;
  return { ...tree, entries: new Map(tree.entries).set('provider', { keyPlace: null, value: provider }) };
}

type FindContract = (draft: Draft) => Promise<Contract>;

/** A contract beside the user's config comes before a shipped one of the same name. */
function contractFinder(configDir: string): FindContract {
  const read = new Map<string, Promise<Contract>>();
  return async ({ blocks, faultAt }) => {
    const name = blocks.contract;
    const own = await namedFiles(join(configDir, 'contracts'));
    const shipped = await namedFiles(join(SHIPPED_CONFIG, 'contracts'));
    const path = own.get(name) ?? shipped.get(name);
    if (path === undefined) {
      const known = [...new Set([...own.keys(), ...shipped.keys()])];
      throw faultAt('contract', `there is no contract ${JSON.stringify(name)}`, didYouMean(name, known));
    }
    const contract = read.get(path) ?? readContract(path, name);
    read.set(path, contract);
    return contract;
  };
}
