import { HarnessError } from '../base/exit.ts';
import { hasMembers, isJsonObject } from '../base/json-text.ts';
import { derivedSecrets } from '../credential/placing.ts';
import type { Credentials } from '../credential/scheme.ts';
import { schemeNamed } from '../credential/schemes.ts';
import { Secret } from '../credential/secret.ts';
import { formOf, type SecretForm } from '../credential/stand-in.ts';
import { nameElsewhere } from '../evidence/redaction/marker.ts';
import { LEAST_CHARACTERS } from './draft/secret.ts';
import { brokerSecrets } from './pact/pacts.ts';
import { proxySecrets } from './proxies.ts';
import type { ServiceConfig } from './service.ts';

/**
 * Every secret between the harness and the service: with which a client is let in, with which the service signs what
 * it sends, what its provider is started with, and what lets a client through a proxy. Of the last two only those that
 * can be told from other text: a shorter one, such as the password `admin`, would be found all over the evidence.
 */
export function serviceSecrets(config: ServiceConfig): readonly Secret[] {
  const { credentials, webhooks, signatures, provider, headers, tls, proxies, references } = config;
  const { secret } = credentials;
  const further = [...secretsIn(provider), ...(proxies ? proxySecrets(proxies) : [])];
  const started = further.filter((secret) => secret.reveal().length >= LEAST_CHARACTERS);
  return [
    ...secretsIn(credentials.values),
    ...(secret ? derivedSecrets(secret) : []),
    ...started,
    ...secretsIn([webhooks, signatures, headers, tls, references]),
  ];
}

/**
 * What may hold secrets beside the credentials. A worker starts no provider, but must know its secrets, which may show
 * in its answers.
 */
const SECRETIVE = ['provider', 'webhooks', 'signatures', 'headers', 'tls', 'proxies', 'references'] as const;

/** The secrets of a service and of its brokers. */
interface Owned<S> {
  readonly service: string;
  readonly secrets: readonly S[];
}

/**
 * Every secret of a run: those of all services and of their brokers. `own`: the service whose evidence it is; its
 * secrets come first, and those of the others are known as theirs.
 */
export function runSecrets(configs: readonly ServiceConfig[], own?: ServiceConfig): readonly Secret[] {
  if (own === undefined) return configs.flatMap((config) => ownedBy(config).secrets);
  return unpackRunSecrets(packRunSecrets(configs), own.service);
}

/** The forms of the secrets of a service, each name once. */
export function secretForms(config: ServiceConfig): readonly SecretForm[] {
  const parts = [config.credentials.values, ...SECRETIVE.map((part) => config[part]), config.pacts?.broker];
  const forms = secretsIn(parts).map(formOf);
  return [...new Map(forms.map((form) => [form.name, form])).values()];
}

function ownedBy(config: ServiceConfig): Owned<Secret> {
  const secrets = [...serviceSecrets(config), ...brokerSecrets(config.pacts?.broker ?? null)];
  return { service: config.service, secrets };
}

/** Each secret in it, however deep. */
export function secretsIn(value: unknown): readonly Secret[] {
  if (value instanceof Secret) return [value];
  if (!hasMembers(value)) return [];
  return Object.values(value).flatMap(secretsIn);
}

type Secretive = Pick<ServiceConfig, (typeof SECRETIVE)[number]> & {
  readonly credentials: { readonly scheme: string; readonly values: Credentials['values'] };
};

interface PackedService {
  readonly packed: 'conform service 1';
  readonly config: Omit<ServiceConfig, keyof Secretive>;
  readonly secretive: Packed<Secretive>;
}

/** A validated config in a form that structured clone carries to a worker process, secrets in clear. */
export function packService(config: ServiceConfig): unknown {
  const { credentials, provider, webhooks, signatures, headers, tls, proxies, references, ...rest } = config;
  const packed: PackedService = {
    packed: 'conform service 1',
    // Brokers are asked before there are workers, so their secrets stay where they are.
    config: rest.pacts ? { ...rest, pacts: { ...rest.pacts, broker: null } } : rest,
    secretive: packSecrets({
      credentials: { scheme: credentials.scheme.name, values: credentials.values },
      provider,
      ...(webhooks && { webhooks }),
      ...(signatures && { signatures }),
      ...(headers && { headers }),
      ...(tls && { tls }),
      ...(proxies && { proxies }),
      ...(references && { references }),
    }),
  };
  return packed;
}

/** Every secret of a run in a form that structured clone carries to a worker process, in clear. */
export type PackedRunSecrets = readonly Owned<PackedSecret>[];

export function packRunSecrets(configs: readonly ServiceConfig[]): PackedRunSecrets {
  return configs.map(ownedBy).map(({ service, secrets }) => ({
    service,
    secrets: secrets.map(packedSecret),
  }));
}

/** As `runSecrets` of that service. */
export function unpackRunSecrets(packed: PackedRunSecrets, own: string): readonly Secret[] {
  const [owned, others] = [packed.filter(isOwn), packed.filter((each) => !isOwn(each))];
  function isOwn({ service }: Owned<PackedSecret>): boolean {
    return service === own;
  }
  return [
    ...owned.flatMap(({ secrets }) => secrets.map(unpackedSecret)),
    ...others.flatMap(({ service, secrets }) =>
      secrets.map(
        ({ secretName, secretValue }) => new Secret(nameElsewhere(secretName, service), secretValue),
      ),
    ),
  ];
}

/** @throws HarnessError when it is nothing that `packService` made. */
export function unpackService(packed: unknown): ServiceConfig {
  if (!isPacked(packed))
    throw new HarnessError('a worker was given something that is no packed service config');
  const { credentials, ...secretive } = unpackSecrets<Secretive>(packed.secretive);
  const scheme = schemeNamed(credentials.scheme);
  if (!scheme) throw new HarnessError('a worker was given credentials of no known scheme');
  return { ...packed.config, ...secretive, credentials: scheme.of(credentials.values) };
}

function isPacked(value: unknown): value is PackedService {
  return (
    isJsonObject(value) && value.packed === 'conform service 1' && 'config' in value && 'secretive' in value
  );
}

/** Structured clone drops private fields, so each secret travels as this; never to be written anywhere. */
export interface PackedSecret {
  readonly secretName: string;
  readonly secretValue: string;
  readonly secretPlace: string;
}

function packedSecret(secret: Secret): PackedSecret {
  return { secretName: secret.name, secretValue: secret.reveal(), secretPlace: secret.place };
}

function unpackedSecret({ secretName, secretValue, secretPlace }: PackedSecret): Secret {
  return new Secret(secretName, secretValue, secretPlace);
}

/** The same with every secret in it, however deep, as such an object. */
type Packed<T> = T extends Secret
  ? PackedSecret
  : T extends object
    ? { readonly [Key in keyof T]: Packed<T[Key]> }
    : T;

/** `value` is plain data, without circles, but for the secrets in it. */
function packSecrets<T>(value: T): Packed<T> {
  const packed = withEach(value, (inner) => (inner instanceof Secret ? packedSecret(inner) : null));
  return packed as Packed<T>;
}

function unpackSecrets<T>(packed: Packed<T>): T {
  const value = withEach(packed, (inner) => (isPackedSecret(inner) ? unpackedSecret(inner) : null));
  return value as T;
}

/** A copy in which every object that `exchange` gives another one for has that one in its place. */
function withEach(value: unknown, exchange: (inner: object) => object | null): unknown {
  if (!hasMembers(value)) return value;
  const other = exchange(value);
  if (other !== null) return other;
  if (Array.isArray(value)) return value.map((inner) => withEach(inner, exchange));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withEach(inner, exchange)]));
}

export function isPackedSecret(value: unknown): value is PackedSecret {
  const names = ['secretName', 'secretValue', 'secretPlace'];
  if (!hasMembers(value) || Object.keys(value).length !== names.length) return false;
  return names.every((name) => Object.hasOwn(value, name) && typeof value[name] === 'string');
}
