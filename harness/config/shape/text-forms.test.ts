import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { formatDuration, parseDuration } from './text-forms.ts';

describe('a duration', () => {
  it.each([
    ['60s', 60_000],
    ['5m', 300_000],
    ['250ms', 250],
    ['1h', 3_600_000],
    ['1.5s', 1_500],
    ['0.1s', 100],
    ['0s', 0],
  ])('%s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    '60',
    's',
    '-5s',
    '+5s',
    '5 s',
    '5S',
    '1e3s',
    '0.5ms',
    '1s2s',
    '٥s',
    '99999999999s',
    'Infinitys',
  ])('is not %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it('reads back what it prints', () => {
    fc.assert(fc.property(fc.nat(86_400_000), (ms) => parseDuration(formatDuration(ms)) === ms));
  });
});
