import { describe, expect, it } from 'vitest';
import { NotApplicable } from '../../../harness/base/verdict.ts';
import { shipped } from '../../../harness/config/fixtures/config-folder.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import type { Stimulus } from '../../../harness/engine/session/http/stimulus.ts';
import { costOf, type Port, usualCostOf } from '../../../harness/engine/session/probe.ts';
import type { Evidence } from '../../../harness/wire/evidence.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import { bareResponse, type FieldLine } from '../../../harness/wire/exchange.ts';
import { exampleBurst, exampleExchange, exampleId } from '../../../harness/wire/fixtures/example-evidence.ts';
import { fewCount, firstBurst, serialCount } from './count.ts';
import { furtherLimits, furtherShared } from './further.ts';
import { burstFailures, limitMeasurement } from './measurement.ts';
import { exhaustion } from './quota.ts';
import { secondKeyWhileExhausted, streamWhileExhausted } from './spent.ts';

const search = await shipped('search');
const plan = { name: null, requests: 10, windowMs: 60_000 };

/** A session that has this evidence, and gets these statuses while the quota is spent. */
interface Scene {
  readonly config?: Partial<ServiceConfig>;
  readonly asked?: Readonly<Record<string, unknown>>;
  readonly evidence?: readonly Evidence[];
  readonly refusal?: Port['quota']['refusal'];
  readonly statuses?: readonly number[];
}

function sceneOf({ config, asked = {}, evidence = [], refusal = null, statuses = [] }: Scene) {
  const sent: Stimulus[] = [];
  const waits: number[] = [];
  let nowMs = 0;
  const port = {
    config: { ...search, plan, ...config },
    clock: { now: () => nowMs, wallNow: () => new Date(nowMs) },
    ask: async ({ name }: { readonly name: string }) => asked[name],
    pause: {
      until: async (untilMs: number) => {
        waits.push(untilMs);
        nowMs = untilMs;
      },
    },
    quota: {
      refusal,
      evidenceSoFar: () => evidence,
      async sendWhileSpent(stimulus: Stimulus) {
        sent.push(stimulus);
        return answered(statuses[sent.length - 1] ?? 429, sent.length);
      },
    },
  } as unknown as Port;
  return { port, sent, waits };
}

function answered(status: number, at = 1, fields: readonly FieldLine[] = []): Reply {
  return new Reply({ ...exampleExchange(), id: exampleId(`e${at}`), response: bareResponse(status, fields) });
}

describe('failures in bursts', () => {
  const of = (...statuses: readonly number[]): readonly Evidence[] => [
    ...statuses.map((status, at) => answered(status, at + 10).exchange),
    exampleBurst({ faults: statuses.map((_, at) => exampleId(`e${at + 10}`)) }),
    // Outside of bursts.
    answered(500, 90).exchange,
  ];

  it.each<[string, readonly Evidence[], Port['quota']['refusal'], object]>([
    ['none', of(), null, { status: null, count: 0, evidence: 'e3' }],
    ['an error', of(500), null, { status: 500, count: 1, evidence: 'e10' }],
    // RFC 9110 §15.6.4: the last request of a window may be refused so.
    ['a single 503', of(503), null, { status: null, count: 0, evidence: 'e3' }],
    ['two times 503', of(503, 503), null, { status: 503, count: 2, evidence: 'e10' }],
    ['a 503 beside an error', of(503, 502), null, { status: 502, count: 1, evidence: 'e11' }],
    ['an error beside two times 503', of(502, 503, 503), null, { status: 502, count: 3, evidence: 'e10' }],
    ['refusals', of(429, 429), { status: 429, content: '' }, { status: null, count: 0, evidence: 'e3' }],
  ])('are those of its requests that no limiter refused: %s', async (_, evidence, refusal, found) => {
    const { port } = sceneOf({ evidence, refusal, asked: { 'limit-measurement': { evidence: 'e1' } } });
    expect(await burstFailures.send(port)).toMatchObject(found);
  });

  it('are of as many requests as were not refused', async () => {
    const { port } = sceneOf({
      evidence: [exampleBurst(), exampleBurst()],
      refusal: { status: 429, content: '' },
      asked: { 'limit-measurement': { evidence: 'e1' } },
    });
    expect(await burstFailures.send(port)).toMatchObject({ of: 6 });
    expect(
      await burstFailures.send(sceneOf({ asked: { 'limit-measurement': { evidence: 'e1' } } }).port),
    ).toEqual({
      status: null,
      count: 0,
      of: 0,
      evidence: 'e1',
    });
  });
});

type Operation = ServiceConfig['operations'][number];
const stream = (path: string, more: Partial<Operation> = {}): Operation => ({
  id: path,
  method: 'GET',
  path,
  fields: [],
  body: null,
  tags: [],
  place: 'test',
  template: path,
  response: { status: 200, mediaTypes: [], schema: null },
  alternatives: [],
  answers: [],
  auth: 'required',
  safe: true,
  call: { method: 'GET', template: path, inputs: [], fields: [], body: null },
  uncallable: null,
  awaits: [],
  stream: { listenMs: 1_000, firstWithinMs: null, heartbeatMs: null, resumes: false },
  ...more,
});

describe('a stream beyond the limit', () => {
  const others = [
    stream('/posted', { method: 'POST' }),
    stream('/uncallable', { uncallable: 'no value' }),
    stream('/open', { auth: 'none' }),
  ];
  const asked = { 'quota-spent': answered(429) };

  it('is the first that can be called with the key, listened to for an item', async () => {
    const operations = [...others, stream('/first'), stream('/second')];
    const { port, sent } = sceneOf({ config: { operations }, asked, statuses: [429] });
    expect((await streamWhileExhausted.send(port)).status).toBe(429);
    const [first] = sent;
    expect(first).toMatchObject({
      method: 'GET',
      withoutSampleFields: true,
      listen: { items: 1, forMs: 200 },
      purpose: '/first, a stream, while the quota is spent',
    });
  });

  it('is not tried without such a stream', async () => {
    const { port } = sceneOf({ config: { operations: others }, asked });
    await expect(streamWhileExhausted.send(port)).rejects.toThrow(NotApplicable);
  });

  it('is not judged where it is refused for something else', async () => {
    const { port } = sceneOf({ config: { operations: [stream('/first')] }, asked, statuses: [406] });
    await expect(streamWhileExhausted.send(port)).rejects.toThrow(
      'the stream is refused otherwise than for its rate: status 406',
    );
  });
});

describe('the second key beyond the limit', () => {
  const asked = { 'quota-spent': answered(429) };
  const statusOf = async (...statuses: readonly number[]) => {
    const { port, sent, waits } = sceneOf({ asked, statuses });
    const reply = await secondKeyWhileExhausted.send(port).catch((thrown: Error) => thrown.message);
    return [reply instanceof Reply ? reply.status : reply, sent.length, waits];
  };

  it.each<[string, readonly number[], readonly unknown[]]>([
    ['is served, and the first is not', [200, 429], [200, 2, []]],
    // A bucket of its own may be empty at first: 1.5 times the time in which one request flows back.
    ['is refused, and refused again', [429, 429, 429], [429, 3, [9_000]]],
    ['is refused once, then served, and the first is not', [429, 429, 200, 429], [200, 4, [9_000]]],
    ['and the first are served, then only the second', [200, 200, 429, 200, 429], [200, 5, [9_000]]],
  ])('%s', async (_, statuses, found) => {
    expect(await statusOf(...statuses)).toEqual(found);
  });
});

describe('a further limit for both keys', () => {
  const further = { requests: 5, windowMs: 1_000, per: 'address' } as const;

  it('is not asked of where the documents do not say whose requests it counts', async () => {
    const { per, ...open } = further;
    const asked = { exhaustion: { plan: { ...plan, further: [open] } }, 'limit-measurement': {} };
    expect(await furtherShared.send(sceneOf({ asked }).port)).toEqual([]);
    expect(per).toBe('address');
  });
});

describe('what a measurement costs at most', () => {
  const withPlan = (more: object | null): ServiceConfig => ({
    ...search,
    plan: more && { ...plan, ...more },
  });

  it('is some bursts of the documented number', () => {
    const ten = withPlan({});
    expect(costOf(exhaustion, ten)).toBe(51);
    expect(usualCostOf(exhaustion, ten)).toBe(34);
    expect(costOf(limitMeasurement, ten)).toBe(94);
    expect(costOf(serialCount, ten)).toBe(26);
    expect(costOf(firstBurst, ten)).toBe(0);
    // Four times 16, 8, 4 and 2 at a time, and half as many more as documented.
    expect(costOf(fewCount, ten)).toBe(120 + 15);
    expect(costOf(furtherLimits, ten)).toBe(0);
    expect(costOf(furtherLimits, withPlan({ further: [] }))).toBe(0);
    expect(costOf(furtherLimits, withPlan({ further: [{ requests: 5, windowMs: 1_000 }] }))).toBe(17);
    expect(costOf(exhaustion, withPlan({ requests: 1_000 }))).toBe(3 * 1_254);
  });

  it('is none without a plan', () => {
    const none = withPlan(null);
    for (const probe of [exhaustion, serialCount, fewCount, furtherLimits])
      expect(costOf(probe, none)).toBe(0);
  });
});
