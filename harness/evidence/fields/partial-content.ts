import { visible } from '../octets/visible.ts';

const RANGE = /^bytes (\d{1,15})-(\d{1,15})\/(?:(\d{1,15})|\*)$/i;

/**
 * What is wrong with a 206 to a request for one range of octets that begins at 0: RFC 9110 §15.3.7.1 has it tell in
 * Content-Range (§14.4) which octets these are. `octets`: how many came as its content.
 */
export function partialFault(contentRange: string | undefined, octets: number): string | null {
  if (contentRange === undefined) return 'no Content-Range';
  const told = `Content-Range: ${visible(contentRange, 60)}`;
  const [whole, first, last, length] = RANGE.exec(contentRange) ?? [];
  if (whole === undefined) return told;
  const count = Number(last) - Number(first) + 1;
  const isWithin = count > 0 && (length === undefined || Number(last) < Number(length));
  if (!isWithin || Number(first) !== 0) return told;
  return count === octets ? null : `${told} with ${octets} octets`;
}
