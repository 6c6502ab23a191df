import { describe, expect, it } from 'vitest';
import { otherVersions, versionedPath } from './version.ts';

describe('the version in a path', () => {
  it.each([
    ['/v1/orders', '/v1', ['', '/v1', '/orders']],
    ['/api/v1/orders', '/v1', ['/api', '/v1', '/orders']],
    ['/api/v1/orders', '/api/v1', ['/api', '/v1', '/orders']],
    ['/shop/api/v1/orders', '/api/v1', ['/shop/api', '/v1', '/orders']],
    ['/api/2026-01-01/orders', '/api/2026-01-01', ['/api', '/2026-01-01', '/orders']],
    ['/api/v2/orders', null, ['/api', '/v2', '/orders']],
    ['/v10/orders', '/v1', ['', '/v10', '/orders']],
    ['/v10/v1/orders', '/v1', ['/v10', '/v1', '/orders']],
  ])('of %s with the prefix %s', (path, prefix, [before, version, rest]) => {
    expect(versionedPath(path, prefix)).toEqual({ before, version, rest });
  });

  it('is none where neither the prefix nor a usual segment is there', () => {
    expect(versionedPath('/orders', '/v1')).toBeNull();
    expect(versionedPath('/video/orders', null)).toBeNull();
  });

  it.each([
    ['/v1', ['', '/v2', '/v0', '/v01', '/V1']],
    ['/v2', ['', '/v3', '/v1', '/v02', '/V2']],
    ['/v0', ['', '/v1', '/v00', '/V0']],
    ['/V1', ['', '/v2', '/v0', '/v01', '/v1']],
    ['/2026-01-01', ['']],
  ])('%s is never among the others', (version, others) => {
    expect(otherVersions(version).map(({ segment }) => segment)).toEqual(others);
  });
});
