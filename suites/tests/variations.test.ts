import { describe, expect, it } from 'vitest';
import { VARIATIONS, type Variation } from '../../harness/base/verdict.ts';
import { shipped } from '../../harness/config/fixtures/config-folder.ts';
import type { ReferenceName } from '../../harness/config/service.ts';
import type { CheckDefinition } from '../../harness/engine/check/check.ts';
import { simulatedClock } from '../../harness/engine/simulation/clock.ts';
import { SHIPPED, settingNamed } from '../../harness/proof/settings.ts';
import { inEvents } from '../../harness/reference/behavior/patches/parts.ts';
import { onAnswer, type Patch } from '../../harness/reference/behavior/patches/patch.ts';
import { onOpen } from '../../harness/reference/behavior/patches/websocket.ts';
import { withField } from '../../harness/reference/http/message.ts';
import { startReference } from '../../harness/reference/reference.ts';
import { acceptable, driftOf } from '../../harness/report/memory/drift.ts';
import { suites } from '../catalogue.ts';
import { judged } from './fixtures/judged.ts';

/** Each way in which what is observed may vary, shown by providers: one that does so, and one that goes further. */

/** A reference provider; as it is when nothing is said. */
interface State {
  readonly variant?: string;
  readonly defects?: readonly string[];
  readonly patch?: Patch;
}

interface Pair {
  /** Id of the observation. */
  readonly observes: string;
  readonly service: ReferenceName;
  readonly setting?: string;
  readonly was: State;
  readonly is: State;
}

interface Shown {
  /** No drift; null where nothing may vary. */
  readonly lawful: Pair | null;
  readonly drifted: Pair;
  readonly told: RegExp;
}

const announcing = (version: string): State => ({
  patch: onAnswer('served', (answer) => withField(answer, 'API-Version', version)),
});

const pinging = (count: number): State => ({
  patch: onOpen((socket) => {
    for (let sent = 0; sent < count; sent += 1) socket.ping();
  }),
});

/** Each message takes so many ms. */
const slow = (ms: number): State => ({
  patch: onOpen((socket, { clock }) => {
    const send = socket.send.bind(socket);
    socket.send = (content: Parameters<typeof send>[0]) => void clock.sleep(ms).then(() => send(content));
  }),
});

/** The fields by which an event can be known again, in this order. */
const marking = (...names: readonly string[]): State => ({
  patch: inEvents(({ fields: { 'X-Webhook-Id': id = '', ...others }, body }) => ({
    fields: { ...Object.fromEntries(names.map((name) => [name, id])), ...others },
    body,
  })),
});

const refusal = { observes: 'auth.refusal-status', service: 'search' } as const;
const identity = { observes: 'webhooks.identity', service: 'realtime' } as const;
const shape = { observes: 'json.success-shape', service: 'search' } as const;
const latency = { observes: 'websocket.latency', service: 'realtime' } as const;
const heartbeat = { observes: 'websocket.heartbeat', service: 'realtime' } as const;
const version = { observes: 'versioning.version-field', service: 'search' } as const;

const SHOWN: Readonly<Record<Variation, Shown>> = {
  never: {
    lawful: null,
    drifted: { ...refusal, was: {}, is: { defects: ['refuses-403-for-401'] } },
    told: /was 401, is 403$/,
  },
  order: {
    lawful: {
      ...identity,
      was: marking('X-Webhook-Id', 'Idempotency-Key'),
      is: marking('Idempotency-Key', 'X-Webhook-Id'),
    },
    drifted: {
      ...identity,
      was: marking('X-Webhook-Id', 'Idempotency-Key'),
      is: { defects: ['webhook-gives-up'] },
    },
    told: /^without x-webhook-id, idempotency-key now$/,
  },
  shape: {
    lawful: { ...shape, was: {}, is: { variant: 'content-with-a-counter' } },
    drifted: { ...shape, was: {}, is: { defects: ['json-empty-body'] } },
    told: /^was \{"type":"object".*, is null$/,
  },
  upwards: {
    lawful: {
      observes: 'websocket.connections',
      service: 'realtime',
      was: {},
      is: { variant: 'ws-takes-few-connections' },
    },
    drifted: {
      observes: 'websocket.idle',
      service: 'realtime',
      setting: 'idle',
      was: {},
      is: { defects: ['ws-closes-idle'] },
    },
    told: /^keptMs: was 1200, is not there$/,
  },
  downwards: {
    lawful: { ...latency, was: {}, is: slow(40) },
    drifted: { ...latency, was: {}, is: slow(400) },
    told: /^p50Ms: was 100, is 4\d\d/,
  },
  count: {
    lawful: { ...heartbeat, was: { variant: 'ws-pings-first' }, is: pinging(3) },
    drifted: { ...heartbeat, was: { variant: 'ws-pings-first' }, is: {} },
    told: /^pings: was 1, is 0$/,
  },
  text: {
    lawful: { ...version, was: { variant: 'announces-version' }, is: announcing('1.5') },
    drifted: { ...version, was: { variant: 'announces-version' }, is: {} },
    told: /^api-version: was 1\.4, is not there$/,
  },
};

function observationOf({ observes }: Pair): CheckDefinition {
  const found = suites.flatMap(({ checks }) => checks).find(({ id }) => id === observes);
  if (found === undefined) throw new Error(`there is no observation ${observes}`);
  return found;
}

/** What is recorded of a provider in that state. */
async function seen(pair: Pair, { variant, defects = [], patch }: State): Promise<unknown> {
  const { service, setting = SHIPPED } = pair;
  const config = settingNamed(setting).adapt(await shipped(service));
  const clock = simulatedClock();
  const provider = await startReference({
    service,
    credentials: config.credentials,
    plan: config.plan,
    variant: variant ?? null,
    defects,
    ...(patch && { patches: [patch] }),
    clock,
  });
  const check = observationOf(pair);
  const alone = suites.map((suite) => ({ ...suite, checks: suite.checks.filter((each) => each === check) }));
  const { observations, messages } = await judged(config, alone, {
    url: provider.url,
    clock,
  }).finally(async () => {
    await provider.stop();
    clock.stop();
  });
  const key = check.records ?? '';
  expect(Object.keys(observations), messages[check.id]).toContain(key);
  return observations[key];
}

/** How the later value differs from the earlier one, once that is accepted. */
async function driftIn(pair: Pair, varies: Variation): Promise<string | null> {
  expect(observationOf(pair).varies ?? 'never').toBe(varies);
  const [was, is] = [await seen(pair, pair.was), await seen(pair, pair.is)];
  expect(is).not.toEqual(was);
  return driftOf(acceptable(was, varies), is, varies);
}

// Beside each other: most of their time they wait.
describe.concurrent('what is accepted and may vary', () => {
  it.each(VARIATIONS)('%s: is told where it goes further, and not before', async (varies) => {
    const { lawful, drifted, told } = SHOWN[varies];
    if (lawful !== null) expect(await driftIn(lawful, varies)).toBeNull();
    expect(await driftIn(drifted, varies)).toMatch(told);
  });
});
