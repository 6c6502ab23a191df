import { describe, expect, it } from 'vitest';
import { contentLanguageFault } from './single-fields.ts';

describe('Content-Language', () => {
  it.each([
    'en',
    'de-CH, fr',
    'zh-Hant-TW',
    'de-CH-1996',
    'x-private',
    'i-klingon',
    'en-a-bbb-x-a',
    'en, , de',
    'EN-us',
  ])('is well-formed: %s', (value) => {
    expect(contentLanguageFault(value)).toBeNull();
  });

  it.each([
    ['en_US', '"en_US", which is no language tag'],
    ['en, English (US)', '"English (US)", which is no language tag'],
    ['*', '"*", which is no language tag'],
    ['de;q=0.5', '"de;q=0.5", which is no language tag'],
    ['internationalised', '"internationalised", which is no language tag'],
    ['', 'an empty value'],
  ])('is none: %s', (value, fault) => {
    expect(contentLanguageFault(value)).toBe(fault);
  });
});
