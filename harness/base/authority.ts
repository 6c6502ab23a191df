import { type ClauseValue, type Contract, findClause, placeOfClause } from './clause.ts';
import { HarnessError } from './exit.ts';
import { type ClauseKey, isClauseKey } from './vocabulary.ts';

/** The strength of a check: a violation fails, warns or is only recorded. */
export type Level = 'MUST' | 'SHOULD' | 'NONE';

/** A ground of a check as it stands for one service. */
export interface ResolvedGround {
  readonly kind: 'clause' | 'standard' | 'clients' | 'practice' | 'own';
  /** Clause key, or section of the standard (`RFC 9110 §15.5.2`), or what clients do, or name of the practice or of the user's rule. */
  readonly ref: string;
  /** `stated | advised | not-shown | config` for a clause; `MUST | SHOULD | MAY` for a standard; `relied-on`; `practice`; `MUST | SHOULD` for a rule of the user's own. */
  readonly standing: string;
  /** For a person: where it is written, e.g. `search-service.md, Limits, row 1`. */
  readonly place: string;
}

/** The basis of a check; `resolveAuthority` weighs it for one service. */
export type Ground =
  /** A clause of the contract; `key` is one of the vocabulary. */
  | { readonly kind: 'clause'; readonly key: string }
  /** A section of a standard, e.g. `RFC 9110 §15.5.2`, and how strongly it binds (RFC 2119). */
  | { readonly kind: 'standard'; readonly ref: string; readonly word: RequirementWord }
  /** Behavior of ordinary clients that a violation breaks, e.g. `Retry-After counts on 429 for urllib3`. */
  | { readonly kind: 'clients'; readonly ref: string }
  /** Security or operating practice, e.g. `OWASP API2:2023`. */
  | { readonly kind: 'practice'; readonly ref: string }
  /** A rule of the user's own: `ref` says where it is written. */
  | { readonly kind: 'own'; readonly ref: string; readonly word: 'MUST' | 'SHOULD' };

export type RequirementWord = 'MUST' | 'SHOULD' | 'MAY';

export function clause(key: ClauseKey): Ground {
  return { kind: 'clause', key };
}

/** `section` as the RFC numbers it: `15.5.2`, `A.1`. */
export function rfc(number: number, section: string, word: RequirementWord): Ground {
  return { kind: 'standard', ref: `RFC ${number} §${section}`, word };
}

export function practice(name: string): Ground {
  return { kind: 'practice', ref: name };
}

/** `behavior` names the clients and what they do. A violation breaks them, so it fails even where no standard asks for it. */
export function clients(behavior: string): Ground {
  return { kind: 'clients', ref: behavior };
}

/** RateLimit header fields for HTTP. */
export const quotaFieldsDraft: Ground = practice('draft-ietf-httpapi-ratelimit-headers-11');

type RfcGround = (section: string, word: RequirementWord) => Ground;

/** UTF-8. */
export const rfc3629: RfcGround = (section, word) => rfc(3629, section, word);
/** The WebSocket protocol. */
export const rfc6455: RfcGround = (section, word) => rfc(6455, section, word);
/** Additional HTTP status codes, 429 among them. */
export const rfc6585: RfcGround = (section, word) => rfc(6585, section, word);
/** Compression extensions for WebSocket. */
export const rfc7692: RfcGround = (section, word) => rfc(7692, section, word);
/** JSON. */
export const rfc8259: RfcGround = (section, word) => rfc(8259, section, word);
/** HTTP semantics. */
export const rfc9110: RfcGround = (section, word) => rfc(9110, section, word);
/** HTTP caching. */
export const rfc9111: RfcGround = (section, word) => rfc(9111, section, word);
/** HTTP/1.1. */
export const rfc9112: RfcGround = (section, word) => rfc(9112, section, word);
/** Problem details for HTTP APIs. */
export const rfc9457: RfcGround = (section, word) => rfc(9457, section, word);

/** Facts from the user's config by clause key; `origin` is their place in the config, for a person. */
type FilledFacts = Readonly<Record<string, { readonly value: ClauseValue; readonly origin: string }>>;

interface Authority {
  readonly level: Level;
  readonly grounds: readonly ResolvedGround[];
}

interface WeighedGround {
  readonly level: Level;
  readonly ground: ResolvedGround;
}

/** Levels as numbers, to compare them. */
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
    case 'clients':
      return {
        level: 'MUST',
        ground: { kind: 'clients', ref: ground.ref, standing: 'relied-on', place: ground.ref },
      };
    case 'practice':
      return {
        level: 'SHOULD',
        ground: { kind: 'practice', ref: ground.ref, standing: 'practice', place: ground.ref },
      };
    case 'own':
      return {
        level: ground.word,
        ground: { kind: 'own', ref: ground.ref, standing: ground.word, place: ground.ref },
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
  const { standing } = clause;
  const openness = whyOpen(key, contract);
  const at = placeOfClause(contract, clause);
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
