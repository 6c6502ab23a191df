import { variation } from './sample.ts';

/** The documented sample with the second configured key. */
export const secondKeySample = variation('second-key-sample', {
  purpose: 'with the second key',
  credential: 'second',
});
