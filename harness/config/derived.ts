import type { ServiceConfig } from './service.ts';

/**
 * Derives a value once for the same parts of a config: a document may describe thousands of operations, and configs
 * that differ elsewhere share them. The value is kept as long as the first part.
 */
export function derivedOnce<T>(
  partsOf: (config: ServiceConfig) => readonly [object, ...unknown[]],
  derive: (config: ServiceConfig) => T,
): (config: ServiceConfig) => T {
  const known = new WeakMap<object, { readonly parts: readonly unknown[]; readonly value: T }[]>();
  return (config) => {
    const parts = partsOf(config);
    const before = known.get(parts[0]) ?? [];
    const same = before.find((each) => each.parts.every((part, at) => part === parts[at]));
    if (same !== undefined) return same.value;
    const value = derive(config);
    known.set(parts[0], [...before, { parts, value }]);
    return value;
  };
}
