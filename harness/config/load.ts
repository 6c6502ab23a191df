import { dirname, join, resolve } from 'node:path';
import type { Contract } from '../base/clause.ts';
import { UsageError } from '../base/exit.ts';
import { proxiesOf } from '../wire/socket/proxies.ts';
import { buildMessages } from './asyncapi/asyncapi.ts';
import { ACCEPTED, type AcceptedObservation, KNOWN, type KnownFailure } from './baseline.ts';
import { ALLOWANCES, type Allowance } from './blocks/allowances.ts';
import { buildCredentials } from './blocks/credentials.ts';
import { buildDeployedVersion } from './blocks/deployed-version.ts';
import { fillFacts } from './blocks/facts.ts';
import { buildHeaders } from './blocks/headers.ts';
import { planOf, safetyOf } from './blocks/limits.ts';
import { responseTimeOf } from './blocks/response-time.ts';
import { buildSignatures } from './blocks/signatures.ts';
import { buildTls } from './blocks/tls.ts';
import { buildWebhooks } from './blocks/webhooks.ts';
import { buildWebSocket } from './blocks/websocket.ts';
import { readContract } from './contract.ts';
import { Draft, withReferences } from './draft/draft.ts';
import { Consequence, Faults } from './draft/faults.ts';
import { overlaid } from './draft/overlay.ts';
import type { StandIns } from './draft/reference.ts';
import { readAway } from './draft/secret.ts';
import { contractIn, serviceIn } from './one-file.ts';
import { chooseOperations } from './operation/choice.ts';
import { buildOperations } from './operation/operations.ts';
import { operationsBlock } from './operation/written.ts';
import { buildOwnChecks } from './own/own-checks-block.ts';
import { buildPacts, withPactOption } from './pact/pacts-block.ts';
import { buildProvider, type ProviderConfig, staysHere } from './provider/provider.ts';
import { SERVICE_BLOCKS, type ServiceConfig, serviceFaults } from './service.ts';
import { type Loaded, loaded } from './shape/loaded.ts';
import { isOneFile, serviceFiles, servicesPlace } from './yaml/config-place.ts';
import {
  type Located,
  type LocatedMap,
  located,
  misnamed,
  originsOf,
  plainOf,
  readLocated,
  withEntry,
} from './yaml/located.ts';
import { didYouMean } from './yaml/nearest.ts';
import type { Origins } from './yaml/origin.ts';
import { namedFiles, SHIPPED_CONFIG } from './yaml/read-text.ts';

export interface LoadOptions {
  /** Folder with `services/` and `contracts/`, or a file such as `conform.yaml`. */
  readonly configDir: string;
  /** Names of the services to load; all of the folder when empty or not given. */
  readonly services?: readonly string[] | undefined;
  readonly environment?: string | undefined;
  /** Takes the place of the provider of the one service that is loaded. */
  readonly providerUrl?: string | undefined;
  /** What `safety:` allows for this time, whatever the files say. */
  readonly allow?: readonly Allowance[] | undefined;
  /** Patterns of the operations that are called, or with `!` left out; all if none is given. */
  readonly operations?: readonly string[] | undefined;
  /** The rule set that all of them are held to, in place of their own. */
  readonly rules?: string | undefined;
  /** Longest wait for a response in place of the configured one, such as `10s`. */
  readonly timeout?: string | undefined;
  /** Services are asked over HTTP/2. */
  readonly http2?: boolean | undefined;
  /** Files, folders and URLs of pacts, relative to the working folder, in place of the configured ones. */
  readonly pacts?: readonly string[] | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** How long a `${exec:…}` may take, in ms. */
  readonly execTimeoutMs?: number | undefined;
  /** Where a record is judged: which secrets a service had. Nothing of it has to be here. */
  readonly standIns?: ((service: string) => StandIns) | undefined;
}

export interface LoadedService {
  readonly config: ServiceConfig;
  /** The effective config: it can be loaded again, but for its secrets. */
  readonly document: LocatedMap;
  /** Dotted config key to the origin of its value. */
  readonly origins: Origins;
  readonly file: string;
  readonly known: readonly KnownFailure[];
  readonly accepted: readonly AcceptedObservation[];
}

export interface LoadedServices {
  readonly configDir: string;
  readonly environment: string | null;
  readonly services: readonly LoadedService[];
}

const EXEC_TIMEOUT_MS = 10_000;

/** In the order asked for, else by name. Sends nothing. @throws UsageError with all faults of all files. */
export async function loadServices(options: LoadOptions): Promise<LoadedServices> {
  const { configDir, environment } = options;
  const folder = servicesPlace(configDir);
  const files = await serviceFiles(configDir);
  if (files.size === 0) {
    const remedy = 'name another folder with --config, or let `conform init` write a first service';
    throw new UsageError('there is no service here', { place: { file: folder }, remedy });
  }
  const asked = options.services ?? [];
  const wanted = asked.length > 0 ? [...new Set(asked)] : [...files.keys()];
  if (options.providerUrl !== undefined && wanted.length !== 1) {
    const remedy = `name the service: ${wanted.join(', ')}`;
    throw new UsageError(`--url is for one service, not for ${wanted.length}`, { remedy });
  }
  const contracts = isOneFile(configDir) ? null : contractFinder(configDir);
  const all = new Faults();
  const services: LoadedService[] = [];
  const setting = { files, environment: environment ?? null };
  const known = await all.attempt(() => KNOWN.read(configDir, setting));
  const accepted = await all.attempt(() => ACCEPTED.read(configDir, setting));
  for (const name of wanted) {
    const file = files.get(name);
    if (file === undefined) {
      const remedy = didYouMean(name, [...files.keys()]);
      all.add(new UsageError(`there is no service ${JSON.stringify(name)} in ${folder}`, { remedy }));
      continue;
    }
    // A fault of one service does not keep another from being built.
    const loading = await all.attempt(() => loadService(name, file, contracts, options));
    const kept = { known: known?.get(name) ?? [], accepted: accepted?.get(name) ?? [] };
    if (loading) services.push({ ...loading, ...kept });
  }
  all.hold();
  const { operations: patterns = [] } = options;
  const configs = chooseOperations(
    services.map(({ config }) => config),
    patterns,
  );
  const chosen = services.map((each, at) => ({ ...each, config: configs[at] ?? each.config }));
  return { configDir, environment: environment ?? null, services: patterns.length > 0 ? chosen : services };
}

async function loadService(
  name: string,
  file: string,
  contracts: FindContract | null,
  options: LoadOptions,
): Promise<Omit<LoadedService, 'known' | 'accepted'>> {
  const faults = new Faults();
  const written = await readLocated(file);
  const tree = contracts === null ? serviceIn(written, name, faults) : written;
  if (contracts !== null) faults.add(...serviceFaults(tree));
  const findContract: FindContract = contracts ?? ((...of) => contractIn(written, ...of));
  if (!faults.concern('service')) faults.add(...misnamed(tree, 'service', name));
  const environment = options.environment ?? null;
  const merged = faults.try(() => overlaid(tree, SERVICE_BLOCKS, name, environment));
  if (merged) {
    const effective = withPactOption(withOptions(merged, options), options.pacts ?? []);
    const scope = {
      env: options.env,
      execTimeoutMs: options.execTimeoutMs ?? EXEC_TIMEOUT_MS,
      standIns: options.standIns?.(name),
      folder: dirname(resolve(file)),
    };
    const named = { ...scope, service: name };
    const { tree: read, hidden } = await withReferences(effective, SERVICE_BLOCKS, named, faults);
    faults.add(...serviceFaults(read));
    const draft = new Draft(name, read, scope, faults);
    const references = hidden.flatMap((each) => readAway(draft, each));
    const build = () => buildService(draft, findContract, environment, options.configDir);
    const built = await faults.attempt(build);
    if (built && faults.all.length === 0) {
      const document = draft.document(SERVICE_BLOCKS);
      const config = { ...built, ...(references.length > 0 && { references }) };
      return { config, document, origins: originsOf(document), file };
    }
  }
  faults.hold();
  throw new Consequence();
}

async function buildService(
  draft: Draft,
  findContract: FindContract,
  environment: string | null,
  configDir: string,
): Promise<ServiceConfig> {
  const { faults } = draft;
  const blocks = loaded(SERVICE_BLOCKS, plainOf(draft.tree), draft);
  /** Builds a part of the config, unless its block has a fault. */
  const part = <T>(key: keyof typeof blocks, build: () => T | Promise<T>): Promise<() => T> =>
    faults.part(() => {
      if (faults.concern(key)) throw new Consequence();
      return build();
    });
  const provider = await part('provider', () => buildProvider(draft, blocks.provider));
  const contract = await part('contract', () => findContract(draft, blocks, provider));
  const plan = await part('plan', () => planOf(draft, blocks.plan, contract()));
  const operations = await part('operations', () => buildOperations(draft, blocks, provider()));
  const messages = await part('asyncapi', () => buildMessages(draft, blocks, provider()));
  const websocket = await part('websocket', () => buildWebSocket(draft, blocks.websocket, messages()));
  const calls = () => operations().operations;
  const safety = await part('safety', () => safetyOf(draft, blocks.safety, provider(), plan(), calls()));
  const named = { contract: blocks.contract, configDir };
  const pacts = await part('pacts', () => buildPacts(draft, blocks.pacts, named));
  const own = await part('checks', () => buildOwnChecks(draft, blocks.checks, configDir));
  const tls = await part('tls', () => buildTls(draft, blocks.tls));
  const proxies = await faults.part(() => proxiesOf(draft.scope.env));
  // Last, so that no command is run for a secret of a config that is wrong anyway.
  const isHere = () => staysHere(provider());
  const credentials = await part('credentials', () =>
    buildCredentials(draft, blocks.credentials, isHere(), tls()),
  );
  const headers = await part('headers', () => buildHeaders(draft, blocks.headers, blocks.credentials));
  const webhooks = await part('webhooks', () => buildWebhooks(draft, blocks.webhooks, isHere()));
  const signatures = await part('signatures', () => buildSignatures(draft, blocks.signatures, isHere()));
  const { deployedVersion: block } = blocks;
  const deployedVersion = await part('deployedVersion', () => buildDeployedVersion(draft, block));
  const responseTime = await part('maxResponse', () => responseTimeOf(draft, blocks.maxResponse, calls()));
  faults.hold();
  const filled = {
    plan: plan(),
    credentials: credentials(),
    operations: calls(),
    websocket: websocket(),
    ...ifThere('webhooks', webhooks()),
    ...ifThere('pacts', pacts()),
  };
  const remarks = [...operations().remarks, ...(messages()?.remarks ?? [])];
  const operationBlocks = { ...blocks, operations: operationsBlock(blocks.operations).calls };
  return {
    service: draft.service,
    environment,
    contract: contract(),
    provider: provider(),
    ...filled,
    ...(operations().leftOut.length > 0 && { leftOut: operations().leftOut }),
    definitions: operations().definitions,
    ...ifThere('coverage', blocks.coverage ?? null),
    ...(operations().webhooks.length > 0 && { documentedWebhooks: operations().webhooks }),
    ...(remarks.length > 0 && { documentRemarks: remarks }),
    ...ifThere('deployedVersion', deployedVersion()),
    ...ifThere('signatures', signatures()),
    headers: headers(),
    ...ifThere('tls', tls()),
    ...(blocks.http2 && { http2: true }),
    proxies: proxies(),
    safety: safety(),
    timeouts: blocks.timeouts,
    rules: blocks.rules,
    ...(own().length > 0 && { ownChecks: own() }),
    facts: fillFacts(draft, operationBlocks, { ...filled, responseTime: responseTime() }),
  };
}

/** An entry of the config, where there is something to enter. */
function ifThere<K extends keyof ServiceConfig>(key: K, value: ServiceConfig[K] | null) {
  return (value ? { [key]: value } : {}) as { readonly [Key in K]?: NonNullable<ServiceConfig[K]> };
}

/** What options of the command line say in place of the file. */
function withOptions(tree: LocatedMap, options: LoadOptions): LocatedMap {
  const { providerUrl: url, rules, timeout, http2, allow = [] } = options;
  const allowed = allow.map((each) => ['--allow', ['safety', ALLOWANCES[each]], true] as const);
  return [
    ['--url', ['provider'], url && { url }] as const,
    ['--rules', ['rules'], rules] as const,
    ['--timeout', ['timeouts', 'response'], timeout] as const,
    ['--http2', ['http2'], http2 || undefined] as const,
    ...allowed,
  ].reduce((all, [option, keys, value]) => {
    if (value === undefined) return all;
    return withValue(all, keys, located(value, { kind: 'option', option }));
  }, tree);
}

/** With a value at the key; blocks that are not there are added. */
function withValue(tree: LocatedMap, keys: readonly string[], value: Located): LocatedMap {
  const [key = '', ...inner] = keys;
  if (inner.length === 0) return withEntry(tree, key, value);
  const known = tree.entries.get(key)?.value;
  const block: LocatedMap = { kind: 'map', origin: value.origin, entries: new Map() };
  return withEntry(tree, key, withValue(known?.kind === 'map' ? known : block, inner, value));
}

type FindContract = (
  draft: Draft,
  blocks: Loaded<typeof SERVICE_BLOCKS>,
  provider: () => ProviderConfig,
) => Promise<Contract>;

/** A contract beside the user's config comes before a shipped one of the same name. */
function contractFinder(configDir: string): FindContract {
  const read = new Map<string, Promise<Contract>>();
  return async ({ faultAt }, { contract: name }) => {
    const own = await namedFiles(join(configDir, 'contracts'));
    const shipped = await namedFiles(join(SHIPPED_CONFIG, 'contracts'));
    const path = own.get(name) ?? shipped.get(name);
    if (path === undefined) {
      const known = [...new Set([...own.keys(), ...shipped.keys()])];
      throw faultAt('contract', `there is no contract ${JSON.stringify(name)}`, didYouMean(name, known));
    }
    const found = read.get(path) ?? readContract(path, name);
    read.set(path, found);
    return found;
  };
}
