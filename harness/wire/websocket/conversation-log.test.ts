import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../base/secret.ts';
import { Stopwatch } from '../pace/clock.ts';
import { manualClock } from '../pace/fixtures/virtual-clock.ts';
import { createRedaction } from '../redaction/redaction.ts';
import { ConversationLog } from './conversation-log.ts';

const KEY = new Secret('KEY', 'example-key-for-tests/+Zz09');

function opened() {
  const clock = manualClock();
  const stopwatch = new Stopwatch(clock);
  const redaction = createRedaction([KEY]);
  const log = new ConversationLog({ clock, stopwatch, redaction, frameBytes: 1024 });
  return { clock, log };
}

/** When nobody waited any longer, where octets come each second for so long; in ms. */
async function givenUpAfter({ movingMs, forMs }: { movingMs?: number; forMs: number }): Promise<number> {
  const { clock, log } = opened();
  let endedMs = Number.NaN;
  const waited = log.next({ timeoutMs: 5_000, ...(movingMs && { movingMs }) }).then(() => {
    endedMs = clock.now();
  });
  for (let atMs = 0; atMs < forMs; atMs += 1_000) {
    await clock.advance(1_000);
    log.moved();
  }
  await clock.drive(waited);
  return endedMs;
}

describe('what is waited for', () => {
  it('is waited for no longer because octets come', async () => {
    expect(await givenUpAfter({ forMs: 20_000 })).toBe(5_000);
  });

  it('is waited for as long as octets come, where that is said', async () => {
    expect(await givenUpAfter({ movingMs: 30_000, forMs: 20_000 })).toBe(25_000);
  });

  it('is waited for within a bound, however long octets come', async () => {
    expect(await givenUpAfter({ movingMs: 30_000, forMs: 60_000 })).toBe(30_000);
  });

  it('leaves the length of the wait in the record', async () => {
    const { clock, log } = opened();
    const waited = log.next({ timeoutMs: 5_000, movingMs: 30_000, note: 'for it' });
    await clock.advance(4_000);
    log.moved();
    await clock.drive(waited);
    expect(log.events).toEqual([
      { atMs: 9_000, from: 'client', type: 'waited', forMs: 9_000, note: 'for it' },
    ]);
  });
});

describe('a binary message', () => {
  const frame = (payload: Uint8Array, rest: object = {}) => ({
    fin: true,
    rsv: 0,
    opcode: 2,
    masked: false,
    length: payload.length,
    lengthOctets: 0 as const,
    payload,
    received: payload.length,
    whole: true,
    digest: null,
    ...rest,
  });
  const payloads = (log: ConversationLog) =>
    log.events.flatMap((event) => (event.type === 'frame' ? [Buffer.from(event.frame.payload)] : []));

  it.each([
    ['gzip', gzipSync],
    ['zlib', deflateSync],
    ['Brotli', brotliCompressSync],
  ])('that is compressed with %s and holds a secret keeps no payload', (_, compress) => {
    const { log } = opened();
    log.recordFrame(
      'server',
      frame(compress(`{"and":"${'text in words '.repeat(20)}","k":"${KEY.reveal()}"}`)),
    );
    expect(payloads(log)).toEqual([Buffer.alloc(0)]);
  });

  it('that is compressed keeps none in its fragments, and another one keeps its payload', () => {
    const { log } = opened();
    const octets = gzipSync(`{"k":"${KEY.reveal()}"}`);
    log.recordFrame('server', frame(octets.subarray(0, 9), { fin: false }));
    log.recordFrame('server', frame(octets.subarray(9), { opcode: 0 }));
    const harmless = gzipSync('{"k":"of no harm"}');
    log.recordFrame('server', frame(harmless));
    expect(payloads(log)).toEqual([Buffer.alloc(0), Buffer.alloc(0), harmless]);
  });
});
