import { readFileSync } from 'node:fs';
import type { Part } from './form.ts';

/** What came, `partsOf` findings, by the id of the check that found it; nothing where it is an echo of another. */
export type Seen = Readonly<Record<string, readonly Part[]>>;

/** What one fault does to a service, as the proof has seen it. */
export interface Entry {
  /** Name of the defect of the reference providers. */
  readonly defect: string;
  /** What is wrong, with places for values. */
  readonly sentence: string;
  /** The reference providers that can have it. */
  readonly services: readonly string[];
  /** The services and the settings of the proof under which it was seen: `search, bearer`. */
  readonly under: readonly string[];
  /** Set where it takes another way of calling than the usual one: then all checks of its own are judged. */
  readonly setting?: string;
  /** Ids of the checks that notice it for its own reason, and not along with others. */
  readonly own: readonly string[];
  /** Findings that it caused wherever the check was judged: what came, by id. */
  readonly certain: Seen;
  /** Findings that it caused only sometimes. */
  readonly possible?: Seen;
}

/** Where the proof keeps it, a line for each defect. */
export const DICTIONARY = new URL('./dictionary.json', import.meta.url);

let known: readonly Entry[] | undefined;

/** The fault dictionary that the proof has written (`npm run prove -- --update`). */
export function dictionary(): readonly Entry[] {
  known ??= JSON.parse(readFileSync(DICTIONARY, 'utf8')) as readonly Entry[];
  return known;
}
