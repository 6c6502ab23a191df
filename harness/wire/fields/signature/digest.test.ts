import { describe, expect, it } from 'vitest';
import { readDigests, weakDigests, wrongDigest } from './message-signature.ts';

// RFC 9530, appendix B.1: the representation of /items/123.
const CONTENT = Buffer.from('{"hello": "world"}\n');
const SHA_256 = 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:';
const SHA_512 =
  'sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:';

const wrong = (value: string) => wrongDigest(readDigests(value), CONTENT);

describe('a digest', () => {
  it('is that of the content', () => {
    expect(wrong(SHA_256)).toBeNull();
    expect(wrong(`${SHA_512}, ${SHA_256}, unixsum=:AAAA:`)).toBeNull();
    expect(wrong(`${SHA_256}, sha-512=:AAAA:`)).toBe('sha-512');
    expect(wrongDigest(readDigests(SHA_256), Buffer.from('{}'))).toBe('sha-256');
  });

  it('stands between colons', () => {
    expect(readDigests(`${SHA_256}, ${SHA_512}`).fault).toBeNull();
    expect(readDigests('sha-256=e3b0').fault).toBe('sha-256 without colons around it');
    expect(readDigests('SHA-256=:AAAA:').fault).toContain('no dictionary');
    expect(readDigests('sha-256=RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=').fault).not.toBeNull();
  });

  it('is weak where no other one is beside it', () => {
    expect(weakDigests(readDigests('md5=:AAAA:, sha=:AAAA:'))).toEqual(['md5', 'sha']);
    expect(weakDigests(readDigests(`md5=:AAAA:, ${SHA_256}`))).toBeNull();
    expect(weakDigests(readDigests('of-tomorrow=:AAAA:'))).toBeNull();
    expect(weakDigests(readDigests(''))).toBeNull();
  });
});
