import { describe, expect, it } from 'vitest';
import { FRAMING_FAULT } from '../exchange/framing-faults.ts';
import { isOrdinary } from '../exchange/reply.ts';
import type { Exchange } from '../exchange.ts';
import { fieldValues } from '../fields/grammar/field-grammar.ts';
import { ending, type Handler, listen, writing } from '../fixtures/loopback.ts';
import { about, GET, impatient, knowingSecret, OK, SECRET, setting } from '../fixtures/setting.ts';
import { type Clock, systemClock } from '../pace/clock.ts';
import type { HttpRequest } from '../request.ts';
import type { TransportOptions } from '../socket/options.ts';
import { type RawForm, sendRaw } from './raw.ts';

const HEAD = 'HTTP/1.1 200 OK\r\n';

async function send(
  answer: Handler,
  form: RawForm = {},
  overrides: Partial<TransportOptions> = {},
  request = GET,
): Promise<Exchange> {
  const server = await listen((socket, index) => socket.once('data', () => answer(socket, index)));
  return sendRaw(setting(server.url, overrides), request, form, about());
}

/** What a server receives when this is composed and sent. */
async function received(
  request: HttpRequest,
  form: RawForm = {},
): Promise<{ wire: string; exchange: Exchange }> {
  let wire = '';
  const server = await listen((socket) =>
    socket.on('data', (octets) => {
      wire += octets.toString('latin1');
      if (wire.includes('\r\n\r\n')) socket.end(OK);
    }),
  );
  const options = setting(`${server.url}/base`);
  const exchange = await sendRaw(options, request, form, about());
  return { wire: wire.replaceAll(String(server.port), 'PORT'), exchange };
}

describe('octets on the wire', () => {
  it('are an ordinary request where nothing else is asked for', async () => {
    const { wire, exchange } = await received({ method: 'HEAD', target: '/v1', fields: [['Accept', '*/*']] });
    expect(wire.split('\r\n')).toEqual([
      'HEAD /base/v1 HTTP/1.1',
      'Host: 127.0.0.1:PORT',
      'Connection: close',
      'User-Agent: conform/0.0.0 (run run-for-tests)',
      'X-Conform-Run: run-for-tests',
      'Accept: */*',
      '',
      '',
    ]);
    expect(exchange.request).toMatchObject({ method: 'HEAD', target: '/base/v1', body: null });
    expect(exchange.response?.body.received).toBe(0);
  });

  it('are what is asked for otherwise', async () => {
    const { wire, exchange } = await received(
      {
        method: 'OPTIONS',
        target: '*',
        fields: [
          ['Expect', '100-continue'],
          ['X-A ', '\0'],
        ],
        body: Buffer.from('x'),
        withoutUserAgent: true,
      },
      { httpVersion: '1.0', withoutHost: true, connection: null },
    );
    expect(wire).toBe(
      'OPTIONS * HTTP/1.0\r\nX-Conform-Run: run-for-tests\r\nExpect: 100-continue\r\nX-A : \0\r\nContent-Length: 1\r\n\r\nx',
    );
    expect(exchange.request.fields).toEqual([
      ['X-Conform-Run', 'run-for-tests'],
      ['Expect', '100-continue'],
      ['X-A ', '\0'],
      ['Content-Length', '1'],
    ]);
    expect(exchange.request.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('are spelled as asked, which the record tells', async () => {
    const spelled = ['empty-line', 'bare-colon', 'wide-values', 'tabbed-values', 'upper-names'] as const;
    const request = { ...GET, fields: [['accept', 'a']] as const, withoutUserAgent: true };
    const { wire, exchange } = await received(request, { spelled, piecemeal: true });
    expect(wire).toBe(
      `\r\nGET /base${GET.target} HTTP/1.1\r\nHOST:\t  127.0.0.1:PORT\t  \r\n` +
        'CONNECTION:close\r\nX-CONFORM-RUN:\t  run-for-tests\t  \r\nACCEPT:a\r\n\r\n',
    );
    expect(exchange.request).toMatchObject({ spelled, piecemeal: true });
    expect(isOrdinary(exchange.request)).toBe(false);
    const bare = await received(request, { spelled: ['bare-colon'] });
    expect(bare.wire).toContain('\r\naccept:a\r\n');
  });

  it('are recorded without secrets', async () => {
    const keyed: HttpRequest = { ...GET, fields: [['Authorization', `Bearer ${SECRET}`]] };
    const exchange = await send(ending(OK), {}, knowingSecret(), keyed);
    expect(fieldValues(exchange.request.fields, 'authorization')).toEqual(['Bearer [redacted:TEST_KEY]']);
  });
});

describe('the answer', () => {
  it('keeps a status and faults that clients hide', async () => {
    const { response, failure } = await send(ending('HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'));
    expect(failure).toBeNull();
    expect(response).toMatchObject({ status: 999, framingFaults: [FRAMING_FAULT.statusOutOfRange] });
  });

  it('is waited for a little longer where octets after it matter', async () => {
    const late: Handler = (socket) => {
      socket.write('HTTP/1.1 204 No Content\r\n\r\n', () => setTimeout(() => socket.write('late'), 20));
    };
    expect((await send(late)).response?.framingFaults).toEqual([]);
    const patient = await send(late, { graceMs: 60_000 });
    expect(patient).toMatchObject({ failure: null, response: { framingFaults: [FRAMING_FAULT.bodyOn204] } });
  });

  it('needs no more than the grace when nothing comes', async () => {
    const exchange = await send(writing(OK), { graceMs: 20 });
    expect(exchange).toMatchObject({ failure: null, response: { framingFaults: [] } });
  });

  it('is read as that of its method', async () => {
    const answer = writing(`${HEAD}Content-Length: 2\r\n\r\n`);
    const exchange = await send(answer, {}, {}, { ...GET, method: 'HEAD' });
    expect(exchange.failure).toBeNull();
  });

  it('is given up when the run is aborted', async () => {
    const abort = new AbortController();
    const server = await listen((socket) => socket.once('data', () => abort.abort(new Error('run aborted'))));
    const exchange = await sendRaw(setting(server.url), GET, {}, about({ signal: abort.signal }));
    expect(exchange.failure).toMatchObject({ kind: 'not-sent' });
  });
});

describe('a connection that is listened to behind its first response', () => {
  const series = { expected: 2, patienceMs: 150 };
  const behind = [{ method: 'GET', target: '/second' }];
  const heard = async (answer: Handler, form: RawForm = {}) => {
    const waits = { series, graceMs: 60, behind, ...form };
    const { response, further, failure, connection, request } = await send(answer, waits, impatient());
    return {
      statuses: [response, ...(further ?? [])].map((each) => each?.status ?? null),
      failure: failure?.kind ?? null,
      afterwards: connection?.afterwards,
      request,
    };
  };
  const other = 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n';

  it.each<[string, Handler, readonly (number | null)[], string | null, string]>([
    ['two responses and no end', writing(OK + other), [200, 404], null, 'open'],
    ['two responses and the end', ending(OK + other), [200, 404], null, 'ended'],
    ['one more than asked for', ending(OK + other + OK), [200, 404, 200], null, 'ended'],
    ['one response and no end', writing(OK), [200], null, 'open'],
    ['one response and the end', ending(OK), [200], null, 'ended'],
    ['half a second response', ending(`${OK}HTTP/1.1 40`), [200], null, 'ended'],
    ['nothing', () => {}, [null], 'response-timeout', 'open'],
    ['nothing but the end', ending(''), [null], 'closed', 'ended'],
    ['a reset', (socket) => socket.resetAndDestroy(), [null], 'reset', 'reset'],
  ])('has %s', async (_what, answer, statuses, failure, afterwards) => {
    expect(await heard(answer)).toMatchObject({ statuses, failure, afterwards });
  });

  it('is not waited for any longer where each timer is late, as on a busy machine', async () => {
    let timers = 0;
    let lateMs = 0;
    const clock: Clock = {
      ...systemClock,
      now: () => systemClock.now() + lateMs,
      async sleep(ms, signal) {
        if (ms > 50) return systemClock.sleep(ms, signal);
        await systemClock.sleep(1, signal);
        timers += 1;
        lateMs += 400;
      },
    };
    const server = await listen(writing(OK));
    const form: RawForm = { series: { expected: 2, patienceMs: 2_000 }, behind, graceMs: 10 };
    const { connection } = await sendRaw(setting(server.url, { clock }), GET, form, about());
    expect(connection?.afterwards).toBe('open');
    expect(timers).toBeLessThanOrEqual(12);
  });

  it('has sent both requests at once, the second as content of the first where that is said', async () => {
    let wire = '';
    const answer: Handler = (socket) => {
      socket.end(OK);
    };
    const server = await listen((socket, index) =>
      socket.once('data', (octets) => {
        wire = octets.toString('latin1');
        answer(socket, index);
      }),
    );
    const form: RawForm = { series, behind, declares: 'everything', graceMs: 10 };
    const { request } = await sendRaw(setting(server.url), GET, form, about());
    const [head = '', second = ''] = wire.split(/(?<=\r\n\r\n)/);
    expect(head).toContain(`Content-Length: ${second.length}\r\n`);
    expect(second).toMatch(/^GET \/second HTTP\/1\.1\r\nHost: /);
    expect(request).toMatchObject({ hasBehind: true, body: { received: second.length } });
  });
});
