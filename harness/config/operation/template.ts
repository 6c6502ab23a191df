/**
 * The decoded values with which a path fills a template such as `/v1/resources/{id}`; null when it does not fit.
 * Neither has a query.
 */
export function pathValues(template: string, path: string): ReadonlyMap<string, string> | null {
  const names: string[] = [];
  const pattern = template
    .split(/(\{[^{}]*\})/)
    .map((part) => {
      if (!part.startsWith('{')) return part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
      names.push(part.slice(1, -1));
      return '([^/]+)';
    })
    .join('');
  const match = new RegExp(`^${pattern}$`).exec(path);
  if (match === null) return null;
  return new Map(names.map((name, index) => [name, decoded(match[index + 1] ?? '')]));
}

/** Names in braces that a template still has. */
export function placeholdersOf(template: string): readonly string[] {
  return [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name ?? '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
