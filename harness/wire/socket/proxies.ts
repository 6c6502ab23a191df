import { BlockList, isIP } from 'node:net';
import { UsageError } from '../../base/exit.ts';
import { isLoopback, withoutBrackets } from '../../base/loopback.ts';
import { Secret } from '../../base/secret.ts';
import { percentDecoded } from '../request.ts';

/** The proxies of the environment: through which one an address is reached. */
export interface Proxies {
  /** For http and ws. */
  readonly plain: ForwardProxy | null;
  /** For https and wss. */
  readonly secure: ForwardProxy | null;
  /** Which hosts are reached without one, as NO_PROXY says it. */
  readonly exempt: string;
}

export interface ForwardProxy {
  /** The variable that names it: `HTTPS_PROXY`. */
  readonly variable: string;
  /** It is spoken to over TLS. */
  readonly secure: boolean;
  /** An IPv6 address without its brackets. */
  readonly host: string;
  readonly port: number;
  /** Without user and password: `http://proxy.example:3128`. */
  readonly shown: string;
  /** `user:password` as Basic authentication has it (RFC 7617 §2); null for none. */
  readonly login: Secret | null;
}

/** Reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY; each in small letters comes first. @throws UsageError for no proxy that can be used. */
export function proxiesOf(env: NodeJS.ProcessEnv): Proxies {
  const exempt = set(env, 'NO_PROXY')?.value ?? '';
  const read = (name: string) => (entriesOf(exempt).includes('*') ? null : proxyIn(set(env, name)));
  return { plain: read('HTTP_PROXY'), secure: read('HTTPS_PROXY'), exempt };
}

/** To be kept out of reports beside the logins: of each the password, or the user where that is all there is. */
export function proxyPasswords({ plain, secure }: Proxies): readonly Secret[] {
  return [plain, secure].flatMap((proxy) => {
    if (!proxy?.login) return [];
    const { login } = proxy;
    const [user = '', password = ''] = login.reveal().split(/:(.*)/s, 2);
    return [new Secret(login.name, password || user)];
  });
}

interface ProxyTarget {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
}

/** The proxy on the way there; null where the way is direct, as it always is to this machine. */
export function proxyFor(target: ProxyTarget, { plain, secure, exempt }: Proxies): ForwardProxy | null {
  const proxy = target.secure ? secure : plain;
  if (proxy === null || isLoopback(target.host)) return null;
  return entriesOf(exempt).some((entry) => covers(entry, target)) ? null : proxy;
}

interface Variable {
  readonly name: string;
  readonly value: string;
}

function set(env: NodeJS.ProcessEnv, name: string): Variable | null {
  const known = [name.toLowerCase(), name].find((each) => (env[each] ?? '').trim() !== '');
  return known === undefined ? null : { name: known, value: (env[known] ?? '').trim() };
}

/** The value is never quoted: it may hold a password. */
function proxyIn(variable: Variable | null): ForwardProxy | null {
  if (variable === null) return null;
  const { name, value } = variable;
  const fault = (problem: string) =>
    new UsageError(`the environment variable ${name} ${problem}`, {
      remedy: `export ${name}=http://HOST:PORT, or name in NO_PROXY what is reached without a proxy (* for everything)`,
    });
  // A bare host and port is what most programs take as well.
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  if (url === null || url.hostname === '') throw fault('is not the URL of a proxy');
  if (!/^https?:$/.test(url.protocol)) {
    throw fault(`names a proxy of the kind ${url.protocol.slice(0, -1)}, and only http and https are known`);
  }
  const secure = url.protocol === 'https:';
  const login = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
  return {
    variable: name,
    secure,
    host: withoutBrackets(url.hostname),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    shown: url.origin,
    login: login === ':' ? null : new Secret(`${name}_LOGIN`, login),
  };
}

function entriesOf(exempt: string): readonly string[] {
  return exempt.split(/[\s,]+/).filter((entry) => entry !== '');
}

/**
 * One entry of NO_PROXY: a name stands for itself and all below it, with or without a dot or `*.` before it; an address
 * may be a block of them (10.0.0.0/8); a port behind either narrows it down.
 */
function covers(entry: string, { host, port }: ProxyTarget): boolean {
  if (entry === '*') return true;
  const [, block = '', bits] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (bits !== undefined) return isWithin(host, withoutBrackets(block), Number(bits));
  // The colons of an IPv6 address without brackets are no port's.
  const [, named = entry, only] = (isIP(entry) === 6 ? null : /^(.+):(\d{1,5})$/.exec(entry)) ?? [];
  if (only !== undefined && Number(only) !== port) return false;
  const name = withoutBrackets(named);
  if (isIP(name) !== 0) return isWithin(host, name);
  const suffix = name.replace(/^\*?\.|\.$/g, '').toLowerCase();
  const asked = host.replace(/\.$/, '').toLowerCase();
  return suffix !== '' && isIP(asked) === 0 && `.${asked}`.endsWith(`.${suffix}`);
}

function isWithin(host: string, block: string, bits?: number): boolean {
  const family = isIP(block);
  const most = family === 6 ? 128 : 32;
  if (isIP(host) === 0 || family === 0 || (bits ?? most) > most) return false;
  const list = new BlockList();
  list.addSubnet(block, bits ?? most, family === 6 ? 'ipv6' : 'ipv4');
  return list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}
