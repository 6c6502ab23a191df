/** Members whose value is a link even without a scheme and host. */
const LINK_MEMBERS =
  /^(?:href|url|uri|link|links|self|next|prev|previous|first|last|location)$|(?:_url|_uri|Url|Uri|Href)$/;
/** A body may hold millions of values; links are looked for in so many. */
const MOST_VALUES = 20_000;
const MOST_LINKS = 1_000;

/**
 * Links in a parsed JSON body: absolute http(s) URLs wherever they stand, and paths in members that are named like
 * links. In the order of the body, each once, as sent; at most 1000.
 */
export function findBodyLinks(value: unknown): readonly string[] {
  const links = new Set<string>();
  const waiting: { readonly member: string; readonly value: unknown }[] = [{ member: '', value }];
  for (let seen = 0; seen < MOST_VALUES && links.size < MOST_LINKS; seen++) {
    const next = waiting.pop();
    if (next === undefined) break;
    if (typeof next.value === 'string') {
      if (isLink(next.member, next.value)) links.add(next.value);
    } else if (Array.isArray(next.value)) {
      for (const item of next.value.slice(0, MOST_VALUES).reverse())
        waiting.push({ member: next.member, value: item });
    } else if (typeof next.value === 'object' && next.value !== null) {
      for (const [member, item] of Object.entries(next.value).slice(0, MOST_VALUES).reverse()) {
        waiting.push({ member, value: item });
      }
    }
  }
  return [...links];
}

function isLink(member: string, text: string): boolean {
  if (/^https?:\/\//i.test(text)) return URL.canParse(text);
  return LINK_MEMBERS.test(member) && /^\/(?!\/)\S*$/.test(text);
}
