import type { Writable } from 'node:stream';

/** The first words on a terminal, before the modules of a command are loaded; the next output takes their place. */

let isShown = false;

export function showOpening(stream: Writable, text: string): void {
  isShown = true;
  stream.write(text);
}

/** Safe to call if nothing is shown. */
export function clearOpening(stream: Writable): void {
  if (!isShown) return;
  isShown = false;
  stream.write('\r\x1b[K');
}
