import { isJsonObject } from '../../base/json-text.ts';
import { visible } from '../octets/visible.ts';

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
 * What is wrong with those policies, null when nothing is: a list of names, each of which RateLimit-Policy has.
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
