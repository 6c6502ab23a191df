import { distance } from 'fastest-levenshtein';

const MOST = 3;

/** Three known names at most that a mistyped one may have meant, best first; empty if none is near. */
export function nearestNames(wanted: string, known: readonly string[]): readonly string[] {
  const plain = wanted.toLowerCase();
  const near = (name: string): number => {
    const other = name.toLowerCase();
    const off = distance(plain, other);
    if (lettersOf(plain) === lettersOf(other)) return Math.min(off, 1);
    if (off <= Math.max(1, Math.floor(Math.max(plain.length, other.length) / 3))) return off;
    const within = plain.length >= 3 && other.length >= 3 && (other.includes(plain) || plain.includes(other));
    // A part of a name is a weaker hint than a slip of the finger.
    return within ? 100 + off : Number.POSITIVE_INFINITY;
  };
  return known
    .map((name) => ({ name, off: near(name) }))
    .filter(({ off }) => Number.isFinite(off))
    .sort((a, b) => a.off - b.off || a.name.localeCompare(b.name))
    .slice(0, MOST)
    .map(({ name }) => name);
}

/** `: did you mean auth.refusal?`, to go behind a sentence; empty where no name is near. */
export function nearestHint(wanted: string, known: readonly string[]): string {
  const near = nearestNames(wanted, known);
  return near.length > 0 ? `: did you mean ${near.join(' or ')}?` : '';
}

function lettersOf(word: string): string {
  return [...word].sort().join('');
}

/** The remedy for an unknown name: the nearest ones, and the whole list while it is short. */
export function didYouMean(wanted: string, known: readonly string[]): string {
  if (known.length === 0) return 'there is none to choose from';
  const near = nearestNames(wanted, known);
  const list = known.length <= 24 ? `one of: ${known.join(', ')}` : `one of ${known.length} names`;
  return near.length > 0 ? `did you mean ${near.join(' or ')}? It is ${list}` : `use ${list}`;
}
