import { Secret } from './secret.ts';

/** Structured clone drops private fields, so each secret travels as this pair; never to be written anywhere. */
export interface PackedSecret {
  readonly secretName: string;
  readonly secretValue: string;
}

export type Packed<T> = T extends Secret
  ? PackedSecret
  : T extends object
    ? { readonly [Key in keyof T]: Packed<T[Key]> }
    : T;

export function packSecret(secret: Secret): PackedSecret {
  return { secretName: secret.name, secretValue: secret.reveal() };
}

export function unpackSecret({ secretName, secretValue }: PackedSecret): Secret {
  return new Secret(secretName, secretValue);
}
