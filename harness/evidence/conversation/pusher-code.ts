/** What a client of the Pusher protocol, version 7, does about an error code. */
export type PusherAdvice =
  | 'never come back unchanged'
  | 'come back after a while'
  | 'come back at once'
  | 'stay';

interface CodeRange {
  readonly from: number;
  readonly to: number;
  readonly advice: PusherAdvice;
}

/** By the first two digits of the code. */
const RANGES: readonly CodeRange[] = [
  { from: 4000, to: 4099, advice: 'never come back unchanged' },
  { from: 4100, to: 4199, advice: 'come back after a while' },
  { from: 4200, to: 4299, advice: 'come back at once' },
  { from: 4300, to: 4399, advice: 'stay' },
];

/** null for a code that the protocol says nothing of. */
export function pusherAdvice(code: number): PusherAdvice | null {
  return RANGES.find(({ from, to }) => code >= from && code <= to)?.advice ?? null;
}
