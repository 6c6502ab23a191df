import { type ClauseValue, type Contract, findClause } from './clause.ts';
import { HarnessError } from './exit.ts';
import type { Ground, RequirementWord } from './ground.ts';
import type { Level, ResolvedGround } from './outcome.ts';
import { isClauseKey } from './vocabulary.ts';

/** What the user's config fills in, by clause key; `origin` is the place in the config, for a person. */
type FilledFacts = Readonly<Record<string, { readonly value: ClauseValue; readonly origin: string }>>;

interface Authority {
  readonly level: Level;
  readonly grounds: readonly ResolvedGround[];
}

interface WeighedGround {
  readonly level: Level;
  readonly ground: ResolvedGround;
}

/** How much a level binds, to be compared. */
export const STRENGTH: Readonly<Record<Level, number>> = { NONE: 0, SHOULD: 1, MUST: 2 };

const LEVEL_OF_WORD: Readonly<Record<RequirementWord, Level>> = {
  MUST: 'MUST',
  SHOULD: 'SHOULD',
  MAY: 'NONE',
};

const LEVEL_OF_STANDING = { stated: 'MUST', advised: 'SHOULD', 'not-shown': 'NONE' } as const;

/**
 * The strength of a check for one service: that of its strongest ground. Standards bind through the protocol
 * that the service speaks, so they weigh the same whatever its contract says.
 *
 * @throws HarnessError when a ground names a clause key that the vocabulary does not have.
 */
export function resolveAuthority(
  grounds: readonly Ground[],
  contract: Contract,
  facts: FilledFacts,
): Authority {
  const weighed = grounds.map((ground) => weigh(ground, contract, facts));
  return {
    level: weighed.reduce<Level>(
      (strongest, { level }) => (STRENGTH[level] > STRENGTH[strongest] ? level : strongest),
      'NONE',
    ),
    grounds: weighed.map(({ ground }) => ground),
  };
}

function weigh(ground: Ground, contract: Contract, facts: FilledFacts): WeighedGround {
  switch (ground.kind) {
    case 'clause':
      return weighClause(ground.key, contract, facts);
    case 'standard':
      return {
        level: LEVEL_OF_WORD[ground.word],
        ground: {
          kind: 'standard',
          ref: ground.ref,
          standing: ground.word,
          place: standardPlace(ground.ref),
        },
      };
    case 'practice':
      return {
        level: 'SHOULD',
        ground: { kind: 'practice', ref: ground.ref, standing: 'practice', place: ground.ref },
      };
  }
}

function weighClause(key: string, contract: Contract, facts: FilledFacts): WeighedGround {
  if (!isClauseKey(key)) throw new HarnessError(`a ground names ${key}, which no contract can hold`);
  const fact = Object.hasOwn(facts, key) ? facts[key] : undefined;
  if (fact) {
    return { level: 'MUST', ground: { kind: 'clause', ref: key, standing: 'config', place: fact.origin } };
  }
  const clause = findClause(contract, key);
  if (!clause) {
    const place = `${contract.source.document} has no such row`;
    return { level: 'NONE', ground: { kind: 'clause', ref: key, standing: 'not-shown', place } };
  }
  const { standing, place } = clause;
  const openness = whyOpen(key, contract);
  const at = `${contract.source.document}, ${place.section}, row ${place.row}`;
  return {
    level: openness === null ? LEVEL_OF_STANDING[standing] : 'NONE',
    ground: { kind: 'clause', ref: key, standing, place: openness === null ? at : `${at} (${openness})` },
  };
}

/**
 * Why a clause cannot be held against the provider as it stands. A contradiction weighs on both sides, whichever
 * of the two records it: the documents do not say which one holds, and only the config can settle it, side
 * by side (a configured `auth.scheme` says nothing of the sample that contradicted it).
 */
function whyOpen(key: string, contract: Contract): string | null {
  const clause = findClause(contract, key);
  const opponents = new Set(clause?.contradicts ?? []);
  for (const other of contract.clauses) {
    if (other.key !== key && other.contradicts?.includes(key)) opponents.add(other.key);
  }
  if (opponents.size > 0) return `contradicted by ${[...opponents].sort().join(', ')}`;
  return clause?.question === undefined ? null : 'leaves a question open';
}

const RFC_REF = /^RFC (\d+) §([0-9A-Z.]+)$/;

/** Where to read it: the section's address for an RFC, else the reference itself. */
function standardPlace(ref: string): string {
  const [, number, section] = RFC_REF.exec(ref) ?? [];
  if (number === undefined || section === undefined) return ref;
  const anchor = /^\d/.test(section) ? `section-${section}` : `appendix-${section}`;
  return `https://www.rfc-editor.org/rfc/rfc${number}#${anchor}`;
}
