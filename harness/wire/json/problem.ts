import { hasMembers, isJsonObject } from '../../base/json-text.ts';
import { visible } from '../octets/utf8.ts';

/** A string that is a URI reference by RFC 3986 §4.1: its characters, its escapes, and that it can be resolved. */
function isUriReference(text: string): boolean {
  return (
    /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/.test(text) &&
    !/%(?![0-9A-Fa-f]{2})/.test(text) &&
    URL.canParse(text, 'http://base.example/')
  );
}

const isString = (value: unknown) => typeof value === 'string';
const isReference = (value: unknown) => typeof value === 'string' && isUriReference(value);
const isStatus = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599;

/** RFC 9457 §3.1: the members, and whether a value of them holds; all of them may be left out. */
const MEMBERS: readonly (readonly [name: string, wanted: string, holds: (value: unknown) => boolean])[] = [
  ['type', 'a URI reference', isReference],
  ['title', 'a string', isString],
  ['status', 'a status code as a number', isStatus],
  ['detail', 'a string', isString],
  ['instance', 'a URI reference', isReference],
];

/**
 * What a parsed `application/problem+json` body breaks of RFC 9457, one line each: it is an object, the five members
 * have their types, and `status` repeats the response's status code (§3.1.2).
 */
export function problemFaults(value: unknown, status: number): readonly string[] {
  if (!isJsonObject(value)) {
    return [
      `${Array.isArray(value) ? 'an array' : visible(JSON.stringify(value) ?? 'no JSON', 40)}, not an object`,
    ];
  }
  const faults: string[] = [];
  for (const [member, wanted, holds] of MEMBERS) {
    if (!Object.hasOwn(value, member)) continue;
    const given: unknown = Reflect.get(value, member);
    if (!holds(given)) faults.push(`"${member}": ${visible(JSON.stringify(given), 60)}, not ${wanted}`);
    else if (member === 'status' && given !== status) {
      faults.push(`"status": ${String(given)} in a response with ${status}`);
    }
  }
  return faults;
}

/** Members at the top of a body by which services tell that they failed, and values with which they do. */
const TELLING: readonly (readonly [name: string, tells: (member: unknown) => boolean])[] = [
  ['error', isNotNothing],
  ['errors', isNotNothing],
  ['success', (member) => member === false],
  ['ok', (member) => member === false],
  ['status', (member) => member === 'error' || member === 'fail'],
];

/** The member by which a JSON value tells of an error, as it stands there; null when none does. */
export function reportedError(value: unknown): string | null {
  if (!hasMembers(value)) return null;
  for (const [name, tells] of TELLING) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    if (tells(member)) return `"${name}": ${visible(JSON.stringify(member), 60)}`;
  }
  return null;
}

/** `null`, `false`, `0`, `""`, `[]` and `{}` say that there was none. */
function isNotNothing(member: unknown): boolean {
  return hasMembers(member) ? Object.keys(member).length > 0 : Boolean(member);
}

/** The problem types of draft-ietf-httpapi-ratelimit-headers-11, which all have the member `violated-policies`. */
const QUOTA_PROBLEM =
  /^https?:\/\/(?:www\.)?iana\.org\/assignments\/http-problem-types#(?:quota-exceeded|temporary-reduced-capacity|abnormal-usage-detected)$/;

const MEMBER = 'violated-policies';

/** The content is a problem of a quota, and says which policies it is about. */
export function namesPolicies(problem: unknown): problem is Readonly<Record<string, unknown>> {
  if (!isJsonObject(problem)) return false;
  const type: unknown = Reflect.get(problem, 'type');
  return typeof type === 'string' && QUOTA_PROBLEM.test(type) && Object.hasOwn(problem, MEMBER);
}

/**
 * The fault of those policies, null for none: a list of names, each of which RateLimit-Policy has.
 * `announced`: the names there; none where no such header has names.
 */
export function violatedPoliciesFault(
  problem: Readonly<Record<string, unknown>>,
  announced: readonly string[],
): string | null {
  const named = problem[MEMBER];
  if (!Array.isArray(named) || !named.every((name) => typeof name === 'string')) {
    return `${visible(JSON.stringify(named) ?? '', 60)}, which is no list of names`;
  }
  const unknown = announced.length === 0 ? undefined : named.find((name) => !announced.includes(name));
  return unknown === undefined ? null : `"${visible(unknown, 60)}", which RateLimit-Policy does not have`;
}
