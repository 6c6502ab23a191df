import { Secret } from '../../credential/secret.ts';
import { hasMembers } from '../../json-text.ts';

/** Structured clone drops private fields, so each secret travels as this pair; never to be written anywhere. */
interface PackedSecret {
  readonly secretName: string;
  readonly secretValue: string;
}

/** The same with every secret in it, however deep, as a pair. */
export type Packed<T> = T extends Secret
  ? PackedSecret
  : T extends object
    ? { readonly [Key in keyof T]: Packed<T[Key]> }
    : T;

/** `value` is plain data, without circles, but for the secrets in it. */
export function packSecrets<T>(value: T): Packed<T> {
  const packed = withEach(value, (inner) =>
    inner instanceof Secret ? { secretName: inner.name, secretValue: inner.reveal() } : null,
  );
  return packed as Packed<T>;
}

export function unpackSecrets<T>(packed: Packed<T>): T {
  const value = withEach(packed, (inner) =>
    isPackedSecret(inner) ? new Secret(inner.secretName, inner.secretValue) : null,
  );
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

function isPackedSecret(value: object): value is PackedSecret {
  return (
    'secretName' in value &&
    typeof value.secretName === 'string' &&
    'secretValue' in value &&
    typeof value.secretValue === 'string' &&
    Object.keys(value).length === 2
  );
}
