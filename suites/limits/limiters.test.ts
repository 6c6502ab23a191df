import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import type { Clause } from '../../harness/base/clause.ts';
import type { ServiceConfig } from '../../harness/config/service.ts';
import type { Exchange, FieldLine } from '../../harness/wire/exchange.ts';
import type { Judged } from '../tests/fixtures/judged.ts';
import { judgedRun } from '../tests/fixtures/limit-matrix.ts';
import {
  judgedInSimulation,
  LOADS,
  type ReceivedRequest,
  type SimulatedResponse,
} from '../tests/fixtures/simulated-wire.ts';
import { limits } from './limits.suite.ts';
import type { SimulatedLimiter } from './stimuli/fixtures/simulated-limiter.ts';

/** What is said of a limiter of 10 requests in 60 s that tells its quota, and of faults of such limiters. */

const PLAN = { requests: 10, windowMs: 60_000 };

/** The quota after a request. */
interface Quota {
  left: number;
  endMs: number;
}

type Change = (
  response: SimulatedResponse,
  quota: Quota,
  request: ReceivedRequest,
) => SimulatedResponse | null;

interface Limiter {
  readonly size?: number;
  /** Whose limiter counts a request; null: none. */
  readonly countedBy?: (request: ReceivedRequest, key: string) => string | null;
  /** Another limit that each request has to pass as well. */
  readonly beside?: { readonly requests: number; readonly windowMs: number };
  readonly countsWrongKeys?: true;
  /** Changes to what it serves, and to its refusals. */
  readonly served?: Change;
  readonly refused?: Change;
  readonly plan?: Partial<NonNullable<ServiceConfig['plan']>>;
  readonly facts?: Partial<Record<Clause['key'], unknown>>;
}

/** A window that begins with the first request in it. */
class Window implements SimulatedLimiter {
  readonly #requests: number;
  readonly #windowMs: number;
  readonly #beside: Window | null;
  readonly quota: Quota = { left: 0, endMs: 0 };

  constructor({ requests, windowMs }: typeof PLAN, beside: Window | null = null) {
    this.#requests = requests;
    this.#windowMs = windowMs;
    this.#beside = beside;
  }

  decide(atMs: number): number | null {
    const { quota } = this;
    if (atMs >= quota.endMs) Object.assign(quota, { left: this.#requests, endMs: atMs + this.#windowMs });
    if (quota.left === 0 || this.#beside?.decide(atMs) === null) return null;
    quota.left -= 1;
    return 0;
  }

  retryAfterMs(atMs: number): number {
    const { endMs } = this.quota.left === 0 ? this.quota : (this.#beside ?? this).quota;
    return Math.ceil((endMs - atMs) / 1_000) * 1_000;
  }
}

/** The same response with these fields in place of those of the same names; null: without one. */
function having(
  response: SimulatedResponse,
  fields: Readonly<Record<string, string | null>>,
): SimulatedResponse {
  const names = Object.keys(fields).map((name) => name.toLowerCase());
  const others = response.fields.filter(([name]) => !names.includes(name.toLowerCase()));
  const more = Object.entries(fields).flatMap(([name, value]): FieldLine[] =>
    value === null ? [] : [[name, value]],
  );
  return { ...response, fields: [...others, ...more] };
}

async function judgedLimiter(limiter: Limiter): Promise<Judged> {
  const {
    size = PLAN.requests,
    beside,
    countedBy,
    countsWrongKeys,
    served,
    refused,
    plan,
    facts = {},
  } = limiter;
  let { quota } = new Window(PLAN);
  return judgedInSimulation({
    plan: PLAN,
    make() {
      const window = new Window({ ...PLAN, requests: size }, beside ? new Window(beside) : null);
      const decide = (atMs: number) => {
        quota = window.quota;
        return window.decide(atMs);
      };
      return { decide, retryAfterMs: (atMs) => window.retryAfterMs(atMs) };
    },
    seed: 1,
    load: LOADS.quiet,
    suites: [limits],
    ...(countedBy && { countedBy }),
    respond(response, request, isRefused) {
      if (response.status === 401) {
        if (countsWrongKeys && request.field('authorization') !== undefined) quota.left -= 1;
        return response;
      }
      const told = having(response, {
        'X-RateLimit-Limit': String(PLAN.requests),
        'X-RateLimit-Remaining': String(quota.left),
        'X-RateLimit-Reset': secondsLeft(quota, request),
        ...(isRefused && { 'Cache-Control': 'no-store' }),
      });
      const change = isRefused ? refused : served;
      return change === undefined ? told : change(told, quota, request);
    },
    configure: (config) => ({
      ...config,
      plan: config.plan && { ...config.plan, ...plan },
      facts: {
        ...config.facts,
        ...Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, { value }])),
      } as ServiceConfig['facts'],
    }),
  });
}

const secondsLeft = ({ endMs }: Quota, { atMs }: ReceivedRequest) =>
  String(Math.ceil((endMs - atMs) / 1_000));

/** `check outcome: message`, without the places of the plan, and the cost. */
function linesOf({ outcomes, messages, requests, events }: Judged): readonly string[] {
  const ids = Object.keys(outcomes).filter((id) => id.startsWith('limits.'));
  const lines = ids.map((id) => {
    const message = (messages[id] ?? '').replace(/\[limits\.rate: [^\]]*\]/, '[limits.rate]');
    return `${id.slice('limits.'.length)} ${outcomes[id]}${message && `: ${message}`}`;
  });
  const times = events.flatMap((event) =>
    event.type === 'evidence' ? [(event.value as Exchange).timing.startedMs] : [],
  );
  const lastMs = Math.max(...times) - Math.min(...times);
  return [...lines, `${requests} requests in ${(lastMs / 1_000).toFixed(1)} s`];
}

const NO_X = { 'X-RateLimit-Limit': null, 'X-RateLimit-Remaining': null, 'X-RateLimit-Reset': null };
/** With the fields of the draft, version 8 and later. */
const inDraft: Change = (response, quota, request) =>
  having(response, {
    ...NO_X,
    'RateLimit-Policy': '"main";q=10;w=60',
    RateLimit: `"main";r=${quota.left};t=${secondsLeft(quota, request)}`,
  });
const draftWith =
  (policy: string, limit: string): Change =>
  (response, quota, request) =>
    having(response, {
      ...NO_X,
      'RateLimit-Policy': `"main";q=10;w=60, ${policy}`,
      RateLimit: `"main";r=${quota.left};t=${secondsLeft(quota, request)}${limit}`,
    });
const problem =
  (content: object): Change =>
  (response) => ({
    ...having(response, { 'Content-Type': 'application/problem+json' }),
    content: JSON.stringify(content),
  });
const fields =
  (of: Readonly<Record<string, string | null>>): Change =>
  (response) =>
    having(response, of);
const both =
  (one: Change, other: Change): Change =>
  (response, quota, request) => {
    const changed = one(response, quota, request);
    return changed && other(changed, quota, request);
  };
const status =
  (code: number): Change =>
  (response) => ({ ...response, status: code });
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
const PAGES = { 'cors.origins': { origins: ['https://page.example'] } };
const FOR_PAGES = { 'Access-Control-Allow-Origin': 'https://page.example', Vary: 'Origin' };
const BESIDE = { requests: 4, windowMs: 1_000 };
const STATED = { further: [BESIDE] };
const HOURLY = { requests: 100, windowMs: 3_600_000 };

const TELLING: Readonly<Record<string, Limiter>> = {
  'keeps to everything': {},
  'refuses with 503, a page, and no advice': {
    refused: both(
      both(
        status(503),
        fields({ 'Content-Type': 'text/html', 'Retry-After': null, 'Cache-Control': 'max-age=60', ...NO_X }),
      ),
      (response) => ({ ...response, content: '<p>Too many' }),
    ),
  },
  'refuses by ending the connection': { refused: () => null },
  'tells half the wait': {
    refused: (response, { endMs }, { atMs }) =>
      having(response, { 'Retry-After': String(Math.floor((endMs - atMs) / 2_000)) }),
  },
  'refuses slowly': { refused: (response) => ({ ...response, delayMs: 1_500 }) },
  'tells no quota': { served: fields(NO_X), refused: fields(NO_X) },
  'tells another limit': { served: fields({ 'X-RateLimit-Limit': '20' }) },
  'tells a malformed limit': { served: fields({ 'X-RateLimit-Limit': 'ten' }) },
  'tells a malformed limit in refusals': { refused: fields({ 'X-RateLimit-Limit': 'ten' }) },
  'tells more than the limit': { served: fields({ 'X-RateLimit-Remaining': '11' }) },
  'tells the reset in milliseconds': {
    served: (response, { endMs }, { atMs }) =>
      having(response, { 'X-RateLimit-Reset': String(endMs - atMs) }),
  },
  'tells the quota by the draft': {
    served: inDraft,
    refused: both(inDraft, problem({ type: QUOTA_EXCEEDED, title: 'slow', 'violated-policies': ['main'] })),
  },
  'refuses by the draft without fields, for a policy that none has': {
    served: inDraft,
    refused: both(
      fields(NO_X),
      problem({ type: QUOTA_EXCEEDED, title: 'slow', 'violated-policies': ['other'] }),
    ),
  },
  'counts wrong keys': { countsWrongKeys: true },
  'counts no HEAD': { countedBy: ({ method }, key) => (method === 'HEAD' ? null : key) },
  'counts by the headers of the client': {
    countedBy: ({ field }, key) => `${key} ${field('x-forwarded-for')} ${field('user-agent')}`,
  },
  'counts by the text of Authorization': { countedBy: ({ field }) => field('authorization') ?? '' },
  'counts by the spaces before the key': {
    countedBy: ({ field }) => field('authorization')?.toLowerCase() ?? '',
  },
  'counts all keys together': { countedBy: () => 'all' },
  'counts by key in place of address': { plan: { per: 'address' } },
  'refuses with 429, and 403 is documented': { facts: { 'errors.codes': { rateLimit: 403 } } },
  'refuses where other codes are documented': { facts: { 'errors.codes': { missingCredential: 401 } } },
  'hides Retry-After from pages': { facts: PAGES, served: fields(FOR_PAGES), refused: fields(FOR_PAGES) },
  'fails at each fourth': {
    served: (response, { left }) => (left % 4 === 0 ? { ...response, status: 503 } : response),
  },
  'is spent by others as well': {
    served: (response, { left }) =>
      having(response, { 'X-RateLimit-Remaining': String(Math.max(0, left - 3)) }),
  },
  'admits eleven': { size: 11 },
  'keeps a further limit': { beside: BESIDE, plan: STATED },
  'keeps no further limit': { plan: STATED },
  'tells two limits': {
    plan: { further: [HOURLY] },
    served: draftWith('"hour";q=100;w=3600', ', "hour";r=90;t=3000'),
    refused: draftWith('"hour";q=100;w=3600', ', "hour";r=90;t=3000'),
  },
};

/** Limiters that tell no quota. */
const UNTOLD = [
  'fixed window',
  'fixed window of the clock',
  'sliding counter',
  'token bucket, empty at first',
  'window, and a limit of concurrent requests',
  'answers held back',
  'answers held back, and refusals of many together',
  'documented burst',
  'bucket without burst',
  'only a limit of concurrent requests',
  'a fifth more together',
  'refusals at random',
  'half the window',
  'window that refusals extend',
  'ban after three refusals',
].map((name) => `without quota headers: ${name}`);

const [BASE = '', UNTOLD_BASE = ''] = [Object.keys(TELLING)[0], UNTOLD[0]];

function judgedOf(title: string): Promise<Judged> {
  const limiter = TELLING[title];
  if (limiter !== undefined) return judgedLimiter(limiter);
  return judgedRun({ name: title.slice(UNTOLD_BASE.indexOf(': ') + 2), plan: PLAN, load: 'quiet', seed: 1 });
}

/** Only the differences from the first one of its kind, below its title. */
async function textOf(title: string): Promise<string> {
  const base = title in TELLING ? BASE : UNTOLD_BASE;
  const lines = linesOf(await judgedOf(title));
  const known = title === base ? [] : linesOf(await firstOf(base));
  return [title, ...lines.filter((line) => !known.includes(line)).map((line) => `  ${line}`), ''].join('\n');
}

const firsts = new Map<string, Promise<Judged>>();
function firstOf(title: string): Promise<Judged> {
  const known = firsts.get(title) ?? judgedOf(title);
  firsts.set(title, known);
  return known;
}

const FILE = new URL('./fixtures/limiters.txt', import.meta.url);
const saved = new Map(
  readFileSync(FILE, 'utf8')
    .split(/\n(?=\S)/)
    .map((part) => [part.slice(0, part.indexOf('\n')), part.endsWith('\n') ? part : `${part}\n`]),
);
const texts = new Map<string, string>();

it.for([...Object.keys(TELLING), ...UNTOLD])('a limiter that %s', async (title) => {
  const text = await textOf(title);
  texts.set(title, text);
  expect(text).toBe(saved.get(title));
});

// After a change of a message: `CONFORM_SAVE=1 npx vitest run suites/limits/limiters.test.ts`.
afterAll(() => {
  if (process.env.CONFORM_SAVE === '1') writeFileSync(FILE, [...texts.values()].join(''));
});
