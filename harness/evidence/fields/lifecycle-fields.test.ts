import { describe, expect, it } from 'vitest';
import { lifecycleFault } from './lifecycle-fields.ts';

const now = new Date('2026-03-02T10:00:00Z');

describe('a Deprecation field', () => {
  it.each(['@1688169599', '@-1', '@0;note="x"'])('may be %s', (value) => {
    expect(lifecycleFault('Deprecation', value, now)).toBeNull();
  });

  it.each(['true', '?1', '1688169599', 'Sun, 06 Nov 1994 08:49:37 GMT', '@1.5', ''])(
    'may not be %j',
    (value) => {
      expect(lifecycleFault('Deprecation', value, now)).toContain(`"${value}"`);
    },
  );
});

describe('a Sunset field', () => {
  it('is an HTTP-date', () => {
    expect(lifecycleFault('Sunset', 'Sun, 06 Nov 1994 08:49:37 GMT', now)).toBeNull();
  });

  it.each(['2027-06-30', '@1688169599', ''])('may not be %j', (value) => {
    expect(lifecycleFault('Sunset', value, now)).toContain(`"${value}"`);
  });
});
