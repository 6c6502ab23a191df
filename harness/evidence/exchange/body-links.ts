/** Members whose value is a link even without a scheme and host. */
const LINK_MEMBERS =
  /^(?:href|url|uri|link|links|self|next|prev|previous|first|last|location)$|(?:_url|_uri|Url|Uri|Href)$/;
/**
 * Links in a parsed JSON body: absolute http(s) URLs wherever they stand, and paths in members that are named like
 * links. In the order of the body, each once, as sent. All of it is looked through, for its octets are bounded.
 */
export function findBodyLinks(value: unknown): readonly string[] {
  const links = new Set<string>();
  const waiting: { readonly member: string; readonly value: unknown }[] = [{ member: '', value }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next.value === 'string') {
      if (isLink(next.member, next.value)) links.add(next.value);
    } else if (Array.isArray(next.value)) {
      for (const item of next.value.toReversed()) waiting.push({ member: next.member, value: item });
    } else if (typeof next.value === 'object' && next.value !== null) {
      for (const [member, item] of Object.entries(next.value).reverse()) {
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
