import { latin1Octets } from '../octets/utf8.ts';
import { type Derivation, findMarkers } from '../redaction/marker.ts';

/**
 * Text as one word of a POSIX shell (XCU §2.2), each marker of a whole secret as a parameter expansion, and each long
 * run of one character as a command that makes it. Nothing in the text is ever interpreted: literal stretches stand in
 * single quotes, and octets that a terminal or an editor would garble are written by printf.
 */

/** A stretch of text that stands for itself, or a word that expands to it. */
type Stretch = { readonly literal: string } | { readonly word: string };

/** A run of the same octet that is made, not written; a shell would lose NUL, and line ends at the end. */
const LONG_RUN = /([^\0\n])\1{63,}/g;

/** A fragment of a secret has no variable; its marker stays text, and is as wrong a credential as the fragment. */
function stretchesOf(text: string): readonly Stretch[] {
  const places = findMarkers(text)
    .filter(({ part }) => !part)
    .map(({ name, start, end }) => ({ word: secretWord(name), start, end }));
  return between(text, places).flatMap((stretch) =>
    'literal' in stretch ? between(stretch.literal, runsIn(stretch.literal)) : stretch,
  );
}

interface WordPlace {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

function between(text: string, places: readonly WordPlace[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let at = 0;
  for (const { word, start, end } of places) {
    stretches.push({ literal: text.slice(at, start) }, { word });
    at = end;
  }
  stretches.push({ literal: text.slice(at) });
  return stretches.filter((stretch) => 'word' in stretch || stretch.literal !== '');
}

function runsIn(text: string): readonly WordPlace[] {
  return Array.from(text.matchAll(LONG_RUN), ({ 0: run, 1: character = '', index }) => {
    const wanted = /[A-Za-z0-9]/.test(character) ? character : `'${octal(character.charCodeAt(0))}'`;
    return {
      word: `"$(head -c ${run.length} /dev/zero | tr '\\0' ${wanted})"`,
      start: index,
      end: index + run.length,
    };
  });
}

/** How long the longest stretch is that a command has to write out, in octets. */
export function longestWritten(text: string): number {
  return Math.max(
    0,
    ...stretchesOf(text).map((stretch) => ('literal' in stretch ? stretch.literal.length : 0)),
  );
}

const PLAIN = /^[ -~]*$/;
/** Needs no quotes anywhere in a word. */
const BARE = /^[A-Za-z0-9_./:=@%+,-]+$/;

/** `text` has latin1 characters, each an octet. NUL cannot stand in a word and is left out by the shell. */
export function shellWord(text: string): string {
  const stretches = stretchesOf(text);
  const isPlain = stretches.every((stretch) => 'word' in stretch || PLAIN.test(stretch.literal));
  if (!isPlain) return `"$(${printf(stretches)})"`;
  return stretches.map(quoted).join('') || "''";
}

/** A printf command that writes exactly these latin1 octets, NUL included. */
export function printfCommand(text: string): string {
  return printf(stretchesOf(text));
}

function quoted(stretch: Stretch): string {
  if ('word' in stretch) return stretch.word;
  return BARE.test(stretch.literal) ? stretch.literal : singleQuoted(stretch.literal);
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function printf(stretches: readonly Stretch[]): string {
  const format = stretches
    .map((stretch) => ('literal' in stretch ? formatOf(stretch.literal) : '%s'))
    .join('');
  const values = stretches.flatMap((stretch) => ('word' in stretch ? [` ${stretch.word}`] : []));
  // `--`, or a text that begins with a hyphen would be taken for an option.
  return `printf ${/^[-%]/.test(format) || format === '' ? '-- ' : ''}${singleQuoted(format)}${values.join('')}`;
}

const NAMED: Readonly<Record<string, string>> = { '%': '%%', '\\': '\\\\', '\r': '\\r', '\n': '\\n' };

/** What printf writes as this text; other octets beyond printable ASCII in octal. */
function formatOf(text: string): string {
  return Array.from(latin1Octets(text), (octet) => {
    const char = String.fromCharCode(octet);
    // An interactive shell takes ! for its history, even here.
    return NAMED[char] ?? (octet >= 0x20 && octet <= 0x7e && char !== '!' ? char : octal(octet));
  }).join('');
}

function octal(octet: number): string {
  return `\\${octet.toString(8).padStart(3, '0')}`;
}

/** What a POSIX shell makes of the environment variable of the right key (XCU §2.6), as one quoted word. */
const EXPANSIONS: Readonly<Record<Derivation, (variable: string) => string>> = {
  truncated: (variable) => `"\${${variable}%?}"`,
  extended: (variable) => `"\${${variable}}x"`,
  'case-flipped': (variable) => `"$(printf %s "$${variable}" | tr A-Za-z a-zA-Z)"`,
  altered: (variable) => `"x\${${variable}#?}"`,
};

/** A secret's value as one word of a POSIX shell, from the environment variable of its name. */
export function secretWord(name: string): string {
  const [variable = ''] = name.split('@');
  const [, base = variable, derivation] = /^(.+)\.([a-z-]+)$/.exec(variable) ?? [];
  return isDerivation(derivation)
    ? EXPANSIONS[derivation](environmentName(base))
    : `"$${environmentName(variable)}"`;
}

/** The environment variable of a secret: its name where that is a shell identifier, else made one. */
export function environmentName(secret: string): string {
  const name = secret.replace(/[^A-Za-z0-9_]/g, '_');
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}

function isDerivation(text: string | undefined): text is Derivation {
  return text !== undefined && text in EXPANSIONS;
}
