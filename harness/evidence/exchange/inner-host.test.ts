import { describe, expect, it } from 'vitest';
import { isInnerHost } from './inner-host.ts';

describe('a host of an inner network', () => {
  it.each([
    '10.1.2.3',
    '192.168.0.9',
    '127.0.0.1',
    '[fd00::1]',
    '[::1]',
    'backend',
    'db.internal',
    'nas.local',
    'localhost',
  ])('is %s', (host) => expect(isInnerHost(host)).toBe(true));

  it.each(['api.example.com', '8.8.8.8', '[2001:db8::1]', 'internal.example', '11.0.0.1'])(
    'is not %s',
    (host) => expect(isInnerHost(host)).toBe(false),
  );
});
