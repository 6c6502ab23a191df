import type { Key, Keys, Values } from './keys.ts';

/** What is wrong with a value below `credentials:`, and what would be right. */
export interface KeyFault {
  readonly key: string;
  readonly problem: string;
  readonly remedy: string;
}

/** One way of letting a client in: all that the house knows of it. */
export interface Scheme<Name extends string = string, K extends Keys = Keys> {
  readonly name: Name;
  /** How a credential of it is used, for the schema: `Authorization: Bearer KEY`. */
  readonly summary: string;
  /** Its keys below `credentials:`, beside `scheme`. */
  readonly keys: K;
  /** What cannot be said of one key's shape; asked before any secret is read. */
  fault?(texts: TextValues<K>): KeyFault | null;
}

/** The values of keys that are no secrets. */
export type TextValues<K extends Keys> = {
  readonly [Name in keyof K as K[Name] extends Key<string | null> ? Name : never]: Values<K>[Name];
};

/** Infers the types of a scheme's keys. */
export function scheme<const Name extends string, K extends Keys>(
  declared: Scheme<Name, K>,
): Scheme<Name, K> {
  return declared;
}
