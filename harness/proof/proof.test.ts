import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Evidence, evidenceToJson } from '../wire/evidence.ts';
import {
  exampleBurst,
  exampleConversation,
  exampleExchange,
  exampleFrame,
  exampleId,
  exampleResponse,
} from '../wire/fixtures/example-evidence.ts';
import { traceOf } from './proof.ts';

function differ(...all: readonly Evidence[]): boolean {
  return new Set(all.map((each) => traceOf(evidenceToJson(each)))).size > 1;
}

/** An exchange of any moment, with what is drawn by chance. */
function answered(status: number, second: number, field = 'X-Request-Id'): Evidence {
  const response = exampleResponse({
    status,
    fields: [
      [field, randomUUID()],
      ['Date', `Thu, 01 Jan 2026 12:00:${second} GMT`],
      ['RateLimit', `"default";r=${second};t=${60 - second}`],
    ],
  });
  const { timing } = exampleExchange();
  return exampleExchange({ response, id: exampleId(`e${second}`), timing: { ...timing, startedMs: second } });
}

/** What a server says in a conversation, while we say as many words as we got out. */
function said(text: string, ours: number): Evidence {
  const frame = exampleFrame(1, text);
  const event = { type: 'frame', frame, atMs: ours } as const;
  const own = Array.from({ length: ours }, () => ({ ...event, from: 'client' as const }));
  return exampleConversation({ events: [...own, { ...event, from: 'server' }] });
}

const burst = (...statuses: readonly number[]) =>
  exampleBurst({
    before: statuses.length,
    entries: statuses.map((status, at) => ({
      index: at + 1,
      sentMs: at + Math.random(),
      durationMs: Math.random(),
      status,
      fields: [],
      failure: null,
    })),
  });

describe('the trace of a piece of evidence', () => {
  it('is the same of the same behaviour, whatever the time and the dice were', () => {
    expect(differ(answered(200, 10), answered(200, 59))).toBe(false);
    expect(differ(said('hello 1', 1), said('hello 12', 3))).toBe(false);
    expect(differ(burst(200, 429), burst(200, 200, 429))).toBe(false);
  });

  it('is another of another status, field, message or refusal', () => {
    expect(differ(answered(200, 10), answered(404, 10))).toBe(true);
    expect(differ(answered(200, 10), answered(200, 10, 'x-request-id'))).toBe(true);
    expect(differ(said('hello', 1), said('goodbye', 1))).toBe(true);
    expect(differ(burst(200, 429), burst(200, 503))).toBe(true);
  });
});
