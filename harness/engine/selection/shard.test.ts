import { describe, expect, it } from 'vitest';
import { Secret } from '../../base/secret.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { partOf, shardFrom, shardNote } from './shard.ts';

describe('a shard', () => {
  it.for([
    ['1/1', {}, { index: 1, total: 1 }],
    ['3/20', {}, { index: 3, total: 20 }],
    ['auto', { CI_NODE_INDEX: '2', CI_NODE_TOTAL: '5' }, { index: 2, total: 5 }],
    ['auto', { CONFORM_SHARD_INDEX: '0', CONFORM_SHARD_TOTAL: '5' }, { index: 1, total: 5 }],
    ['auto', { JOB_COMPLETION_INDEX: '4', CONFORM_SHARD_TOTAL: '5' }, { index: 5, total: 5 }],
  ] as const)('is told by %s and %j', ([text, env, expected]) => {
    expect(shardFrom(text, env)).toEqual(expected);
  });

  it.for([
    ['0/3', {}, /names no part of a run/],
    ['4/3', {}, /names no part of a run/],
    ['1/100000', {}, /names no part/],
    ['1', {}, /names no part/],
    ['auto', {}, /nothing says which part[\s\S]*CI_NODE_INDEX and CI_NODE_TOTAL/],
    ['auto', { CI_NODE_INDEX: '', CI_NODE_TOTAL: '3' }, /nothing says/],
    ['auto', { CI_NODE_INDEX: '0', CI_NODE_TOTAL: '3' }, /CI_NODE_INDEX=0/],
    ['auto', { JOB_COMPLETION_INDEX: '3', CONFORM_SHARD_TOTAL: '3' }, /names no part/],
    ['auto', { CI_NODE_INDEX: '1', CI_NODE_TOTAL: 'three' }, /names no part/],
  ] as const)('is not told by %s and %j', ([text, env, said]) => {
    expect(() => shardFrom(text, env)).toThrow(said);
  });
});

function service(
  name: string,
  windowMs: number | null,
  host: string | null = null,
  keys: readonly string[] = [],
): ServiceConfig {
  const provider =
    host === null ? { kind: 'reference', reference: 'search' } : { kind: 'url', url: `https://${host}/` };
  const plan = windowMs === null ? null : { name: 'free', requests: 100, windowMs };
  const credentials = { values: keys.map((key) => new Secret('KEY', key)) };
  return { service: name, environment: null, provider, plan, credentials } as unknown as ServiceConfig;
}

const ALL = [
  service('a', 60_000, 'one.example'),
  service('b', 60_000, 'two.example'),
  service('c', null, 'one.example'),
  service('d', 3_600_000),
  service('e', null),
  service('f', 60_000),
];
const parts = (total: number, from = ALL) =>
  Array.from({ length: total }, (_, at) =>
    partOf(from, { index: at + 1, total })
      .map(({ service: name }) => name)
      .join(''),
  );

describe('the parts of a run', () => {
  it('hold every service once, those of one provider together, the longest apart', () => {
    expect(parts(1)).toEqual(['abcdef']);
    expect(parts(2)).toEqual(['d', 'abcef']);
    expect(parts(3)).toEqual(['d', 'ace', 'bf']);
    for (const total of [1, 2, 3, 5, 9]) {
      expect([...parts(total).join('')].toSorted().join('')).toBe('abcdef');
      expect(parts(total).filter((part) => part.includes('a') !== part.includes('c'))).toEqual([]);
    }
  });

  it('keep together who shares a key at an address, also by way of others', () => {
    const gateway = [
      service('a', 60_000, 'gateway.example', ['one', 'two']),
      service('b', 60_000, 'gateway.example', ['three']),
      service('c', 60_000, 'gateway.example', ['two', 'four']),
      service('d', 60_000, 'gateway.example', ['four']),
      service('e', 60_000, 'elsewhere.example', ['one']),
      service('f', 60_000, 'elsewhere.example'),
    ];
    expect(parts(2, gateway)).toEqual(['acd', 'bef']);
    expect(parts(4, gateway)).toEqual(['acd', 'b', 'e', 'f']);
  });

  it('keep together who listens on one socket', () => {
    const on = (path: string, name: string) => ({
      ...service(name, 60_000),
      provider: { kind: 'unixSocket' as const, path },
    });
    const sockets = [on('/run/one.sock', 'a'), on('/run/two.sock', 'b'), on('/run/one.sock', 'c')];
    expect(parts(3, sockets)).toEqual(['ac', 'b', '']);
  });

  it('are the same in whatever order the services are read', () => {
    const sorted = (each: readonly string[]) => each.map((part) => [...part].toSorted().join(''));
    expect(sorted(parts(3, ALL.toReversed()))).toEqual(sorted(parts(3)));
  });

  it('are those of another run where anything else is asked', () => {
    const plan = (configs = ALL, total = 3, asked = {}) =>
      shardNote({ index: 1, total }, configs, asked).plan;
    expect(plan()).toBe(shardNote({ index: 2, total: 3 }, ALL, {}).plan);
    const others = [plan(ALL.slice(1)), plan(ALL, 4), plan(ALL, 3, { suites: ['auth'] })];
    expect(new Set([plan(), ...others]).size).toBe(4);
  });
});
