import { inspect } from 'node:util';

/**
 * A secret value that cannot be printed by accident: every usual way to turn it into text yields its mask.
 * `reveal()` is called only where the value goes onto the wire or into the redactor.
 */
export class Secret {
  readonly #value: string;
  /** How reports and curl lines name it: the environment variable where there is one, e.g. `SEARCH_API_KEY`. */
  readonly name: string;
  /** Where it was read, for a sentence: `SEARCH_API_KEY`, `the file key.txt`. */
  readonly place: string;

  constructor(name: string, value: string, place = name) {
    this.name = name;
    this.#value = value;
    this.place = place;
  }

  reveal(): string {
    return this.#value;
  }

  /** No other text has this value by chance: at least 16 characters, letters and digits among them. */
  get isUnmistakable(): boolean {
    return this.#value.length >= 16 && /\d/.test(this.#value) && /\p{L}/u.test(this.#value);
  }

  toString(): string {
    return `[secret ${this.name}]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** A text with secret parts: printed masked, revealed only to the provider. */
export type SecretText = readonly (string | Secret)[];

export function revealed(text: SecretText): string {
  return text.map((piece) => (typeof piece === 'string' ? piece : piece.reveal())).join('');
}

/** Fit to be shown. */
export function masked(text: SecretText): string {
  return text.map(String).join('');
}
