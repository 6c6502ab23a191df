import { existsSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { basename, join, resolve } from 'node:path';
import { UsageError } from '../../base/exit.ts';
import { reasonOf } from '../../base/thrown.ts';
import { isAsyncApi, readAsyncApi } from '../../config/asyncapi/asyncapi.ts';
import { type FirstFacts, firstFacts } from '../../config/operation/openapi/first-facts.ts';
import { fetchDocument, UnfitDocument } from '../../wire/http/fetch.ts';
import { proxiesOf } from '../../wire/socket/proxies.ts';
import { OF_KEYS } from './headers.ts';

/** What a document or URL says of the service. */
export interface RunTarget {
  /** As it was given. */
  readonly target: string;
  readonly service: string;
  readonly url: string;
  /** The document and what it states; null for a URL without one. */
  readonly openapi: { readonly path: string; readonly facts: FirstFacts } | null;
  /** Path of an AsyncAPI document; null if it is none. */
  readonly asyncapi: string | null;
  /** Path of a GET: that of the URL, else one of the document; null if there is none. */
  readonly samplePath: string | null;
  /** Path of a WebSocket endpoint, if it is the whole of the service. */
  readonly webSocketPath: string | null;
}

interface Fetching {
  /** For a document that is fetched. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Reads the document or URL. @throws UsageError for anything else. */
export async function readTarget(
  target: string,
  url: string | undefined,
  place: Fetching,
): Promise<RunTarget> {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(target) ?? [];
  if (scheme === undefined) {
    if (!existsSync(target))
      throw unfit(target, 'there is no such file', 'give the path of an OpenAPI document');
    if (await isOfMessages(target)) return messaging(target, resolve(target), url);
    return documented(target, resolve(target), { url, near: null });
  }
  const address = /^(?:http|ws)s?$/i.test(scheme) ? URL.parse(target) : null;
  if (address === null)
    throw unfit(target, 'is no http, https, ws or wss URL', 'give a document, or the URL of the service');
  holdWithoutSecrets(address);
  const text = /^ws/i.test(scheme) ? '' : await fetched(target, place.env);
  const isOfAsyncApi = isAsyncApi(text);
  if (!isOfAsyncApi && !/["']?\b(?:openapi|swagger)["']?\s*:\s*["']?[23]\./.test(text))
    return bare(target, address, url);
  const path = join(place.folder, basename(address.pathname).replaceAll(/[^\w.-]/g, '') || 'openapi');
  const named = /\.(?:json|ya?ml)$/.test(path) ? path : `${path}.${/^\s*\{/.test(text) ? 'json' : 'yaml'}`;
  writeFileSync(named, text);
  if (isOfAsyncApi) return messaging(target, named, url);
  return documented(target, named, { url, near: address });
}

/** A service of which nothing is known but a URL. */
function bare(target: string, address: URL, url: string | undefined): RunTarget {
  if (url !== undefined) throw unfit(target, 'is no OpenAPI document', 'give a document, or leave out --url');
  const path = address.pathname + address.search;
  const isWebSocket = address.protocol.startsWith('ws');
  return {
    target,
    service: nameOf(address.hostname),
    url: `${address.protocol.replace('ws', 'http')}//${address.host}`,
    ...{ openapi: null, asyncapi: null },
    samplePath: isWebSocket ? null : path,
    webSocketPath: isWebSocket ? path : null,
  };
}

async function isOfMessages(path: string): Promise<boolean> {
  return isAsyncApi(await readFile(path, 'utf8').catch(() => ''));
}

/** An AsyncAPI document: the service is where its first server is, or `--url`, whose path goes before that of a channel. */
async function messaging(target: string, path: string, url: string | undefined): Promise<RunTarget> {
  const read = await readAsyncApi(path, { shown: target, configured: undefined, basePath: '' });
  if ('fault' in read) throw unfit(target, read.fault.problem, read.fault.remedy);
  const base = URL.parse(url ?? read.server ?? '');
  if (base === null)
    throw unfit(target, 'does not say where the service is', 'add --url, such as --url ws://127.0.0.1:8080');
  holdWithoutSecrets(base);
  const own = url === undefined || base.pathname === '/' ? null : base.pathname + base.search;
  return {
    target,
    service: read.title === null ? nameOf(base.hostname) : slug(read.title),
    url: `${base.protocol.replace('ws', 'http')}//${base.host}`,
    ...{ openapi: null, asyncapi: path, samplePath: null, webSocketPath: own },
  };
}

/** `near`: where the document comes from; its server may be relative to that. */
async function documented(
  target: string,
  path: string,
  { url, near }: { readonly url: string | undefined; readonly near: URL | null },
): Promise<RunTarget> {
  const read = async (basePath: string) => {
    const facts = await firstFacts(path, target, basePath);
    if ('fault' in facts) throw unfit(target, facts.fault.problem, facts.fault.remedy);
    return facts;
  };
  const given = url === undefined ? null : URL.parse(url);
  if (url !== undefined && given === null)
    throw unfit('--url', 'is no URL', 'write it such as http://127.0.0.1:8080');
  if (given !== null) holdWithoutSecrets(given);
  const { server } = await read('');
  const base = given ?? (server === null ? near && new URL(near.origin) : URL.parse(server, near?.href));
  if (base === null)
    throw unfit(
      target,
      'does not say where the service is',
      'add --url, such as --url http://127.0.0.1:8080',
    );
  const facts = await read(base.pathname);
  return {
    target,
    service: facts.title === null ? nameOf(base.hostname) : slug(facts.title),
    url: base.href,
    ...{ openapi: { path, facts }, asyncapi: null },
    samplePath: facts.samplePath,
    webSocketPath: null,
  };
}

/** A URL stands in reports and in the command lines that they name. @throws UsageError, which does not show it. */
function holdWithoutSecrets({ username, password, searchParams }: URL): void {
  if (username !== '' || password !== '')
    throw new UsageError('the URL holds a user or a password', {
      remedy: "give them as -H 'Authorization: Basic …'",
    });
  const name = [...searchParams.keys()].find((each) => OF_KEYS.test(each));
  if (name === undefined) return;
  throw new UsageError(`the URL holds a key in the query parameter ${JSON.stringify(name)}`, {
    remedy: 'write a config with `conform init --scheme query`, which reads the key from a variable',
  });
}

/** Empty if the response is no document. */
async function fetched(address: string, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    return await fetchDocument(address, { proxies: proxiesOf(env) });
  } catch (error) {
    // A service may refuse a request without a key.
    if (error instanceof UnfitDocument) return '';
    throw unfit(address, reasonOf(error), 'start the service, or correct the URL');
  }
}

/** The name of a host as the name of a service; an address is none. */
function nameOf(host: string): string {
  return isIP(host.replaceAll(/[[\]]/g, '')) === 0 ? slug(host) : 'service';
}

/** The words of a title as the name of a service: `Orders API` is `orders`. */
function slug(title: string): string {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const last = words.findLastIndex((word) => !/^(?:api|rest|service|openapi|swagger)$/.test(word));
  return (
    words
      .slice(0, last === -1 ? words.length : last + 1)
      .join('-')
      .slice(0, 63)
      .replace(/-$/, '') || 'service'
  );
}

function unfit(key: string, problem: string, remedy: string): UsageError {
  return new UsageError(problem, { key, remedy });
}
