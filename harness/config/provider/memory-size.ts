const SIZE = /^(\d{1,6}(?:\.\d{1,3})?)([mg])$/i;

/** Bytes of a size such as `512m` or `1.5g`, in units of 1024 as container runtimes count; null when it is none. */
export function parseMemory(text: string): number | null {
  const [, amount, unit = ''] = SIZE.exec(text) ?? [];
  if (amount === undefined) return null;
  return Math.round(Number(amount) * (unit.toLowerCase() === 'g' ? 1024 ** 3 : 1024 ** 2));
}

/** `512m`, `2g`: in whole units where that is possible. */
export function formatMemory(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  return Number.isInteger(mebibytes / 1024)
    ? `${mebibytes / 1024}g`
    : `${Math.round(mebibytes * 1_000) / 1_000}m`;
}
