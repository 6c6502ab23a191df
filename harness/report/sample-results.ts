import type { Level, Outcome, ResolvedGround } from '../contract/outcome.ts';
import type { Evidence } from '../evidence/evidence.ts';
import { evidenceToJson } from '../evidence/json.ts';
import { withExitCode } from './fold.ts';
import type { CheckResult, Observation, Results, ServiceResult } from './results.ts';
import {
  burst,
  COMMON_EVIDENCE,
  conversation,
  HOSTILE,
  HOSTILE_EXCHANGE,
  KEY_NAME,
  START,
} from './sample-evidence.ts';
import { tallyOf } from './tally.ts';

/** Results for tests: three services, every outcome, every kind of evidence, and a provider that means harm. */

const STATED: ResolvedGround = {
  kind: 'clause',
  ref: 'auth.scheme',
  standing: 'stated',
  place: 'search-service.md, Authentication, row 1',
};
const RFC: ResolvedGround = {
  kind: 'standard',
  ref: 'RFC 9110 §15.5.2',
  standing: 'MUST',
  place: 'RFC 9110 §15.5.2',
};
const PRACTICE: ResolvedGround = {
  kind: 'practice',
  ref: 'OWASP API4:2023',
  standing: 'practice',
  place: '',
};
const SILENT: ResolvedGround = {
  kind: 'clause',
  ref: 'limits.rate',
  standing: 'not-shown',
  place: 'realtime-service.md, Limits, row 2',
};

const GROUNDS: Readonly<Record<Level, readonly ResolvedGround[]>> = {
  MUST: [STATED, RFC],
  SHOULD: [PRACTICE],
  NONE: [SILENT],
};

type CheckSketch = readonly [
  id: string,
  title: string,
  level: Level,
  outcome: Outcome,
  message: string,
  evidence: readonly string[],
];

function check([id, title, level, outcome, message, evidence]: CheckSketch): CheckResult {
  const suites: Readonly<Record<string, string>> = {
    auth: 'authentication',
    status: 'status-codes',
    limits: 'rate-limit',
  };
  const prefix = id.split('.')[0] ?? '';
  return {
    id,
    suite: suites[prefix] ?? prefix,
    title,
    level,
    grounds: GROUNDS[level],
    outcome,
    message,
    durationMs: evidence.length * 7.25,
    evidence,
    reproduce:
      evidence.length === 0
        ? null
        : `curl --include --header "Authorization: Bearer $${KEY_NAME}" --header 'Content-Type: application/json' 'http://127.0.0.1:8080/v1/resources'`,
  };
}

const NO_SECOND_KEY = 'no second key is configured (credentials.secondKey)';
const NO_WEBSOCKET = 'the service config names no websocket';

const COMMON: readonly CheckSketch[] = [
  ['auth.valid-credential', 'serves a request with the configured credential', 'MUST', 'pass', '', ['e1']],
  ['auth.wrong-credential', 'refuses a wrong credential', 'MUST', 'pass', '', ['e2']],
  ['auth.challenge', 'names how to authenticate in a 401', 'MUST', 'pass', '', ['e2']],
  ['auth.per-key', 'keeps the keys apart', 'SHOULD', 'blocked', NO_SECOND_KEY, []],
  ['status.unknown-path', 'answers 404 for an unknown path', 'MUST', 'pass', '', ['e3']],
  ['status.head', 'answers HEAD as GET without a body', 'MUST', 'pass', '', ['e1']],
  ['json.media-type', 'says that its body is JSON', 'MUST', 'pass', '', ['e1']],
  [
    'json.error-shape',
    'gives errors one shape',
    'NONE',
    'observed',
    'application/problem+json',
    ['e2', 'e3'],
  ],
  ['versioning.prefix', 'serves the documented path under its prefix', 'MUST', 'pass', '', ['e1']],
  [
    'versioning.other-prefixes',
    'tells what other prefixes serve',
    'NONE',
    'observed',
    '/v2 answers 404',
    ['e3'],
  ],
];

const SEARCH: readonly CheckSketch[] = [
  ...COMMON,
  [
    'auth.missing-credential',
    'refuses a request without a credential with 401',
    'MUST',
    'fail',
    'expected status 401, got 200 with a JSON body of 2 resources',
    ['e1', 'e4'],
  ],
  [
    'limits.exact',
    'admits exactly as many requests as the plan grants',
    'MUST',
    'fail',
    'expected the 101st request of the window to be the first refused, got 104th',
    ['b1'],
  ],
  [
    'limits.retry-after',
    'says when to come back',
    'SHOULD',
    'warning',
    'expected Retry-After with a 429, found none',
    ['b1'],
  ],
  ['limits.keyed-by', 'keeps the quota per key', 'SHOULD', 'blocked', NO_SECOND_KEY, []],
  ['websocket.handshake', 'opens a connection', 'MUST', 'skipped', NO_WEBSOCKET, []],
  ['websocket.ping', 'answers a ping with its payload', 'MUST', 'skipped', NO_WEBSOCKET, []],
];

const HOSTILE_CHECKS: readonly CheckSketch[] = [
  ...COMMON,
  [
    'json.hostile',
    `says nothing ${HOSTILE}`,
    'MUST',
    'fail',
    `expected a title, got ${HOSTILE}`,
    ['e1', 'e5'],
  ],
  ['json.long', 'keeps its messages short', 'SHOULD', 'warning', `got ${'x<y> '.repeat(20_000)}`, ['e1']],
  [
    'status.known',
    'answers 405 with Allow',
    'MUST',
    'known',
    'expected Allow, found none (known until 2027-01-01: ticket 12)',
    ['e3'],
  ],
  ['limits.exact', 'admits exactly as many requests as the plan grants', 'MUST', 'pass', '', ['b1']],
  ['websocket.handshake', 'opens a connection', 'MUST', 'skipped', NO_WEBSOCKET, []],
];

const REALTIME: readonly CheckSketch[] = [
  ...COMMON,
  ['limits.exact', 'tells how many requests are admitted', 'NONE', 'observed', '', []],
  ['websocket.handshake', 'opens a connection', 'MUST', 'pass', '', ['c1']],
  ['websocket.ping', 'answers a ping with its payload', 'MUST', 'pass', '', ['c1']],
  ['websocket.close', 'ends the connection on a reserved opcode', 'MUST', 'pass', '', ['c1']],
];

interface ServiceSketch {
  readonly service: string;
  readonly environment?: string;
  readonly checks: readonly CheckSketch[];
  readonly evidence: readonly Evidence[];
  readonly observations?: readonly Observation[];
  readonly plan?: ServiceResult['plan'];
}

function service(sketch: ServiceSketch): ServiceResult {
  const ledger = sketch.evidence.map((one) => ({
    evidence: one.id,
    purpose: one.purpose,
    requests: one.kind === 'burst' ? one.entries.length : 1,
  }));
  return {
    service: sketch.service,
    contract: sketch.service,
    environment: sketch.environment ?? null,
    provider: { kind: 'reference', url: 'http://127.0.0.1:8080' },
    plan: sketch.plan ?? null,
    requestsSent: ledger.reduce((sum, { requests }) => sum + requests, 0),
    durationMs: 61_234.5,
    trouble: null,
    checks: sketch.checks.map(check),
    observations: sketch.observations ?? [],
    pacts: [
      {
        consumer: 'web-shop',
        source: 'pacts/web-shop.json',
        interactions: [{ check: 'json.media-type', brokerId: null }],
      },
    ],
    ledger,
    waits: [
      {
        reason: 'the window that the first request opened is over',
        fromMs: START + 3_000,
        untilMs: START + 61_000,
      },
    ],
    evidence: Object.fromEntries(sketch.evidence.map((one) => [one.id, evidenceToJson(one)])),
  };
}

const seen = (key: string, value: unknown, by: string): Observation => ({
  key,
  value,
  check: by,
  accepted: null,
});

export function resultsOf(services: readonly ServiceResult[], run: Partial<Results['run']> = {}): Results {
  return withExitCode({
    schemaVersion: 1,
    run: {
      id: 'r4x9k2',
      startedAt: '2026-11-21T06:38:14.120Z',
      finishedAt: '2026-11-21T06:39:16.004Z',
      harness: { name: 'conform', version: '0.1.0', node: 'v24.21.0' },
      interrupted: false,
      interruption: null,
      strict: false,
      exitCode: 0,
      faults: [],
      ...run,
    },
    services,
    totals: tallyOf(services.flatMap(({ checks }) => checks)),
  });
}

/** A service that conforms in all that was asked. */
export function conformingService(name = 'realtime'): ServiceResult {
  return service({
    service: name,
    environment: 'staging',
    checks: REALTIME,
    evidence: [...COMMON_EVIDENCE, conversation('c1')],
    observations: [
      seen('limits.algorithm', 'unknown', 'limits.exact'),
      seen('websocket.first-message', { event: 'connection_established' }, 'websocket.handshake'),
    ],
  });
}

/** Three services: one with failures and a met rate limit, one hostile in every text, one conforming. */
export function sampleResults(run: Partial<Results['run']> = {}): Results {
  return resultsOf(
    [
      service({
        service: 'search',
        checks: SEARCH,
        evidence: [...COMMON_EVIDENCE, burst('b1', 1_200, 103, 110)],
        plan: { requests: 100, windowSeconds: 60 },
        observations: [
          seen('limits.first-refused', 104, 'limits.exact'),
          seen('limits.algorithm', 'fixed-window', 'limits.exact'),
          seen('auth.refusal', { wrong: 401, empty: 401, truncated: 401 }, 'auth.wrong-credential'),
          seen(
            'errors.shape',
            { type: 'object', required: ['title'], properties: { title: { type: 'string' } } },
            'json.error-shape',
          ),
        ],
      }),
      service({
        service: 'messaging',
        checks: HOSTILE_CHECKS,
        evidence: [...COMMON_EVIDENCE, HOSTILE_EXCHANGE, burst('b1', 1_000, 60, 61)],
        plan: { requests: 1_000, windowSeconds: 60 },
        observations: [
          seen('errors.shape', HOSTILE, 'json.error-shape'),
          seen('limits.first-refused', null, 'limits.exact'),
        ],
      }),
      conformingService(),
    ],
    run,
  );
}
