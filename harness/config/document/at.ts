import { type Place, UsageError } from '../../base/exit.ts';
import { hasMembers } from '../../base/json-text.ts';
import { pointerToken } from '../../wire/json/pointer.ts';

/** A value of a document with where it stands. */
export interface At {
  readonly file: SourceFile;
  /** Unescaped tokens of the JSON Pointer (RFC 6901). */
  readonly pointer: readonly string[];
  readonly value: unknown;
  /** Where it is put together of parts that stand elsewhere. */
  readonly parts?: ReadonlyMap<string, At>;
}

export interface SourceFile {
  /** Real path, by which a file is known. */
  readonly path: string;
  /** As named in messages. */
  readonly shown: string;
  readonly root: unknown;
  readonly placeOf: (pointer: readonly string[]) => Place;
  /** What messages call the value at a pointer; the pointer itself where nothing better is known. */
  readonly keyOf?: (pointer: readonly string[]) => string;
}

/** The Reference Object's `$ref`; null where there is none. */
export function refOf(value: unknown): string | null {
  return hasMembers(value) && typeof value.$ref === 'string' ? value.$ref : null;
}

/** A member or an item; its value is undefined where there is none. */
export function child(at: At, name: string): At {
  const part = at.parts?.get(name);
  if (part !== undefined) return part;
  const value = hasMembers(at.value) && Object.hasOwn(at.value, name) ? at.value[name] : undefined;
  return { file: at.file, pointer: [...at.pointer, name], value };
}

/** Members of an object, or items of an array; none of anything else. */
export function children(at: At): readonly (readonly [name: string, at: At])[] {
  if (at.parts !== undefined) return [...at.parts];
  return hasMembers(at.value) ? Object.keys(at.value).map((name) => [name, child(at, name)] as const) : [];
}

/** An error at the place in the document where a value stands. */
export function faultAt({ file, pointer }: At, problem: string, remedy: string): UsageError {
  const { placeOf, keyOf = (inner) => (inner.length === 0 ? '' : pointerText(inner)) } = file;
  return new UsageError(problem, { place: placeOf(pointer), key: keyOf(pointer), remedy });
}

/** A JSON Pointer as a URI fragment (RFC 6901 §6), for messages. */
export function pointerText(pointer: readonly string[]): string {
  return `#${pointer.map(pointerToken).join('')}`;
}
