/** What `--allow` may allow for one run, with the keys of `safety:`. */
export const ALLOWANCES = {
  writes: 'unsafeMethods',
  leftovers: 'leaveItems',
  limit: 'exceedRateLimit',
  sizes: 'findSizeLimits',
} as const;
export type Allowance = keyof typeof ALLOWANCES;

/** Every name that `--allow` takes. */
export const ALLOWED: readonly string[] = Object.keys(ALLOWANCES);
