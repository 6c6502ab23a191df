import { stat } from 'node:fs/promises';
import { isAbsolute, join, normalize, resolve, sep } from 'node:path';
import type { SecretText } from '../../base/secret.ts';
import type { Draft } from '../draft/draft.ts';
import { readSecretFile, readSecretText } from '../draft/secret.ts';
import {
  duration,
  either,
  type Fault,
  flag,
  list,
  mapping,
  memory,
  NAMES,
  name,
  named,
  needed,
  number,
  optionalSecret,
  text,
  whole,
} from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';
import {
  buildReadiness,
  type Companion,
  type ContainerConfig,
  type ContainerProvider,
  type ImageSource,
  providerKind,
  READY,
} from './kind.ts';

/** Registry, repository, tag and digest, as far as their characters go. */
function imageName(text: string, fault: Fault): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,510}$/.test(text)) return text;
  throw fault('is not the name of an image', 'write one such as registry.example/search:1.4');
}

function basePath(text: string, fault: Fault): string {
  if (!/^(\/[A-Za-z0-9._~%-]+)*\/?$/.test(text))
    throw fault('is not a base path', 'write a path such as /api');
  return text.replace(/\/+$/, '');
}

/** Of every provider that is started. */
export const STARTED = {
  env: named(
    `Environment variables. Values read through \${env:NAME}, \${file:PATH} or \${exec:COMMAND} count as secrets; but all who may inspect the container or process see them: prefer secrets.`,
    {
      names: { pattern: '^[^=\\s]+$', expected: 'the name of an environment variable' },
      expected: 'a mapping such as { LOG_LEVEL: debug }',
      examples: [{ LOG_LEVEL: 'debug', API_KEY: `\${env:SEARCH_API_KEY}` }],
      references: 'secret',
      def: 'env',
    },
    either<string | number | boolean | null>(
      'Value of the variable; null for none.',
      { expected: 'text (quote a fraction), or null' },
      { type: ['string', 'integer', 'boolean', 'null'] },
    ),
  ),
  ready: READY,
  timeout: duration('How long it may take to be ready after its start. Pulling and building do not count.', {
    default: '60s',
    atMost: '10m',
  }),
} as const;

/** Of processes started for the provider itself. */
export const FRESH = {
  freshForEachSuite: flag(
    'Starts the provider and its companions again before each suite, so that no suite finds the leftovers of another. This takes more requests, and safety.maxRequests counts from each start.',
    { default: false },
  ),
} as const;

const PATHS = '^/.*[^/]$';

const BUILD = mapping(
  '',
  {},
  {
    context: needed(text('Folder with the Dockerfile.'), 'name the folder'),
    dockerfile: text('Path of the Dockerfile in that folder. Default: Dockerfile.'),
    target: text('Stage of the Dockerfile to build.'),
    args: named(
      'Build arguments. Anyone can read them from the image, so put no secrets here.',
      { expected: 'a mapping of names to texts' },
      text('Value of the argument; null for none.', { mayBeEmpty: true, nullable: true }),
    ),
  },
);

const CAPABILITY = { pattern: '^[A-Z_]{2,40}$', expected: 'the name of a capability, such as CHOWN' };

/** Of the provider's container and its companions. */
const CONTAINER = {
  image: text('Name of the image, pulled when it is not there. Either this or build.', {
    nullable: true,
    expected: 'the name of an image, such as registry.example/search:1.4',
    references: 'open',
    examples: ['registry.example/search:1.4', `\${env:SEARCH_RELEASE_IMAGE}`],
    read: imageName,
  }),
  build: either<string | Loaded<typeof BUILD>>(
    'Builds the image from a folder with a Dockerfile, relative to this file. Write either build or image.',
    {
      nullable: true,
      expected: 'a folder, or a mapping such as { context: ../../provider, dockerfile: Dockerfile }',
      def: 'build',
    },
    { ...BUILD, type: ['string', 'object'], minLength: 1 },
  ),
  port: whole('Port on which it listens inside its container.', {
    minimum: 1,
    maximum: 65_535,
    expected: 'a port, 1 to 65535',
  }),
  secrets: named(
    'Files with one secret each, by their path in the container. Every user there can read them.',
    {
      names: { pattern: PATHS, expected: 'an absolute path in the container, such as /run/secrets/api-key' },
      expected: `a mapping such as { /run/secrets/api-key: "\${env:SEARCH_API_KEY}" }`,
      examples: [{ '/run/secrets/api-key': `\${env:SEARCH_API_KEY}` }],
      def: 'secretFiles',
    },
    optionalSecret(),
  ),
  files: named(
    'Files to copy into the container before it starts, by their path there. Sources are relative to this file.',
    {
      names: { pattern: PATHS, expected: 'an absolute path in the container, such as /etc/search.json' },
      expected: 'a mapping such as { /etc/search.json: search.json }',
      def: 'files',
    },
    text('Path of the file to copy; null for none.', { nullable: true, expected: 'the path of a file' }),
  ),
  command: list(
    "Runs this in place of the image's own command.",
    { nullable: true, minItems: 1, expected: 'a list such as [serve, --verbose]', def: 'containerCommand' },
    text('One word of the command.', { mayBeEmpty: true }),
  ),
  limits: mapping(
    'What the container may use of this machine.',
    { expected: 'a mapping such as { memory: 512m, cpus: 1 }', def: 'limits' },
    {
      // Docker itself refuses less.
      memory: memory('Memory. A container that needs more is ended.', { atLeast: '6m' }),
      cpus: number('How many CPUs; 0.5 is half of one.', {
        minimum: 0.01,
        maximum: 1_024,
        expected: 'a number such as 1 or 0.5',
      }),
    },
  ),
  capabilities: list(
    'Linux capabilities that the container keeps. All others are dropped.',
    { uniqueItems: true, default: [], expected: 'a list such as [CHOWN, SETUID]', def: 'capabilities' },
    text('Name of a capability.', CAPABILITY),
  ),
  ...STARTED,
} as const;

const COMPANION = mapping(
  'One such container.',
  { expected: 'a mapping such as { image: redis:8 }', nullable: true },
  CONTAINER,
);

const KEYS = {
  container: mapping(
    'A container that is started for the run and removed after it, however the run ends. Docker or Podman must be there.',
    { expected: 'a mapping such as { image: registry.example/search:1.4, port: 8080 }' },
    {
      ...CONTAINER,
      port: needed(CONTAINER.port, 'add `port:`, on which the service listens inside'),
      path: text('Base path of the service, if it is not the root.', {
        mayBeEmpty: true,
        default: '',
        expected: 'a path such as /api',
        read: basePath,
      }),
      aliases: list(
        'Names by which the companions reach the provider.',
        { uniqueItems: true, default: [], expected: 'a list of host names' },
        name('A host name.'),
      ),
      companions: named(
        'Containers that the provider needs, such as a database, by the name under which it reaches them. They start first, in the order written.',
        { expected: 'a mapping such as { cache: { image: redis:8 } }', names: NAMES },
        COMPANION,
      ),
      ...FRESH,
    },
  ),
};

type ContainerBlock = Loaded<typeof KEYS.container>;

const KEY = 'provider.container';

/** @throws UsageError for a container that cannot be meant; reads the secrets that it is to be given. */
async function buildContainer(written: ContainerBlock, draft: Draft): Promise<ContainerProvider> {
  const { port, path, aliases, freshForEachSuite } = written;
  const companions = await draft.faults.each(written.companions, (name, companion) =>
    buildCompanion(draft, name, companion),
  );
  for (const [index, alias] of aliases.entries()) {
    if (written.companions && Object.hasOwn(written.companions, alias))
      throw draft.faultAt(`${KEY}.aliases.${index}`, 'is the name of a companion', 'choose another');
  }
  return {
    kind: 'container',
    ...(await buildCommon(draft, KEY, written)),
    port,
    path,
    aliases,
    companions: companions.map(([, companion]) => companion),
    freshForEachSuite,
  };
}

export const container = providerKind('container', {
  keys: KEYS,
  build: buildContainer,
  staysHere: () => true,
  addressOf: () => null,
});

type CompanionBlock = Loaded<typeof COMPANION>;

async function buildCompanion(draft: Draft, name: string, written: CompanionBlock): Promise<Companion> {
  const key = `${KEY}.companions.${name}`;
  if (written.ready?.http !== undefined && written.port === undefined)
    throw draft.faultAt(`${key}.port`, 'is missing', 'readiness by http needs `port:`');
  return { ...(await buildCommon(draft, key, written)), name, port: written.port ?? null };
}

async function buildCommon(draft: Draft, key: string, written: CompanionBlock): Promise<ContainerConfig> {
  const { faultAt } = draft;
  const image = await buildImage(draft, key, written);
  const env = await readEnv(draft, `${key}.env`, written.env);
  const secrets = await draft.faults.each(written.secrets, async (path, text) => {
    holdToContainerPath(draft, `${key}.secrets.${path}`, path);
    return readSecretFile(draft, `${key}.secrets.${path}`, text);
  });
  const files = await draft.faults.each(written.files, async (path, source) => {
    holdToContainerPath(draft, `${key}.files.${path}`, path);
    if (written.secrets && Object.hasOwn(written.secrets, path))
      throw faultAt(`${key}.files.${path}`, 'is a secret file too', 'keep one of the two');
    return existing(draft, `${key}.files.${path}`, source, 'file');
  });
  const capabilities = written.capabilities.map((name) => name.replace(/^CAP_/, ''));
  if (capabilities.includes('ALL'))
    throw faultAt(`${key}.capabilities`, 'names all of them', 'list those that are needed');
  return {
    image,
    env,
    secrets: Object.fromEntries(secrets.flatMap(([path, secret]) => (secret ? [[path, secret]] : []))),
    files: Object.fromEntries(files),
    command: written.command ?? null,
    ready: buildReadiness(faultAt, `${key}.ready`, written.ready),
    timeoutMs: written.timeoutMs,
    limits: { memoryBytes: written.limits?.memoryBytes ?? null, cpus: written.limits?.cpus ?? null },
    capabilities,
  };
}

async function buildImage(draft: Draft, key: string, { image, build }: CompanionBlock): Promise<ImageSource> {
  const { faultAt } = draft;
  if (image && build) {
    const remedy = 'keep one of the two; in an environment, set the other to null';
    throw faultAt(key, 'names both an image and a build', remedy);
  }
  if (image) return { kind: 'image', name: image };
  if (!build) throw faultAt(key, 'says neither image nor build', 'add `image:`, or `build:` with a folder');
  const written: Loaded<typeof BUILD> = typeof build === 'string' ? { context: build } : build;
  const at = typeof build === 'string' ? `${key}.build` : `${key}.build.context`;
  const context = await existing(draft, at, written.context, 'folder');
  const dockerfile = normalize(written.dockerfile ?? 'Dockerfile');
  const below = !isAbsolute(dockerfile) && !dockerfile.startsWith(`..${sep}`);
  const dockerfileKey = written.dockerfile === undefined ? at : `${key}.build.dockerfile`;
  if (!below) throw faultAt(dockerfileKey, 'is not below the folder', 'move it there');
  await existing(draft, dockerfileKey, join(context, dockerfile), 'file');
  return { kind: 'build', context, dockerfile, target: written.target ?? null, args: written.args ?? {} };
}

/** Variables with their values; those set to null are left out. */
export async function readEnv(
  draft: Draft,
  key: string,
  env: Loaded<typeof CONTAINER.env> | undefined,
): Promise<Readonly<Record<string, SecretText>>> {
  const read = await draft.faults.each(env, async (name, value) =>
    typeof value === 'string' ? readSecretText(draft, `${key}.${name}`, value) : [String(value)],
  );
  return Object.fromEntries(read);
}

function holdToContainerPath({ faultAt }: Draft, key: string, path: string): void {
  if (/(^|\/)\.{1,2}(\/|$)|\/\/|\0/.test(path))
    throw faultAt(key, 'is not a plain path', 'write it without . and .. and double slashes');
}

/** Absolute path of a file or folder that is there; `path` is relative to the service file. */
export async function existing(
  { faultAt, scope }: Draft,
  key: string,
  path: string,
  kind: 'file' | 'folder',
): Promise<string> {
  const absolute = resolve(scope.folder, path);
  const found = await stat(absolute).catch(() => null);
  const fits = kind === 'file' ? found?.isFile() : found?.isDirectory();
  if (fits) return absolute;
  const problem = found === null ? `there is no ${kind} ${absolute}` : `${absolute} is no ${kind}`;
  throw faultAt(key, problem, `name a ${kind}, relative to this file`);
}
