import { describe, expect, it } from 'vitest';
import { resultOf } from '../fixtures/probed.ts';
import { configOf } from '../fixtures/said.ts';
import { client, server, type TalkEvents, talk } from '../fixtures/talk.ts';
import {
  echoes,
  echoesAsConfigured,
  endWithoutAccident,
  insteadOfEcho,
  isDropped,
  isEndedByLength,
  longFragmentedEcho,
  longInSteps,
  ofAnEcho,
  refusedLength,
  takenEchoes,
} from './echo.ts';

const QUIET = talk([client.ping('a'), server.pong('a')]);
const insteadOf = (events: TalkEvents, alive = QUIET) =>
  resultOf(insteadOfEcho, { given: { 'websocket-text-echo': talk(events), 'websocket-alive': alive } });
const pusher = server.json({ event: 'pusher:connection_established', data: '{"socket_id":"1.2"}' });

describe('instead of an echo', () => {
  it.each<readonly [string, TalkEvents]>([
    ['comes back', [server.text('conform')]],
    ['comes back among others', [server.text('hello'), server.text('conform')]],
    ['comes back in part', [server.text('for')]],
    ['comes back with three octets changed', [server.text('cxxxorm')]],
    ['was never sent', []],
  ])('the message %s', async (what, events) => {
    expect(await insteadOf(what.includes('never') ? events : [client.text('conform'), ...events])).toBeNull();
  });

  it.each<readonly [string, TalkEvents]>([
    ['it answers with a text message, "cxxxxrm"', [server.text('cxxxxrm')]],
    ['it answers with a text message, ""', [server.text('')]],
    ['it answers with a text message, "conform, conform"', [server.text('conform, conform')]],
    ['it answers with a binary message', [server.binary(Uint8Array.of(1))]],
    [`it answers with a text message, "${'x'.repeat(60)}…"`, [server.text('x'.repeat(70))]],
    ['it ends the connection (close code 1003)', [server.close(1003)]],
    ['it ends the connection (close code none)', [server.ends()]],
    ['it sends nothing back', [client.waits(9)]],
  ])('%s', async (what, events) => {
    expect(await insteadOf([client.text('conform'), ...events])).toBe(what);
  });

  it('a greeting is no answer', async () => {
    const greeted = talk([server.text('hello'), client.ping('a'), server.pong('a')]);
    const sent = client.text('conform');
    expect(await insteadOf([sent, server.text('hello')], greeted)).toBe(
      'it speaks first, and sends nothing back',
    );
    expect(await insteadOf([sent, server.text('hello'), server.text('no')], greeted)).toBe(
      'it answers with a text message, "no"',
    );
    expect(await insteadOf([sent, server.text('no')], talk([pusher]))).toBe('it speaks pusher');
  });

  it('nothing of an echo is sent', async () => {
    const twin = talk([client.text('conform'), server.text('conform')]);
    const given = { 'websocket-text-echo': twin, 'websocket-instead-of-echo': null };
    expect(await resultOf(ofAnEcho, { given })).toBe(twin);
    expect(
      await resultOf(ofAnEcho, { given: { ...given, 'websocket-instead-of-echo': 'it sends nothing back' } }),
    ).toBe('skipped: the endpoint does not echo: it sends nothing back');
  });
});

describe('an echo', () => {
  const same = talk([client.text('conform'), server.text('conform')]);

  it('proves something only where a short message comes back', async () => {
    const damaged = talk([client.text('conform'), server.text('conforn')]);
    expect(await resultOf(echoes, { given: { 'websocket-of-an-echo': same } })).toBe(same);
    expect(await resultOf(echoes, { given: { 'websocket-of-an-echo': damaged } })).toBe(
      'blocked: a short text message is not sent back, so this would prove nothing',
    );
  });

  it('is one where the config says so', async () => {
    const given = { 'websocket-echoes': same };
    expect(await resultOf(echoesAsConfigured, { given })).toBe(same);
    const config = configOf({ echo: false });
    expect(await resultOf(echoesAsConfigured, { given, config })).toBe('skipped: no echo is configured');
  });
});

const LONG = 'x'.repeat(4097);

describe('a long message', () => {
  it.each<readonly [string, TalkEvents, number | null]>([
    ['a Close', [client.text(LONG), server.close(1009)], 4097],
    ['a Close before ours', [client.text(LONG), server.close(1009), client.close(1009)], 4097],
    ['the end of TCP', [client.text(LONG), server.ends()], 4097],
    ['the end of TCP upon our Close', [client.text(LONG), client.close(1000), server.ends()], 4097],
    ['the answer to our Close', [client.text(LONG), client.close(1000), server.close(1000)], null],
    ['silence', [client.text(LONG), client.waits(9)], null],
    ['its echo, and then a Close', [client.text(LONG), server.text(LONG), server.close(1000)], null],
    ['a Close, and it is not that long', [client.text(LONG.slice(1)), server.close(1009)], null],
  ])('with %s is refused for its length: %#', (_, events, length) => {
    expect(refusedLength(talk(events))).toBe(length);
  });

  it('is none of those that the service has taken', () => {
    const view = talk([client.text('a'), server.text('b'), client.text(LONG), server.close(1009)]);
    expect(takenEchoes(view).map(({ sent }) => sent.text)).toEqual(['a']);
    const kept = talk([client.text('a'), client.text(LONG), client.waits(9)]);
    expect(takenEchoes(kept)).toHaveLength(2);
  });

  it.each<readonly [string, TalkEvents, boolean]>([
    ['ends', [client.text(LONG), server.ends()], true],
    [
      'ends in fragments',
      [client.text(LONG.slice(9), { fin: false }), client.frame(0, LONG), server.ends()],
      true,
    ],
    ['is short', [client.text(LONG.slice(1)), server.ends()], false],
    ['comes back', [client.text(LONG), server.text(LONG)], false],
  ])('may be too long where the connection %s', (_, events, isIt) => {
    expect(isEndedByLength(talk(events))).toBe(isIt);
  });

  it.each<readonly [string, TalkEvents, boolean]>([
    ['the end of TCP', [client.text(LONG), server.ends()], true],
    ['a Close', [client.text(LONG), server.close(1009), server.ends()], false],
    ['the end of TCP over a short one', [client.text('a'), server.ends()], false],
  ])('is dropped by %s', (_, events, isIt) => {
    expect(isDropped(talk(events))).toBe(isIt);
  });

  it.each<readonly [pieces: number, TalkEvents, string | null]>([
    [2, [server.ends()], 'the end of TCP alone'],
    [4, [server.ends('reset')], 'a reset with nothing unread'],
    [3, [server.ends('reset')], null],
    [4, [server.close(1009), server.ends()], null],
    [4, [client.waits(9)], null],
  ])('after %i pieces ends without an accident: %#', (pieces, events, how) => {
    const sent = Array.from({ length: pieces }, () => client.octets());
    expect(endWithoutAccident(talk([...sent, server.octets(), ...events]))).toBe(how);
  });

  it('is sent again only where it was refused', async () => {
    const whole = talk([client.text(LONG), server.text(LONG)]);
    const told = talk([client.text(LONG), server.close(1009)]);
    expect(await resultOf(longFragmentedEcho, { given: { 'websocket-long-echoes': whole } })).toBe(
      'skipped: no message was too long for it',
    );
    expect(await resultOf(longInSteps, { given: { 'websocket-long-echoes': told } })).toBe(
      'skipped: no connection ended without a Close over a long message',
    );
  });
});
