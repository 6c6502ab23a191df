import { isIP } from 'node:net';
import { UsageError } from '../../../base/exit.ts';
import { hasMembers } from '../../../base/json-text.ts';
import { isToken } from '../../../wire/fields/grammar/field-grammar.ts';
import { visible } from '../../../wire/octets/utf8.ts';
import type { SourceFiles } from '../../document/files.ts';
import type { Remarks } from '../../document/remarks.ts';
import { child, children, type DocumentNode, faultAt } from '../../document/source.ts';
import { asOperation } from './swagger.ts';

const VERSIONS = ['2.0', '3.0', '3.1', '3.2'] as const;

/** Of Swagger 2.0, else of OpenAPI. */
export type Version = (typeof VERSIONS)[number];

/** @throws UsageError for other documents, and for an unsupported version. */
export function versionOf(root: DocumentNode): Version {
  const swagger = child(root, 'swagger');
  const named = swagger.value === undefined ? child(root, 'openapi') : swagger;
  if (named.value === undefined)
    throw faultAt(root, 'is no OpenAPI document', 'name a document with `openapi: 3.0.x`, 3.1.x or 3.2.x');
  const text = typeof named.value === 'number' ? named.value.toFixed(1) : named.value;
  const version = VERSIONS.find((each) => typeof text === 'string' && `${text}.`.startsWith(`${each}.`));
  if (version !== undefined && (version === '2.0') === (named === swagger)) return version;
  const shown = visible(typeof text === 'string' ? text : JSON.stringify(text), 60);
  const problem = `${named === swagger ? 'Swagger' : 'version'} ${shown} is not read`;
  throw faultAt(named, problem, 'write it in Swagger 2.0 or OpenAPI 3.0, 3.1 or 3.2');
}

interface DocumentedAddress {
  /** Prefix of the path, below the base address: '' or `/v1`. */
  readonly prefix: string;
  /** Why the provider under test is not the one meant; null when it is. */
  readonly elsewhere: string | null;
}

/** Stands for wherever the document lies; server URLs may be relative to that. */
const ANYWHERE = 'http://document.invalid/';

/** The path of the first server (OpenAPI 3.1 §4.8.5), unless the base address already ends with it. */
export function addressOf(
  root: DocumentNode,
  pathItem: DocumentNode,
  operation: DocumentNode,
  basePath: string,
): DocumentedAddress {
  const general = serverUrl(root);
  const own = serverUrl(operation) ?? serverUrl(pathItem);
  const url = own ?? general;
  const segments = segmentsOf(url?.pathname ?? '');
  const base = segmentsOf(basePath);
  const shared = segments.findLastIndex((_, last) => endsWith(base, segments.slice(0, last + 1)));
  const anywhere = new URL(ANYWHERE).host;
  // A relative address is one of the service under test.
  const isElsewhere = own !== null && own.host !== anywhere && own.host !== (general?.host ?? anywhere);
  return {
    prefix: ['', ...segments.slice(shared + 1)].join('/'),
    elsewhere: isElsewhere ? `it is served at another address, ${own.origin}` : null,
  };
}

/** Whether a Server Object names another service, or another place in it, than that of the document. */
export function isOtherServer(root: DocumentNode, server: DocumentNode): boolean {
  const [own, general] = [urlOf(server), serverUrl(root) ?? new URL(ANYWHERE)];
  if (own === null) return true;
  const isRelative = own.host === new URL(ANYWHERE).host;
  const isSameHost = isRelative || own.host === general.host;
  return !isSameHost || `${segmentsOf(own.pathname)}` !== `${segmentsOf(general.pathname)}`;
}

/** URL of the first server; a path if it is relative to the document; null if none is named. */
export function firstServer(root: DocumentNode): string | null {
  const url = serverUrl(root);
  if (url === null) return null;
  return url.host === new URL(ANYWHERE).host ? url.pathname : url.href;
}

function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/').slice(1);
  return segments.at(-1) === '' ? segments.slice(0, -1) : segments;
}

function endsWith(base: readonly string[], segments: readonly string[]): boolean {
  const end = base.slice(base.length - segments.length);
  return segments.length <= base.length && segments.every((segment, index) => segment === end[index]);
}

function serverUrl(at: DocumentNode): URL | null {
  const server = children(child(at, 'servers'))[0]?.[1];
  return server === undefined ? swaggerUrl(at) : urlOf(server);
}

/** null if it is none. Variables have their defaults. */
function urlOf(server: DocumentNode): URL | null {
  const { value: written } = child(server, 'url');
  if (typeof written !== 'string') return null;
  const variables = child(server, 'variables');
  const filled = written.replaceAll(/\{([^}]*)\}/g, (_, name: string) => {
    const { value } = child(child(variables, name), 'default');
    return hasMembers(value) ? name : String(value ?? name);
  });
  return URL.parse(filled, ANYWHERE);
}

/** Faults of the server URLs. `address`: the URL of the service under test; null if it is not known, or on this machine. */
export function remarkOnServers(
  holders: readonly DocumentNode[],
  address: string | null,
  remarks: Remarks,
): void {
  for (const server of holders.flatMap((at) => children(child(at, 'servers')))) {
    const url = child(server[1], 'url');
    const names = typeof url.value === 'string' ? [...url.value.matchAll(/\{([^}]*)\}/g)] : [];
    for (const [, name = ''] of names) {
      const variable = child(child(server[1], 'variables'), name);
      const { value } = child(variable, 'default');
      const values = children(child(variable, 'enum')).map(([, each]) => each);
      if (value === undefined)
        remarks.at(url, `has the variable {${name}}, which has no default`, 'its name stands for it');
      else if (values.length > 0 && values.every((each) => each.value !== value))
        remarks.at(child(variable, 'default'), 'is not among the values of the variable', 'it is used');
    }
    if (urlOf(server[1]) === null) remarks.at(url, 'is no URL', 'the server is left out');
  }
  const [root] = holders;
  const tested = address === null ? null : URL.parse(address);
  if (root !== undefined && tested !== null) remarkOnElsewhere(root, tested, remarks);
}

/** No server of the document is the one under test, nor one of the same domain, such as another stage of it. */
function remarkOnElsewhere(root: DocumentNode, tested: URL, remarks: Remarks): void {
  const servers = children(child(root, 'servers')).map(([, at]) => [child(at, 'url'), urlOf(at)] as const);
  const host = child(root, 'host');
  const named =
    servers.length === 0 && typeof host.value === 'string' ? [[host, swaggerUrl(root)] as const] : servers;
  const [[first] = []] = named;
  const hosts = named.map(([, url]) => url?.hostname ?? '');
  const isKnown = (each: string) =>
    each === new URL(ANYWHERE).hostname || domainOf(each) === domainOf(tested.hostname);
  if (first === undefined || hosts.some(isKnown)) return;
  const text = `is not the address under test, ${tested.origin}`;
  remarks.at(first, text, 'requests are sent to the latter, below the path of the server');
}

/** The last two labels of a name: `example.com` of `api.staging.example.com`; an address is its own domain. */
function domainOf(hostname: string): string {
  return isIP(hostname.replaceAll(/[[\]]/g, '')) > 0 ? hostname : hostname.split('.').slice(-2).join('.');
}

/** Swagger 2.0 has one server, in two parts. */
function swaggerUrl(root: DocumentNode): URL | null {
  const [host, path] = ['host', 'basePath'].map((name) => child(root, name).value);
  if (typeof path !== 'string' && typeof host !== 'string') return null;
  const base = typeof host === 'string' ? `http://${host}/` : ANYWHERE;
  return URL.parse(typeof path === 'string' ? path : '/', base);
}

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace'] as const;
const MAX_OPERATIONS = 10_000;

export interface FoundOperation {
  readonly pathItem: DocumentNode;
  readonly operation: DocumentNode;
  readonly method: string;
  readonly path: string;
}

/** @throws UsageError if there is none. */
export function operationsOf(files: SourceFiles, remarks: Remarks): readonly FoundOperation[] {
  const version = versionOf(files.root);
  const paths = child(files.root, 'paths');
  const found: FoundOperation[] = [];
  const faults: UsageError[] = [];
  const read = (path: string, at: DocumentNode): readonly FoundOperation[] => {
    if (!path.startsWith('/'))
      throw faultAt(at, `the path ${path} does not begin with /`, 'write it with a slash');
    const pathItem = files.dereferenced(at);
    return methodsOf(pathItem, version).map(([method, given]) => {
      // OpenAPI has no references here; documents that are kept in many files use them all the same.
      const operation = files.dereferenced(given);
      if (version !== '2.0') return { pathItem, operation, method, path };
      const upgraded = asOperation(files, pathItem, operation);
      return { pathItem: { ...pathItem, value: {} }, operation: upgraded, method, path };
    });
  };
  for (const [path, at] of children(paths)) {
    if (path.startsWith('x-')) continue;
    const operations = remarks.attempt(() => read(path, at), `nothing at ${path} is called`);
    if (operations instanceof UsageError) faults.push(operations);
    else found.push(...operations);
  }
  const [fault] = faults;
  if (found.length === 0 && fault !== undefined) throw fault;
  if (found.length === 0 && children(child(files.root, 'webhooks')).length > 0) {
    const problem = 'describes only webhooks, which the service sends';
    throw faultAt(files.root, problem, 'name the document of the operations that clients call');
  }
  if (found.length === 0)
    throw faultAt(paths.value === undefined ? files.root : paths, 'describes no operation', 'add `paths`');
  if (found.length > MAX_OPERATIONS) {
    const problem = `describes ${found.length} operations, more than ${MAX_OPERATIONS}`;
    throw faultAt(paths, problem, 'split the document');
  }
  return found;
}

/** The methods that a path is described for; of those with a name of their own, what they name (OpenAPI 3.2). */
function methodsOf(pathItem: DocumentNode, version: Version): ReturnType<typeof children> {
  const methods = version === '3.2' ? [...METHODS, 'query'] : METHODS;
  const fixed = methods.map((name) => [name.toUpperCase(), child(pathItem, name)] as const);
  const further = version === '3.2' ? children(child(pathItem, 'additionalOperations')) : [];
  for (const [method, at] of further) {
    if (!isToken(method)) throw faultAt(at, 'is no method', 'name it by letters, such as LINK');
  }
  return [...fixed, ...further].filter(([, { value }]) => value !== undefined);
}
