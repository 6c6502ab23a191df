import { describe, expect, it } from 'vitest';
import { dialectOf, pusherAdvice, readPusherEvent } from './dialect.ts';

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

const ESTABLISHED = 'pusher:connection_established';

describe('readPusherEvent', () => {
  it('undoes the second encoding of data', () => {
    const data = JSON.stringify({ socket_id: '1.2', activity_timeout: 120 });
    expect(readPusherEvent(JSON.stringify({ event: ESTABLISHED, data }))).toEqual({
      event: ESTABLISHED,
      channel: null,
      fault: null,
      data: { socket_id: '1.2', activity_timeout: 120 },
    });
  });

  it('wants that encoding of the events of the service, but for pongs and errors', () => {
    const plain = (event: string) => readPusherEvent(JSON.stringify({ event, data: { code: 4001 } }));
    expect(plain(ESTABLISHED)?.fault).toMatch(/no JSON text in a string/);
    expect(plain('pusher:error')).toMatchObject({ fault: null, data: { code: 4001 } });
    expect(plain('pusher:pong')?.fault).toBeNull();
    const broken = readPusherEvent(JSON.stringify({ event: ESTABLISHED, data: '{' }));
    expect(broken).toMatchObject({
      data: null,
      fault: expect.stringMatching(/not the text of a JSON object/),
    });
  });

  it.each(['', 'o', '[]', 'null', '{"data":{}}', '{"event":1}'])('does not take %j for an event', (text) => {
    expect(readPusherEvent(text)).toBeNull();
  });
});

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
