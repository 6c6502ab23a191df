import type { Stimulus } from '../../session/http/stimulus.ts';
import { type Port, type Probe, probe } from '../../session.ts';
import { served } from './sample.ts';

/** How long a request target and a header field may be: found between powers of two, in three requests each. */

const SIZES = [2_048, 4_096, 8_192, 16_384, 32_768];

export interface SizeLimit {
  /** The largest size, in octets, that was served; null when none was. */
  readonly served: number | null;
  /** The smallest one that was not; null when all were. */
  readonly refused: number | null;
  /** How it was refused; null when it was not, or the connection was dropped. */
  readonly status: number | null;
}

export const targetSize: Probe<SizeLimit> = probe('target-size', (port) =>
  largestServed(port, (size, path) => ({
    purpose: `with a target of ${size} octets`,
    target: () => `${path}?q=${'a'.repeat(size - path.length - 3)}`,
  })),
);
export const fieldSize: Probe<SizeLimit> = probe('field-size', (port) =>
  largestServed(port, (size) => ({
    purpose: `with a header field of ${size} octets`,
    fields: [['X-Conform-Long', 'a'.repeat(size)]],
  })),
);

/** Bisects: sizes below `low` were served, those from `high` on were not. */
async function largestServed(
  { ask, http, documented }: Pick<Port, 'ask' | 'http' | 'documented'>,
  stimulus: (size: number, path: string) => Stimulus,
): Promise<SizeLimit> {
  await ask(served);
  let [low, high] = [0, SIZES.length];
  let status: number | null = null;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const reply = await http.send(stimulus(SIZES[middle] ?? 0, documented.path));
    if (reply.served) low = middle + 1;
    else {
      high = middle;
      status = reply.exchange.response?.status ?? null;
    }
  }
  return { served: SIZES[low - 1] ?? null, refused: SIZES[high] ?? null, status };
}
