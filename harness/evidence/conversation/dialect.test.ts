import { describe, expect, it } from 'vitest';
import { dialectOf } from './dialect.ts';

describe('dialectOf', () => {
  it.each([
    ['0{"sid":"Lbo5JLzTotvW3g2LAAAA","upgrades":[],"pingInterval":25000}', 'engine.io'],
    ['{"event":"pusher:connection_established","data":"{\\"socket_id\\":\\"1.2\\"}"}', 'pusher'],
    ['o', 'sockjs'],
    ['{"type":"welcome"}', 'action cable'],
    ['{"op":10,"d":{"heartbeat_interval":41250}}', 'discord gateway'],
    ['Request served by an echo', null],
    ['{"event":"hello"}', null],
    ['', null],
  ])('tells %s', (greeting, dialect) => {
    expect(dialectOf(greeting)).toBe(dialect);
  });
});
