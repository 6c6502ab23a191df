import { describe, expect, it } from 'vitest';
import { pusherAdvice } from './pusher-code.ts';

describe('an error code of the Pusher protocol', () => {
  it.each([
    [4001, 'never come back unchanged'],
    [4099, 'never come back unchanged'],
    [4100, 'come back after a while'],
    [4200, 'come back at once'],
    [4301, 'stay'],
    [1000, null],
    [4400, null],
  ])('%i asks a client to: %s', (code, advice) => {
    expect(pusherAdvice(code)).toBe(advice);
  });
});
