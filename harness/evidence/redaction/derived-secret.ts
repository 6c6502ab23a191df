/** Wrong keys that are made of the right one, and so give it away: they are secrets of their own. */
export type Derivation = 'truncated' | 'extended' | 'case-flipped';

/** What a POSIX shell makes of the environment variable of the right key, as one quoted word (XCU §2.6). */
const EXPANSIONS: Readonly<Record<Derivation, (variable: string) => string>> = {
  truncated: (variable) => `"\${${variable}%?}"`,
  extended: (variable) => `"\${${variable}}x"`,
  'case-flipped': (variable) => `"$(printf %s "$${variable}" | tr A-Za-z a-zA-Z)"`,
};

/** The name under which markers show it: `SEARCH_API_KEY.truncated`, which no environment variable is called. */
export function derivedName(name: string, derivation: Derivation): string {
  return `${name}.${derivation}`;
}

/** A secret's value as one word of a POSIX shell, from the environment variable of its name. */
export function secretWord(name: string): string {
  const [, base = name, derivation] = /^(.+)\.([a-z-]+)$/.exec(name) ?? [];
  return isDerivation(derivation)
    ? EXPANSIONS[derivation](environmentName(base))
    : `"$${environmentName(name)}"`;
}

/** The environment variable of a secret: its name where that is a shell identifier, else made one. */
export function environmentName(secret: string): string {
  const name = secret.replace(/[^A-Za-z0-9_]/g, '_');
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}

function isDerivation(text: string | undefined): text is Derivation {
  return text !== undefined && text in EXPANSIONS;
}
