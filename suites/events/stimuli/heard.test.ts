import { describe, expect, it } from 'vitest';
import { onlyOperation } from '../../../harness/config/operation/openapi/fixtures/described.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { HeardStream } from '../../../harness/wire/exchange.ts';
import { exampleExchange } from '../../../harness/wire/fixtures/example-evidence.ts';
import { orderOf } from '../../operations/stimuli/stimulus.ts';
import { OperationReply } from '../../operations/stimuli/trials.ts';
import { lateStart, silence } from './heard.ts';

const operation = await onlyOperation({
  openapi: '3.1.0',
  paths: { '/changes': { get: { responses: { 200: { content: { 'text/event-stream': {} } } } } } },
});

/** The terms allow 1 s each; times in ms. */
interface Heard {
  readonly arrivals: readonly number[];
  readonly responseMs?: number | null;
  readonly durationMs?: number;
  /** null: it has ended by itself. Default: time. */
  readonly left?: HeardStream['left'] | null;
  readonly isDocumented?: boolean;
}

function replyOf({
  arrivals,
  responseMs = 100,
  durationMs = 5_000,
  left = 'time',
  isDocumented = true,
}: Heard) {
  const withinMs = isDocumented ? 1_000 : null;
  const stream = { listenMs: 5_000, firstWithinMs: withinMs, heartbeatMs: withinMs, resumes: false };
  const order = orderOf({ ...operation, stream }, { path: '/changes', fields: [], body: null }, '');
  const exchange = exampleExchange();
  const timing = { ...exchange.timing, responseMs, durationMs };
  return new OperationReply(
    order,
    new Reply({ ...exchange, timing, stream: { arrivals, ...(left !== null && { left }) } }),
  );
}

/** A busy machine or network may add half a second. */
describe('the first event or comment', () => {
  it.each<readonly [string, Heard, string | null]>([
    ['in time, by the slack', { arrivals: [1_600, 4_000] }, null],
    ['later by 1 ms', { arrivals: [1_601] }, 'a later one'],
    ['late, counted from the head', { arrivals: [2_400], responseMs: 1_000 }, null],
    ['late where the head is at once', { arrivals: [1_501], responseMs: null }, 'a later one'],
    ['in time where the head is at once', { arrivals: [1_500], responseMs: null }, null],
    ['not there', { arrivals: [] }, 'nothing while it was listened to'],
    ['not there in so short a time', { arrivals: [], durationMs: 1_600 }, null],
    ['at any time', { arrivals: [4_000], isDocumented: false }, null],
  ])('%s: %j', (_, heard, said) => {
    expect(lateStart(replyOf(heard))).toBe(said);
  });
});

describe('a silence', () => {
  it.each<readonly [string, Heard, string | null]>([
    ['of a heartbeat and the slack', { arrivals: [1_600, 3_100, 4_600], durationMs: 6_100 }, null],
    ['longer by 1 ms', { arrivals: [1_600, 3_101, 4_000] }, 'a longer silence after 1 part'],
    ['at the beginning', { arrivals: [1_601, 3_000, 4_000] }, 'a longer silence from its beginning'],
    ['where the head is at once', { arrivals: [1_500, 3_000, 4_000], responseMs: null }, null],
    [
      '1 ms longer there',
      { arrivals: [1_501, 3_000], responseMs: null },
      'a longer silence from its beginning',
    ],
    ['when it was left', { arrivals: [1_000, 2_000], durationMs: 3_501 }, 'a longer silence after 2 parts'],
    ['before it was left for its items', { arrivals: [1_000, 2_000], left: 'items' }, null],
    ['before its end', { arrivals: [1_000, 2_000], left: null }, null],
    [
      'before several',
      { arrivals: [1_000, 3_000, 3_000, 3_000, 3_500] },
      'a longer silence after 1 part, and then 3 parts at once',
    ],
    [
      'before two',
      { arrivals: [1_000, 3_000, 3_000] },
      'a longer silence after 1 part, and then 2 parts at once',
    ],
    ['of any length', { arrivals: [4_000], isDocumented: false }, null],
  ])('%s: %j', (_, heard, said) => {
    expect(silence(replyOf(heard))).toBe(said);
  });
});
