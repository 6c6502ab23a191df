import { formatPlace, UsageError } from '../../base/exit.ts';
import { tokenMember } from '../../wire/json/shape.ts';
import { type DocumentNode, type DocumentRemark, faultAt } from './source.ts';

/** The name of the value, and the index in it: `"oneOf/1" `. The place says where it stands. */
export function subjectOf(key = ''): string {
  const [name] = /[^/]*(?:\/\d+)*$/.exec(key) ?? [''];
  return name === '' || name === '#' ? '' : `${JSON.stringify(tokenMember(name))} `;
}

/** Later remarks are only counted. */
const MAX_REMARKS = 500;

/** Collects the faults of a document, each once. */
export class Remarks {
  readonly #all = new Map<string, DocumentRemark>();
  #more = 0;

  add({ place, text }: DocumentRemark): void {
    const key = `${place} ${text}`;
    if (this.#all.has(key)) return;
    if (this.#all.size < MAX_REMARKS) this.#all.set(key, { place, text });
    else this.#more += 1;
  }

  at(node: DocumentNode, problem: string, effect: string): void {
    this.fault(faultAt(node, problem, ''), effect);
  }

  /** `effect`: the consequence for the run, as the end of the line. */
  fault({ place, key, problem }: UsageError, effect: string): void {
    const text = `${subjectOf(key)}${problem}${effect === '' ? '' : `; ${effect}`}`;
    this.add({ place: place ? formatPlace(place) : '', text });
  }

  /** The result, or the fault that is thrown instead. */
  attempt<T>(read: () => T, effect: string): T | UsageError {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.fault(error, effect);
      return error;
    }
  }

  get all(): readonly DocumentRemark[] {
    const rest = { place: '', text: `${this.#more} more` };
    return this.#more === 0 ? [...this.#all.values()] : [...this.#all.values(), rest];
  }
}
