import { resolve } from 'node:path';
import { isLoopback } from '../../base/loopback.ts';
import { listed } from '../../base/text.ts';
import type { Draft } from '../draft/draft.ts';
import { type BlockInput, choice, type Keys, list, mapping, text } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';
import { baseUrl } from '../shape/text-forms.ts';
import { command } from './command.ts';
import { container } from './container.ts';
import { type ProviderKind, providerKind } from './kind.ts';

const SERVICES = ['search', 'messaging', 'realtime'] as const;

export type ReferenceName = (typeof SERVICES)[number];

export interface ReferenceProvider {
  readonly kind: 'reference';
  readonly name: ReferenceName;
  readonly defects: readonly string[];
  readonly variant: string | null;
}

const reference = providerKind('reference', {
  keys: {
    reference: choice('The built-in service of this name, which conforms.', SERVICES),
    defects: list(
      'Deliberate faults of the reference provider, to see a check fail.',
      { uniqueItems: true, expected: 'a list of defect names' },
      text('Name of a defect.'),
    ),
    variant: text('Another way to behave, which conforms as well.'),
  },
  build(name, draft, { defects, variant }): ReferenceProvider {
    if (defects === undefined) draft.show('provider.defects', []);
    return { kind: 'reference', name, defects: defects ?? [], variant: variant ?? null };
  },
  staysHere: () => true,
  addressOf: () => null,
  isBuiltIn: true,
});

export interface UrlProvider {
  readonly kind: 'url';
  readonly url: string;
}

const url = providerKind('url', {
  keys: {
    url: text('Base URL of a service that runs already. Paths are appended to it.', {
      expected: 'an http or https URL',
      examples: ['https://api.example', `\${env:SEARCH_STAGING_URL}`],
      references: 'open',
      read: baseUrl,
    }),
  },
  build: (said): UrlProvider => ({ kind: 'url', url: said }),
  staysHere: (provider) => isLoopback(new URL(provider.url).hostname),
  addressOf: (provider) => provider.url,
});

export interface UnixSocketProvider {
  readonly kind: 'unixSocket';
  /** Absolute. */
  readonly path: string;
}

const unixSocket = providerKind('unixSocket', {
  keys: {
    unixSocket: text(
      'Path of the Unix domain socket on which a running service listens, relative to this file.',
      { expected: 'the path of a socket', examples: ['/run/search/api.sock', `\${env:SEARCH_SOCKET}`] },
    ),
  },
  build: (said, { scope }): UnixSocketProvider => ({ kind: 'unixSocket', path: resolve(scope.folder, said) }),
  staysHere: () => true,
  addressOf: ({ path }) => path,
});

/** The kinds of providers, by the key that names them. Each is started in `harness/engine/provider/start.ts`. */
const KINDS = { reference, url, unixSocket, container, command };

type KindTable = typeof KINDS;
type KindName = keyof KindTable;

export type ProviderConfig = { [K in KindName]: Awaited<ReturnType<KindTable[K]['build']>> }[KindName];

/** The common part of each; the table has one kind for every name. */
type AnyKind = ProviderKind<string, Keys, ProviderConfig>;
const ALL = KINDS as object as Readonly<Record<KindName, AnyKind>>;

const NAMES = Object.keys(ALL) as readonly KindName[];

type AllKeys<K = KindTable[KindName]['keys']> = (K extends unknown ? (keys: K) => void : never) extends (
  keys: infer Every extends Keys,
) => void
  ? Every
  : never;

export const PROVIDER = mapping(
  `Where the service runs, or how to start it: exactly one of ${listed(NAMES)}.`,
  {
    expected: 'a mapping such as { url: "https://api.example" } or { reference: search }',
    def: 'provider',
    // One that is started, and of which an environment says more, stays the same one.
    replaces(below, above) {
      const [named] = namedIn(above);
      return named !== undefined && (typeof above[named] !== 'object' || !namedIn(below).includes(named));
    },
  },
  Object.assign({}, ...Object.values(ALL).map(({ keys }) => keys)) as AllKeys,
);

function namedIn(written: BlockInput): readonly KindName[] {
  return NAMES.filter((name) => (written[name] ?? undefined) !== undefined);
}

/** @throws UsageError unless exactly one kind of provider is named, with fit values. */
export async function buildProvider(draft: Draft, written: Loaded<typeof PROVIDER>): Promise<ProviderConfig> {
  const { faultAt } = draft;
  const [name, ...others] = namedIn(written);
  if (others.length > 0) {
    const named = [name, ...others].map((kind) => `a ${kind}`).join(' and ');
    throw faultAt('provider', `names both ${named}`, 'keep one of them');
  }
  for (const [owner, { keys }] of Object.entries(ALL)) {
    const foreign = Object.keys(keys).find((key) => owner !== name && written[key as keyof typeof written]);
    if (foreign === undefined) continue;
    throw faultAt(`provider.${foreign}`, `belongs to a ${owner} provider only`, 'remove it');
  }
  if (name === undefined) {
    const remedy = 'add `url:` or `reference:`, or how to start it';
    throw faultAt('provider', `says neither ${listed(NAMES, 'nor')}`, remedy);
  }
  return ALL[name].build(written[name], draft, written);
}

/** Whether everything sent there stays on this machine, so that example secrets may stand in the file. */
export function staysHere(provider: ProviderConfig): boolean {
  return ALL[provider.kind].staysHere(provider);
}

/** Where it runs already: a URL, or the path of a socket; null for one that is started for the run. */
export function addressOf(provider: ProviderConfig): string | null {
  return ALL[provider.kind].addressOf(provider);
}

export function isBuiltIn({ kind }: ProviderConfig): boolean {
  return ALL[kind].isBuiltIn ?? false;
}

/** Path of its base address: '' or `/api`. */
export function basePathOf(provider: ProviderConfig): string {
  if ('path' in provider) return provider.path;
  // A port that is not known yet does not change the path.
  return 'url' in provider ? (URL.parse(provider.url.replace('$' + '{PORT}', '1'))?.pathname ?? '') : '';
}
