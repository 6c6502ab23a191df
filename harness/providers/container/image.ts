import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ImageName } from 'testcontainers';
import { InconclusiveError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { reasonLineOf } from '../../base/thrown.ts';
import type { ImageSource } from '../../config/provider/kind.ts';
import { createLogCapture, withLastLines } from '../log-capture.ts';
import type { StartOptions } from '../provider.ts';
import { type Docker, REQUEST_MS, type Runtime, within } from '../runtime/runtime.ts';

/** An image in the runtime's store. */
export interface PresentImage {
  readonly name: string;
  /** Id of its content: `sha256:…`. */
  readonly id: string;
  /** It has a HEALTHCHECK. */
  readonly hasHealthCheck: boolean;
  /** By its EXPOSE, such as `6379/tcp`. */
  readonly exposedPorts: readonly string[];
}

type FetchProgress = Pick<StartOptions, 'signal' | 'say'>;

/** Milliseconds for a pull or a build. */
const FETCH_MS = 10 * 60_000;
/** A larger context is a mistake. */
const MOST_FILES = 50_000;

/** @throws InconclusiveError when it cannot be pulled or built. */
export function presentImage(
  runtime: Runtime,
  source: ImageSource,
  purpose: string,
  progress: FetchProgress,
): Promise<PresentImage> {
  return source.kind === 'image'
    ? pulled(runtime, ImageName.fromString(source.name), progress)
    : built(runtime, source, purpose, progress);
}

async function pulled(
  runtime: Runtime,
  name: ImageName,
  { signal, say }: FetchProgress,
): Promise<PresentImage> {
  const present = await inspected(runtime.docker, name.string);
  if (present) return present;
  say(`pulling the image ${name.string}`);
  const hint =
    runtime.podman && name.registry === undefined
      ? ` (Podman knows images of this machine as localhost/${name.string})`
      : '';
  try {
    await within(runtime.client.image.pull(name), FETCH_MS, 'it was not pulled', signal);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new InconclusiveError(
      `the image ${name.string} is not there and could not be pulled: ${reasonLineOf(error)}${hint}`,
    );
  }
  const now = await inspected(runtime.docker, name.string);
  if (now) return now;
  throw new InconclusiveError(`the image ${name.string} is not there, even after it was pulled${hint}`);
}

/** Not with the client library: it never settles when the runtime refuses to build. */
async function built(
  { docker }: Runtime,
  { context, dockerfile, target, args }: Extract<ImageSource, { kind: 'build' }>,
  purpose: string,
  { signal, say }: FetchProgress,
): Promise<PresentImage> {
  const name = `conform-built/${purpose}:latest`;
  say(`building an image from ${join(context, dockerfile)}`);
  const before = await inspected(docker, name);
  const log = createLogCapture();
  const write = log.writer();
  let id: string | null = null;
  const build = async () => {
    const stream = await docker.buildImage(
      { context, src: [...(await filesBelow(context))] },
      {
        t: name,
        dockerfile,
        buildargs: args,
        ...(target === null ? {} : { target }),
        rm: true,
        forcerm: true,
        abortSignal: signal,
      },
    );
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(
        stream,
        (error: Error | null) => (error ? reject(error) : resolve()),
        (event: BuildEvent) => {
          if (event.stream) write(Buffer.from(event.stream));
          if (event.error) reject(new Error(event.error));
          id = event.aux?.ID ?? id;
        },
      );
    });
  };
  try {
    await within(build(), FETCH_MS, 'it was not built', signal);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new InconclusiveError(withLastLines(`the image could not be built: ${reasonLineOf(error)}`, log));
  }
  const present = await inspected(docker, id ?? name);
  if (present && before && before.id !== present.id) await discard(docker, before.id);
  if (present) return { ...present, name };
  throw new InconclusiveError(withLastLines('the image is not there, even after it was built', log));
}

/** Otherwise each build would leave an unnamed image. An image in use stays. */
async function discard(docker: Docker, id: string): Promise<void> {
  await within(docker.getImage(id).remove(), REQUEST_MS, 'it was not removed').catch(() => undefined);
}

interface BuildEvent {
  readonly stream?: string;
  readonly error?: string;
  readonly aux?: { readonly ID?: string };
}

/** Every file of a build context; the client library applies `.dockerignore`. */
async function filesBelow(context: string): Promise<readonly string[]> {
  const entries = await readdir(context, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => relative(context, join(entry.parentPath, entry.name)));
  if (files.length <= MOST_FILES) return files;
  throw new Error(`the folder holds ${files.length} files, more than ${MOST_FILES}: name a smaller one`);
}

async function inspected(docker: Docker, name: string): Promise<PresentImage | null> {
  try {
    const found = docker.getImage(name).inspect();
    const { Id, Config } = await within(found, REQUEST_MS, 'the container runtime did not answer');
    const exposedPorts = Object.keys(Config?.ExposedPorts ?? {});
    return { name, id: Id, hasHealthCheck: hasHealthCheck(Config), exposedPorts };
  } catch (error) {
    if (error instanceof Error && 'statusCode' in error && error.statusCode === 404) return null;
    throw error;
  }
}

function hasHealthCheck(config: object | null | undefined): boolean {
  const check: unknown = config && 'Healthcheck' in config ? config.Healthcheck : null;
  if (!isJsonObject(check) || !Array.isArray(check.Test)) return false;
  return check.Test.length > 0 && check.Test[0] !== 'NONE';
}
