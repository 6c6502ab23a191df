import { describe, expect, it } from 'vitest';
import { readPusherEvent } from './pusher-event.ts';

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
