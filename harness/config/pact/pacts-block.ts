import { resolve } from 'node:path';
import { baseUrl } from '../blocks/base-url.ts';
import { isLoopback } from '../blocks/loopback.ts';
import type { Draft } from '../draft.ts';
import { readSecret } from '../secret/secret-value.ts';
import type { BrokerBlock, PactsBlock } from '../service-file.ts';
import { shown } from '../yaml/catalogue-folder.ts';
import { defaultPact } from './default-pacts.ts';
import { distinct } from './interaction.ts';
import { isUrl, type PactBroker, type PactsConfig, type StateHandler } from './pacts.ts';
import { readSources } from './read-sources.ts';

/**
 * The configured pacts, those in files read and held to be pacts; without any the one that lies in `pacts/` of the
 * config, else a shipped one. null when there is none at all.
 *
 * @throws UsageError for a source that is no pact, holds no interaction, or none for this provider.
 */
export async function buildPacts(draft: Draft, configDir: string): Promise<PactsConfig | null> {
  const { blocks, faultAt, origins } = draft;
  const block: PactsBlock = blocks.pacts ?? {};
  const named = block.files !== undefined || (block.broker ?? null) !== null;
  const fallback = named ? null : defaultPact(configDir, blocks.service, blocks.contract);
  if (!named && fallback === null) {
    if (blocks.pacts === undefined || blocks.pacts === null) return null;
    throw faultAt(
      'pacts',
      'names neither files nor a broker, and there is no pact of that name in the pacts/ of the config',
      'add `files:` or `broker:`, or write one with `conform pact write`',
    );
  }
  const provider = block.provider ?? blocks.contract;
  if (block.provider === undefined) origins.set('pacts.provider', { kind: 'default' });
  const files =
    block.files === undefined ? (fallback === null ? [] : [fallback]) : resolvedFiles(draft, block.files);
  if (block.files === undefined) {
    for (const index of files.keys()) origins.set(`pacts.files.${index}`, { kind: 'default' });
  }
  const read = await readSources(
    files.filter((file) => !isUrl(file)).map((path) => ({ path, key: `pacts.files.${files.indexOf(path)}` })),
    provider,
    faultAt,
  );
  const states = statesOf(draft, block);
  const messages = block.messages === undefined ? null : holdAddress(draft, 'pacts.messages', block.messages);
  const broker = block.broker ? await brokerOf(draft, block.broker) : null;
  return {
    provider,
    files,
    broker,
    states,
    messages,
    interactions: distinct(read.interactions),
    leftOut: read.leftOut,
    unread: [...files.filter(isUrl), ...(broker ? [broker.url] : [])].map(
      (source) => `the pacts of ${source} are fetched when a run starts`,
    ),
  };
}

/** Files are relative to the config file that names them; an option names them from the working folder. */
function resolvedFiles({ scope, faultAt }: Draft, files: readonly string[]): readonly string[] {
  if (files.length === 0) throw faultAt('pacts.files', 'is empty', 'name a file, a folder or a URL');
  return files.map((file, index) => {
    const key = `pacts.files.${index}`;
    if (files.indexOf(file) !== index) throw faultAt(key, 'stands here for the second time', 'name it once');
    if (!isUrl(file)) return shown(resolve(scope.folder, file));
    const url = URL.parse(file);
    if (url === null) throw faultAt(key, 'is no URL', 'write an http or https URL, or a path');
    if (url.username !== '' || url.password !== '') {
      throw faultAt(key, 'holds a user name or password', 'fetch it from a broker: `broker: { url, token }`');
    }
    return url.href;
  });
}

async function brokerOf(draft: Draft, block: BrokerBlock): Promise<PactBroker> {
  const { faultAt, origins } = draft;
  if (block.url === undefined) throw faultAt('pacts.broker.url', 'is missing', 'add `url:`');
  const url = baseUrl(block.url, (problem, remedy) => faultAt('pacts.broker.url', problem, remedy));
  const { branch = null, pending = false, wipSince = null, selectors } = block;
  if (pending && branch === null) {
    throw faultAt('pacts.broker.pending', 'needs the branch of the provider', 'add `branch:`');
  }
  if (wipSince !== null && !pending) {
    throw faultAt('pacts.broker.wipSince', 'is for pending pacts', 'add `pending: true`');
  }
  if (selectors === undefined) origins.set('pacts.broker.selectors', { kind: 'default' });
  for (const [index, selector] of (selectors ?? []).entries()) {
    if (selector.matchingBranch === true && branch === null) {
      throw faultAt(
        `pacts.broker.selectors.${index}.matchingBranch`,
        'needs the branch of the provider',
        'add `branch:`',
      );
    }
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
    if (username !== undefined || password !== undefined) {
      throw faultAt('pacts.broker', 'names both a token and a user', 'keep one of the two');
    }
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

function statesOf(draft: Draft, { states }: PactsBlock): StateHandler | null {
  if (!states) return null;
  const { url, command } = states;
  if (url !== undefined && command !== undefined) {
    throw draft.faultAt('pacts.states', 'names both a url and a command', 'keep one of the two');
  }
  if (url !== undefined) return { kind: 'url', url: holdAddress(draft, 'pacts.states.url', url) };
  if (command !== undefined) return { kind: 'command', command, folder: draft.scope.folder };
  throw draft.faultAt('pacts.states', 'names neither a url nor a command', 'add `url:` or `command:`');
}

function holdAddress({ faultAt }: Draft, key: string, text: string): string {
  if (isUrl(text)) {
    const url = URL.parse(text);
    if (url === null) throw faultAt(key, 'is no URL', 'write an http or https URL, or a path');
    if (url.username !== '' || url.password !== '') {
      throw faultAt(key, 'holds a user name or password', 'leave it out');
    }
    return url.href;
  }
  if (!/^\/(?!\/)[\x21-\x7e]*$/.test(text) || text.includes('#')) {
    throw faultAt(
      key,
      'is neither a path nor a URL',
      'write a path such as /_states, or an http or https URL',
    );
  }
  return text;
}
