import { isJsonObject } from '../../../base/json-text.ts';
import type { ConstraintTrial, Facets, InputTrial, requestOfCall } from './call.ts';
import { facetsOf } from './call.ts';
import { changeFor } from './input-change.ts';
import { refusalBy } from './refusal.ts';
import { exampleOf, quoted, type ReplaceableMember, type TrialScope, withBody } from './replaceable.ts';

/** Requests that try which members an object in the body may have, and how many. */

export const UNKNOWN_NAME = 'conform-unknown';
/** Members of an object that is made up. */
const MAX_MEMBERS = 100;

/** Required members left out, and the whole body. */
export function* missingMembers(
  { call, place }: TrialScope,
  members: readonly ReplaceableMember[],
): Generator<InputTrial> {
  const missing = (tried: Pick<ConstraintTrial, 'in' | 'name'>, words: string) => ({
    kind: 'missing' as const,
    what: `without ${words}`,
    tries: { ...tried, keyword: 'required', side: 'outside' as const },
    change: changeFor('missing', { words, place }),
  });
  for (const { tried, isRequired, isShown, refuses, words, with: withValue } of members) {
    if (!isRequired || !isShown || !refuses(undefined)) continue;
    const request = withValue(undefined);
    // An empty form is no body, which may be left out.
    if (request.body?.text === '' && call.body?.required !== true) continue;
    yield { ...missing(tried, `${words} in the body`), ...request };
  }
  if (call.body?.required && members.length > 0)
    yield { ...missing({ in: 'body', name: '' }, 'the body'), ...withBody(call, undefined) };
}

/** An object in the body, or the body itself. */
interface BodyObject {
  /** JSON Pointer. */
  readonly name: string;
  /** `the body`, or `"address" of the body` */
  readonly words: string;
  readonly facets: Facets;
  readonly shown: Readonly<Record<string, unknown>>;
  readonly refuses: (value: unknown) => boolean;
  readonly with: (value: unknown) => ReturnType<typeof requestOfCall>;
}

function objectsIn(
  { call, definitions, book }: TrialScope,
  members: readonly ReplaceableMember[],
): readonly BodyObject[] {
  const { value, schema = null } = call.body ?? {};
  if (!isJsonObject(value) || members.length === 0) return [];
  const whole: BodyObject = {
    name: '',
    words: 'the body',
    facets: facetsOf(schema, definitions),
    shown: value,
    refuses: refusalBy(book, schema),
    with: (other) => withBody(call, other),
  };
  const nested = members.flatMap(({ tried, words, facets, shown, refuses, ...member }): BodyObject[] => {
    const object = shown();
    if (!isJsonObject(object) || refuses(object)) return [];
    return [
      { name: tried.name, words: `${words} of the body`, facets, shown: object, refuses, with: member.with },
    ];
  });
  return [whole, ...nested];
}

/** Where a schema is closed (`additionalProperties: false`), a misspelt member must not be taken for none. */
export function surplusMembers(
  scope: TrialScope,
  members: readonly ReplaceableMember[],
): readonly InputTrial[] {
  return objectsIn(scope, members).flatMap(({ name, words, shown, refuses, with: withValue }) => {
    const other = { ...shown, [UNKNOWN_NAME]: 1 };
    if (!refuses(other)) return [];
    const keyword = 'additionalProperties';
    return [
      {
        kind: 'surplus' as const,
        what: `with the undocumented ${quoted(UNKNOWN_NAME)} = 1 in ${words}`,
        tries: { in: 'body' as const, name, keyword, side: 'outside' as const },
        change: changeFor('surplus', { words, keyword, limit: false, place: scope.place }),
        ...withValue(other),
      },
    ];
  });
}

/** One member too many or too few, and the most and the fewest. */
export function memberCounts(
  scope: TrialScope,
  members: readonly ReplaceableMember[],
  side: ConstraintTrial['side'],
): readonly InputTrial[] {
  return objectsIn(scope, members).flatMap((object) => {
    const { name, words, facets, shown, refuses, with: withValue } = object;
    return BOUNDS.flatMap(({ keyword, beyond, wanted }): InputTrial[] => {
      const limit = facets.keywords[keyword];
      if (typeof limit !== 'number' || limit > MAX_MEMBERS) return [];
      const count = side === 'outside' ? limit + beyond : limit;
      const value = count > 0 ? withCount(count, object, scope) : null;
      const isSame = value !== null && Object.keys(value).length === Object.keys(shown).length;
      if (value === null || isSame || refuses(value) !== (side === 'outside')) return [];
      const kind = side === 'outside' ? 'out-of-range' : 'boundary';
      return [
        {
          kind,
          what: `with ${count} members in ${words} (${wanted} ${limit})`,
          tries: { in: 'body', name, keyword, side },
          change: changeFor(kind, { words, keyword, limit, place: scope.place }),
          ...withValue(value),
        },
      ];
    });
  });
}

const BOUNDS = [
  { keyword: 'maxProperties', beyond: 1, wanted: 'at most' },
  { keyword: 'minProperties', beyond: -1, wanted: 'at least' },
] as const;

/** The object with that number of members, all of them documented if it can be; null if none can be made. */
function withCount(
  count: number,
  { facets, shown }: BodyObject,
  scope: TrialScope,
): Readonly<Record<string, unknown>> | null {
  const { required, properties, keywords } = facets;
  const shownNames = Object.keys(shown);
  if (count < shownNames.length) {
    const optional = shownNames.filter((name) => !required.includes(name));
    const dropped = new Set(optional.slice(0, shownNames.length - count));
    const kept = Object.entries(shown).filter(([name]) => !dropped.has(name));
    return kept.length === count ? Object.fromEntries(kept) : null;
  }
  const more = function* (): Generator<readonly [string, unknown]> {
    for (const [name, schema] of Object.entries(properties))
      if (!(name in shown)) yield [name, exampleOf(schema, scope)];
    const { additionalProperties: further = true, propertyNames, patternProperties } = keywords;
    if (further === false || propertyNames !== undefined || patternProperties !== undefined) return;
    const value = further === true ? 1 : exampleOf(further, scope);
    for (let at = 1; at <= MAX_MEMBERS; at += 1) yield [`conform${at}`, value];
  };
  const all: Record<string, unknown> = { ...shown };
  for (const [name, value] of more()) {
    if (Object.keys(all).length === count) break;
    if (value !== undefined) all[name] = value;
  }
  return Object.keys(all).length === count ? all : null;
}
