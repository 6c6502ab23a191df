/** `12,480`, with at most three decimals. By hand: the first number that `Intl` writes costs as much as a Node that starts. */
export function grouped(n: number): string {
  return String(Math.round(n * 1_000) / 1_000).replace(/\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g, ',');
}
