import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isLoopback } from '../../base/loopback.ts';
import type { Draft } from '../draft/draft.ts';
import { readSecret } from '../draft/secret.ts';
import { type Fault, flag, list, mapping, needed, orReference, secret, text } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';
import { baseUrl, withoutUser } from '../shape/text-forms.ts';
import { configFolder, isOneFile } from '../yaml/config-place.ts';
import { type LocatedMap, located, withEntry } from '../yaml/located.ts';
import type { Origin } from '../yaml/origin.ts';
import { SHIPPED_CONFIG, shown } from '../yaml/read-text.ts';
import { distinct, isUrl, type PactBroker, type PactsConfig, type StateHandler } from './pacts.ts';
import { readSources } from './read-sources.ts';

/** `remedy`: what to do with a password in it. */
function placeOnTheWeb(text: string, fault: Fault, remedy: string): string {
  const url = URL.parse(text);
  if (url === null) throw fault('is no URL', 'write an http or https URL, or a path');
  return withoutUser(url, fault, remedy).href;
}

function pathOrUrl(text: string, fault: Fault): string {
  if (isUrl(text)) return placeOnTheWeb(text, fault, 'leave it out');
  if (!/^\/(?!\/)[\x21-\x7e]*$/.test(text) || text.includes('#'))
    throw fault('is neither a path nor a URL', 'write a path such as /_states, or an http or https URL');
  return text;
}

const BROKER = mapping(
  'A Pact Broker, or a service that speaks its protocol.',
  {
    expected: `a mapping such as { url: https://broker.example, token: "\${env:PACT_BROKER_TOKEN}" }`,
    nullable: true,
  },
  {
    url: needed(
      text('Its base URL.', { expected: 'an http or https URL', references: 'open', read: baseUrl }),
    ),
    token: secret('Bearer token.'),
    username: text('For basic authentication, with password.'),
    password: secret(),
    selectors: list(
      "Which versions of the consumers' pacts to verify. Default: those of their main branches and those in use.",
      {
        minItems: 1,
        maxItems: 100,
        expected: 'a list of selectors such as [{ mainBranch: true }, { deployedOrReleased: true }]',
      },
      mapping(
        '',
        { minProperties: 1, expected: 'a selector such as { branch: main }' },
        {
          mainBranch: flag('Those of the main branch.'),
          branch: text('Those of this branch.'),
          fallbackBranch: text('Those of this branch, if there is none of the other.'),
          matchingBranch: flag('Those of the branch of the version under test.'),
          tag: text('Those with this tag.'),
          fallbackTag: text('Those with this tag, if there is none of the other.'),
          latest: flag('The latest of them alone.'),
          deployed: flag('Those that are deployed.'),
          released: flag('Those that are released.'),
          deployedOrReleased: flag('Those that are deployed or released.'),
          environment: text('Those in this environment.'),
          consumer: text('Those of this consumer alone.'),
        },
      ),
    ),
    pending: flag('Also verify pacts that the provider has never passed. A mismatch there is no failure.', {
      default: false,
    }),
    wipSince: text('With pending: also verify what the consumers are still working on, from this day on.', {
      pattern: orReference('[0-9]{4}-[0-9]{2}-[0-9]{2}'),
      expected: 'a date such as 2026-01-31',
    }),
    branch: text('Branch of the version under test. pending and matchingBranch need it.'),
  },
);

export const PACTS = mapping(
  'What the consumers of the service expect of it: pact files of specification 1 to 4. Without this block pacts/SERVICE.json or pacts/CONTRACT.json is used, from this config folder or from conform itself.',
  { expected: 'a mapping such as { files: [../pacts] }', nullable: true, def: 'pacts' },
  {
    provider: text('Name of the service in the pacts. Default: the name of its contract.'),
    files: list(
      'Pact files, folders of them (with the folders below), or URLs. Paths are relative to this file.',
      {
        maxItems: 100,
        expected: 'a list of paths and URLs',
        examples: [['../pacts', 'https://ci.example/web-shop-search.json']],
      },
      text('A path or a URL.'),
    ),
    broker: BROKER,
    states: mapping(
      'Sets up the state that an interaction expects: a path of the provider or a URL that gets { action, state, params } by POST, or a command that gets the same as JSON on standard input. Without it no state is set up.',
      {
        expected: 'a mapping such as { url: /_states } or { command: ./set-state.sh }',
        nullable: true,
        replaces: () => true,
      },
      {
        url: text('A path of the provider, or a URL.', { read: pathOrUrl }),
        // A shell reads it, and has `${…}` of its own.
        command: text(
          'A line for the shell, run in the folder of this file. It succeeds with exit code 0 and may print a JSON object of values.',
          { references: 'raw' },
        ),
      },
    ),
    messages: text(
      'A path of the provider or a URL that answers { description, providerStates } by POST with the message that the provider would send.',
      { default: null, read: pathOrUrl },
    ),
  },
);

type PactsBlock = Loaded<typeof PACTS>;

/** The configured pacts, else those in `pacts/`, else shipped ones; null for none. @throws UsageError. */
export async function buildPacts(
  draft: Draft,
  block: PactsBlock | undefined,
  { contract, configDir }: { readonly contract: string; readonly configDir: string },
): Promise<PactsConfig | null> {
  const named = block?.files !== undefined || block?.broker !== undefined;
  const fallback = named ? null : defaultPact(configDir, draft.service, contract);
  if (!named && fallback === null) {
    if (block === undefined) return null;
    const problem =
      'names neither files nor a broker, and there is no pact of that name in the pacts/ of the config';
    throw draft.faultAt('pacts', problem, 'add `files:` or `broker:`');
  }
  const provider = block?.provider ?? contract;
  if (block?.provider === undefined) draft.show('pacts.provider', provider);
  if (fallback !== null) draft.show('pacts.files', [relative(draft.scope.folder, resolve(fallback))]);
  const files = fallback === null ? resolvedFiles(draft, block?.files) : [fallback];
  const sources = files.map((path, index) => ({ path, key: `pacts.files.${index}` }));
  const local = sources.filter(({ path }) => !isUrl(path));
  const read = await readSources(local, provider, draft);
  const broker = block?.broker ? await brokerOf(draft, block.broker) : null;
  return {
    provider,
    files,
    broker,
    states: statesOf(draft, block?.states),
    messages: block?.messages ?? null,
    interactions: distinct(read.interactions),
    leftOut: read.leftOut,
    unread: [...files.filter(isUrl), ...(broker ? [broker.url] : [])].map(
      (source) => `the pacts of ${source} are fetched when a run starts`,
    ),
  };
}

/** Files are relative to the config file that names them; an option names them from the working folder. */
function resolvedFiles(draft: Draft, files: readonly string[] | undefined): readonly string[] {
  if (files === undefined) return [];
  const { faultAt } = draft;
  if (files.length === 0) throw faultAt('pacts.files', 'is empty', 'name a file, a folder or a URL');
  return files.map((file, index) => {
    const key = `pacts.files.${index}`;
    if (files.indexOf(file) !== index) throw faultAt(key, 'stands here for the second time', 'name it once');
    if (!isUrl(file)) return shown(resolve(draft.scope.folder, file));
    return placeOnTheWeb(file, draft.faultFor(key), 'fetch it from a broker: `broker: { url, token }`');
  });
}

async function brokerOf(draft: Draft, block: BrokerBlock): Promise<PactBroker> {
  const { faultAt } = draft;
  const { url, branch = null, pending, wipSince = null, selectors } = block;
  if (pending && branch === null)
    throw faultAt('pacts.broker.pending', 'needs the branch of the provider', 'add `branch:`');
  if (wipSince !== null && !pending)
    throw faultAt('pacts.broker.wipSince', 'is for pending pacts', 'add `pending: true`');
  if (selectors === undefined) draft.show('pacts.broker.selectors', DEFAULT_SELECTORS);
  const matching = branch === null ? (selectors?.findIndex((each) => each.matchingBranch) ?? -1) : -1;
  if (matching !== -1) {
    const at = `pacts.broker.selectors.${matching}.matchingBranch`;
    throw faultAt(at, 'needs the branch of the provider', 'add `branch:`');
  }
  return {
    url,
    credentials: await brokerCredentials(draft, block, isLoopback(new URL(url).hostname)),
    selectors: selectors ?? DEFAULT_SELECTORS,
    pending,
    wipSince,
    branch,
  };
}

type BrokerBlock = Loaded<typeof BROKER>;

/** What Pact's documentation advises: what consumers are working on, and what of theirs is in use. */
const DEFAULT_SELECTORS = [{ mainBranch: true }, { deployedOrReleased: true }];

async function brokerCredentials(
  draft: Draft,
  { token, username, password }: BrokerBlock,
  literalAllowed: boolean,
): Promise<PactBroker['credentials']> {
  const { faultAt } = draft;
  const secret = (key: string, text: string) =>
    readSecret(draft, `pacts.broker.${key}`, text, { literalAllowed, optional: true });
  if (token !== undefined) {
    if (username !== undefined || password !== undefined)
      throw faultAt('pacts.broker', 'names both a token and a user', 'keep one of the two');
    const value = await secret('token', token);
    return value && { kind: 'token', token: value };
  }
  if (username === undefined && password === undefined) return null;
  if (username === undefined || password === undefined) {
    const missing = username === undefined ? 'username' : 'password';
    throw faultAt(`pacts.broker.${missing}`, 'is missing', `add \`${missing}:\``);
  }
  const value = await secret('password', password);
  return value && { kind: 'basic', username, password: value };
}

function statesOf(draft: Draft, states: PactsBlock['states']): StateHandler | null {
  if (!states) return null;
  const { url, command } = states;
  if (url !== undefined && command !== undefined)
    throw draft.faultAt('pacts.states', 'names both a url and a command', 'keep one of the two');
  if (url !== undefined) return { kind: 'url', url };
  if (command !== undefined) return { kind: 'command', command, folder: draft.scope.folder };
  throw draft.faultAt('pacts.states', 'names neither a url nor a command', 'add `url:` or `command:`');
}

/** The pact that lies beside the user's config for the service, or for its contract; else the shipped one. */
function defaultPact(configDir: string, service: string, contract: string): string | null {
  // A contract of the user's own that has a shipped one's name is another contract, with other consumers.
  const folder = configFolder(configDir);
  const contracts = join(folder, 'contracts');
  const isOwn =
    isOneFile(configDir) || ['yaml', 'yml'].some((end) => existsSync(join(contracts, `${contract}.${end}`)));
  const places = [
    join(folder, 'pacts', `${service}.json`),
    join(folder, 'pacts', `${contract}.json`),
    ...(isOwn ? [] : [join(SHIPPED_CONFIG, 'pacts', `${contract}.json`)]),
  ];
  const found = places.find((path) => existsSync(path));
  return found === undefined ? null : shown(found);
}

/** The service with the pacts that the command line names in place of its configured files and broker. */
export function withPactOption(tree: LocatedMap, pacts: readonly string[]): LocatedMap {
  if (pacts.length === 0) return tree;
  const origin: Origin = { kind: 'option', option: '--pact' };
  const paths = pacts.map((pact) => (isUrl(pact) ? pact : resolve(pact)));
  const before = tree.entries.get('pacts')?.value;
  const block = new Map(before?.kind === 'map' ? before.entries : []);
  block.delete('broker');
  block.set('files', { keyPlace: null, value: located(paths, origin) });
  return withEntry(tree, 'pacts', { kind: 'map', origin, entries: block });
}
