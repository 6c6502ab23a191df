import { describe, expect, it } from 'vitest';
import type { Variation } from '../../base/verdict.ts';
import { shapeOf } from '../../wire/json/shape.ts';
import { acceptable, driftOf } from './drift.ts';

interface Case {
  readonly varies: Variation;
  readonly was: unknown;
  /** Lawful on another day. */
  readonly same: readonly unknown[];
  /** And what is told of each value that has drifted. */
  readonly drifts: readonly (readonly [is: unknown, told: string])[];
}

const LIST = { total: 2, items: [{ id: 'a', size: 1 }, { id: 'b' }], next: null };

const CASES: Readonly<Record<string, Case>> = {
  'a word': {
    varies: 'never',
    was: 'fixed-window',
    same: [],
    drifts: [
      ['sliding-log', 'was fixed-window, is sliding-log'],
      [null, 'was fixed-window, is null'],
      [{ name: 'fixed-window' }, 'was fixed-window, is {"name":"fixed-window"}'],
    ],
  },
  'the status of each refusal': {
    varies: 'never',
    was: { missing: 401, wrong: 401, __proto__: null },
    same: [{ wrong: 401, missing: 401 }],
    drifts: [
      [{ missing: 403, wrong: 401 }, 'missing: was 401, is 403'],
      [{ missing: 401 }, 'wrong: was 401, is not there'],
      [{ missing: 401, wrong: 401, constructor: 400 }, 'constructor: was not there, is 400'],
    ],
  },
  'a list in an order': {
    varies: 'never',
    was: ['a', 'b'],
    same: [],
    drifts: [
      [['b', 'a'], '0: was a, is b'],
      [['a'], 'was ["a","b"], is ["a"]'],
    ],
  },
  'a set': {
    varies: 'order',
    was: { success: 'application/json', errors: ['text/plain', 'application/json'] },
    same: [{ success: 'application/json', errors: ['application/json', 'text/plain'] }],
    drifts: [
      [
        { success: 'application/json', errors: ['text/html', 'application/json'] },
        'errors: without text/plain and with text/html now',
      ],
      [
        { success: 'text/json', errors: ['text/plain', 'application/json'] },
        'success: was application/json, is text/json',
      ],
    ],
  },
  'the shape of a body': {
    varies: 'shape',
    was: { same: true, shape: shapeOf(LIST) },
    same: [
      { ...LIST, total: 9 },
      { ...LIST, items: [] },
      { ...LIST, items: [{ id: 'c' }] },
      { ...LIST, items: null },
      { ...LIST, next: '/v1/next' },
      { ...LIST, added: { deep: true } },
    ].map((body) => ({ same: true, shape: shapeOf(body) })),
    drifts: [
      [{ same: false, shape: shapeOf(LIST) }, 'same: was true, is false'],
      [{ same: true, shape: shapeOf({ ...LIST, total: '2' }) }, 'shape.total: was ["number"], is ["string"]'],
      [
        { same: true, shape: shapeOf({ ...LIST, items: [{ id: 7 }] }) },
        'shape.items.[].id: was ["string"], is ["number"]',
      ],
      [
        { same: true, shape: shapeOf({ ...LIST, items: [{ size: 1 }] }) },
        'shape.items.[].id: was always there, and is not now',
      ],
      [{ same: true, shape: shapeOf([LIST]) }, 'shape: was ["object"], is ["array"]'],
    ],
  },
  'the shape of each kind of message': {
    varies: 'shape',
    was: { ping: shapeOf({ at: 1 }), pong: shapeOf({ at: 1 }) },
    same: [{ ping: shapeOf({ at: 2 }) }, { other: shapeOf({}), ping: shapeOf({ at: 2 }) }],
    drifts: [[{ ping: shapeOf({ at: 'noon' }) }, 'ping.at: was ["number"], is ["string"]']],
  },
  'how long a connection is kept': {
    varies: 'upwards',
    was: { keptMs: 60_000 },
    same: [{ keptMs: 59_000 }, { keptMs: 900_000 }],
    drifts: [
      [{ keptMs: 30_000 }, 'keptMs: was 60000, is 30000'],
      [{ closedWith: 1001 }, 'keptMs: was 60000, is not there'],
    ],
  },
  'how much is taken': {
    varies: 'upwards',
    was: { taken: 65_536, refused: 131_072 },
    same: [{ taken: 131_072, refused: null }],
    drifts: [[{ taken: 4_096, refused: 8_192 }, 'taken: was 65536, is 4096']],
  },
  'a latency': {
    varies: 'downwards',
    was: acceptable({ path: 'sent and echoed', p50Ms: 12.5, p95Ms: 90 }, 'downwards'),
    same: [
      { path: 'sent and echoed', p50Ms: 0.1, p95Ms: 1 },
      { path: 'sent and echoed', p50Ms: 99, p95Ms: 440 },
    ],
    drifts: [
      [{ path: 'sent and echoed', p50Ms: 12, p95Ms: 2_000 }, 'p95Ms: was 500, is 2000'],
      [{ path: 'asked', p50Ms: 12, p95Ms: 2 }, 'path: was sent and echoed, is asked'],
    ],
  },
  'how many Pings come': {
    varies: 'count',
    was: { pings: 3 },
    same: [{ pings: 1 }, { pings: 40 }],
    drifts: [[{ pings: 0 }, 'pings: was 3, is 0']],
  },
  'a version': {
    varies: 'text',
    was: { 'x-version': '1.2.3' },
    same: [{ 'x-version': '1.2.4' }],
    drifts: [[{}, 'x-version: was 1.2.3, is not there']],
  },
};

describe('an accepted observation', () => {
  it.for(Object.entries(CASES))('%s', ([_name, { varies, was, same, drifts }]) => {
    for (const is of [was, ...same]) expect(driftOf(was, is, varies)).toBeNull();
    for (const [is, told] of drifts) expect(driftOf(was, is, varies)).toBe(told);
  });

  it('is not looked into without end', () => {
    const deep = (leaf: unknown): unknown => Array.from({ length: 5_000 }).reduce((inner) => [inner], leaf);
    expect(driftOf([deep(1), 'a'], [deep(1), 'b'], 'never')).toBe('1: was a, is b');
  });
});
