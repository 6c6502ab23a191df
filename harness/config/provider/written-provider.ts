import { masked } from '../secret/secret-text.ts';
import type { ProviderConfig } from '../service.ts';
import { formatDuration, formatMemory } from '../shape/units.ts';
import type {
  CommandProvider,
  ContainerConfig,
  ContainerProvider,
  ImageSource,
  Readiness,
  SecretText,
} from './started-provider.ts';

type Written = Readonly<Record<string, unknown>>;

/** A provider in the form of a service file, secrets masked. */
export function writtenProvider(provider: ProviderConfig): Written {
  switch (provider.kind) {
    case 'url':
      return { url: provider.url };
    case 'reference':
      return {
        reference: provider.name,
        defects: provider.defects,
        ...(provider.variant === null ? {} : { variant: provider.variant }),
      };
    case 'container':
      return { container: writtenContainer(provider) };
    case 'command':
      return { command: writtenCommand(provider) };
  }
}

function writtenContainer(provider: ContainerProvider): Written {
  const { companions, aliases, port, path, freshForEachSuite } = provider;
  return {
    port,
    ...(path === '' ? {} : { path }),
    ...(aliases.length === 0 ? {} : { aliases }),
    ...writtenCommon(provider),
    ...(companions.length === 0
      ? {}
      : {
          companions: Object.fromEntries(
            companions.map((companion) => [
              companion.name,
              {
                ...(companion.port === null ? {} : { port: companion.port }),
                ...writtenCommon(companion),
              },
            ]),
          ),
        }),
    ...(freshForEachSuite ? { freshForEachSuite } : {}),
  };
}

function writtenCommon(container: ContainerConfig): Written {
  const { image, env, secrets, files, command, ready, timeoutMs, limits, capabilities } = container;
  const { memoryBytes, cpus } = limits;
  return {
    ...writtenImage(image),
    ...filled('env', maskedEach(env)),
    ...filled(
      'secrets',
      Object.fromEntries(Object.entries(secrets).map(([path, secret]) => [path, String(secret)])),
    ),
    ...filled('files', files),
    ...(command === null ? {} : { command }),
    ...(ready === null ? {} : { ready: writtenReadiness(ready) }),
    timeout: formatDuration(timeoutMs),
    ...filled('limits', {
      ...(memoryBytes === null ? {} : { memory: formatMemory(memoryBytes) }),
      ...(cpus === null ? {} : { cpus }),
    }),
    ...(capabilities.length === 0 ? {} : { capabilities }),
  };
}

function writtenImage(image: ImageSource): Written {
  if (image.kind === 'image') return { image: image.name };
  const { context, dockerfile, target, args } = image;
  return { build: { context, dockerfile, ...(target === null ? {} : { target }), ...filled('args', args) } };
}

function writtenCommand(provider: CommandProvider): Written {
  const { run, cwd, env, url, ready, timeoutMs, freshForEachSuite } = provider;
  return {
    run,
    cwd,
    ...filled('env', maskedEach(env)),
    url,
    ...(ready === null ? {} : { ready: writtenReadiness(ready) }),
    timeout: formatDuration(timeoutMs),
    ...(freshForEachSuite ? { freshForEachSuite } : {}),
  };
}

function writtenReadiness(ready: Readiness): Written {
  switch (ready.kind) {
    case 'http':
      return { http: ready.path, ...(ready.status === null ? {} : { status: ready.status }) };
    case 'log':
      return { log: ready.text, ...(ready.times === 1 ? {} : { times: ready.times }) };
    case 'health':
      return { health: true };
  }
}

function maskedEach(texts: Readonly<Record<string, SecretText>>): Written {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, masked(text)]));
}

function filled(key: string, map: Written): Written {
  return Object.keys(map).length === 0 ? {} : { [key]: map };
}
