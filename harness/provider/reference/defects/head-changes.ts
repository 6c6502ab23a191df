import { onSwitching, type Patch } from '../conduct/patch.ts';

/** Changes the head of the first request of a connection, as it was received. */
export const onHead =
  (change: (head: string) => string): Patch =>
  (conduct) => ({
    ...conduct,
    intake: (octets) => {
      const text = (conduct.intake?.(octets) ?? octets).toString('latin1');
      const end = text.indexOf(HEAD_END);
      return Buffer.from(
        change(end === -1 ? text : text.slice(0, end)) + (end === -1 ? '' : text.slice(end)),
        'latin1',
      );
    },
  });

const HEAD_END = '\r\n\r\n';

/** Leaves lines out of the 101. */
export const omittingLine = (name: RegExp): Patch =>
  onSwitching((lines) => lines.filter((line) => !name.test(line)));
