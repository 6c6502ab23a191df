import { HarnessError } from '../base/exit.ts';
import { hasMembers, isJsonObject } from '../base/json-text.ts';
import { Secret } from '../base/secret.ts';
import { nameElsewhere } from '../wire/redaction/marker.ts';
import { SHORTEST_SECRET } from '../wire/redaction/redaction.ts';
import { proxyPasswords } from '../wire/socket/proxies.ts';
import { derivedSecrets } from './credential/placing.ts';
import type { Credentials } from './credential/scheme.ts';
import { schemeNamed } from './credential/schemes.ts';
import { formOf, type SecretProfile } from './credential/stand-in.ts';
import { derivedOnce } from './derived.ts';
import type { ServiceConfig } from './service.ts';

/** Credentials come first: a value goes by its first name. Values too short to be hidden are left out. */
export const serviceSecrets: (config: ServiceConfig) => readonly Secret[] = derivedOnce(
  (config) => [config],
  hiddenSecrets,
);

function hiddenSecrets(config: ServiceConfig): readonly Secret[] {
  const { values, secret } = config.credentials;
  return [
    ...secretsIn(values),
    ...(secret ? derivedSecrets(secret) : []),
    ...furtherSecrets(config).filter(isHidden),
  ];
}

/** Names of the values read through references that reports show, since they are too short to be hidden. */
export function shownValues(config: ServiceConfig): readonly string[] {
  const shown = furtherSecrets(config).filter((each) => each.reveal() !== '' && !isHidden(each));
  return [...new Set(shown.map(({ name }) => name.replace(/@.*/s, '')))];
}

function furtherSecrets({ credentials, ...others }: ServiceConfig): readonly Secret[] {
  return [...secretsIn(others), ...(others.proxies ? proxyPasswords(others.proxies) : [])];
}

const isHidden = (secret: Secret) => secret.reveal().length >= SHORTEST_SECRET;

/** Secrets of all services: those of `own` first, those of the others known as theirs. */
export function runSecrets(configs: readonly ServiceConfig[], own?: ServiceConfig): readonly Secret[] {
  if (own === undefined) return configs.flatMap(serviceSecrets);
  return unpackRunSecrets(packRunSecrets(configs), own.service);
}

/** The forms of the secrets of a service, each name once. */
export const secretForms = derivedOnce(
  (config) => [config],
  ({ credentials, ...others }): readonly SecretProfile[] => {
    const all = [...secretsIn(credentials.values), ...secretsIn(others)];
    const forms = all.filter(isHidden).map(formOf);
    return [...new Map(forms.map((form) => [form.name, form])).values()];
  },
);

/** By part of a config: none of them changes, and several views of a config have most of them in common. */
const secretsByPart = new WeakMap<object, readonly Secret[]>();

/** Each secret in a config or a part of it, however deep, once. */
export function secretsIn(config: object): readonly Secret[] {
  const parts = Object.values(config).filter(hasMembers);
  return [
    ...new Set(
      parts.flatMap((part) => {
        const secrets = secretsByPart.get(part) ?? secretsWithin(part);
        secretsByPart.set(part, secrets);
        return secrets;
      }),
    ),
  ];
}

function secretsWithin(part: object): readonly Secret[] {
  const met = new Set<object>();
  const secrets: Secret[] = [];
  const walk = (inner: unknown): void => {
    if (!hasMembers(inner) || met.has(inner)) return;
    met.add(inner);
    if (inner instanceof Secret) secrets.push(inner);
    else for (const member of Object.values(inner)) walk(member);
  };
  walk(part);
  return secrets;
}

interface PackedService {
  readonly packed: 'conform service 1';
  /** The config with one of `secrets` wherever it has a secret: structured clone keeps which objects are the same. */
  readonly config: unknown;
  readonly secrets: readonly PackedSecret[];
}

/** A config whose secrets are packed, with the credentials as the file has them. */
type Carried = Omit<ServiceConfig, 'credentials'> & {
  readonly credentials: { readonly scheme: string; readonly values: Credentials['values'] };
};

/** A validated config in a form that structured clone carries to a worker process, secrets in clear. */
export function packService(config: ServiceConfig): unknown {
  const { scheme, values } = config.credentials;
  const { pacts } = config;
  const carried: Carried = {
    ...config,
    credentials: { scheme: scheme.name, values },
    // Brokers are asked before there are workers, so their secrets stay where they are.
    ...(pacts && { pacts: { ...pacts, broker: null } }),
  };
  const secrets = new Map(secretsIn(carried).map((secret) => [secret, packedSecret(secret)]));
  const packed: PackedService = {
    packed: 'conform service 1',
    config: copyWith(carried, secrets),
    secrets: [...secrets.values()],
  };
  return packed;
}

interface ServiceSecrets {
  readonly service: string;
  readonly secrets: readonly PackedSecret[];
}

/** Every secret of a run in a form that structured clone carries to a worker process, in clear. */
export type PackedRunSecrets = readonly ServiceSecrets[];

export function packRunSecrets(configs: readonly ServiceConfig[]): PackedRunSecrets {
  return configs.map((config) => {
    return { service: config.service, secrets: serviceSecrets(config).map(packedSecret) };
  });
}

export function unpackRunSecrets(packed: PackedRunSecrets, own: string): readonly Secret[] {
  const owned = packed.filter(({ service }) => service === own);
  const others = packed.filter(({ service }) => service !== own);
  const known = ({ service, secrets }: ServiceSecrets) =>
    secrets.map(({ secretName, secretValue }) => new Secret(nameElsewhere(secretName, service), secretValue));
  return [...owned.flatMap(({ secrets }) => secrets.map(unpackedSecret)), ...others.flatMap(known)];
}

/** @throws HarnessError when it is nothing that `packService` made. */
export function unpackService(packed: unknown): ServiceConfig {
  if (!isPacked(packed))
    throw new HarnessError('a worker was given something that is no packed service config');
  const secrets = new Map(packed.secrets.map((secret) => [secret, unpackedSecret(secret)]));
  // Whatever calls itself so was made by `packService`.
  const carried = copyWith(packed.config, secrets) as Carried;
  const scheme = schemeNamed(carried.credentials.scheme);
  if (!scheme) throw new HarnessError('a worker was given credentials of no known scheme');
  return { ...carried, credentials: scheme.of(carried.credentials.values) };
}

function isPacked(value: unknown): value is PackedService {
  return (
    isJsonObject(value) &&
    value.packed === 'conform service 1' &&
    isJsonObject(value.config) &&
    Array.isArray(value.secrets)
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

/** A copy of plain data with some objects replaced. Objects that were the same stay the same. */
function copyWith(value: unknown, others: ReadonlyMap<object, object>): unknown {
  const copies = new Map<object, object>(others);
  const copy = (inner: unknown): unknown => {
    if (!hasMembers(inner)) return inner;
    const known = copies.get(inner);
    if (known) return known;
    const members = Object.entries(inner).map(([key, member]) => [key, copy(member)] as const);
    const made = Array.isArray(inner) ? members.map(([, member]) => member) : Object.fromEntries(members);
    copies.set(inner, made);
    return made;
  };
  return copy(value);
}

export function isPackedSecret(value: unknown): value is PackedSecret {
  if (!hasMembers(value) || Object.keys(value).length !== 3) return false;
  const { secretName, secretValue, secretPlace } = value;
  return [secretName, secretValue, secretPlace].every((part) => typeof part === 'string');
}
