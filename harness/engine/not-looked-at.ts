import type { ServiceConfig } from '../config/service.ts';
import { firstOf } from '../report/results/causes.ts';
import type { NotLookedAt } from '../report/results/results.ts';
import { counted } from '../report/results/tally.ts';
import type { CheckDefinition, Suite } from './check/check.ts';
import { applicabilityOf } from './check/judge.ts';
import { estimate } from './estimate.ts';

/** Something that a config can turn on, and that would tell more. */
interface Switch {
  readonly what: string;
  /** The config with it; null if it is on, or makes no sense. */
  readonly on: (config: ServiceConfig) => ServiceConfig | null;
  readonly why: (config: ServiceConfig) => string;
  readonly turnOn: (config: ServiceConfig) => string;
}

/** A suite of which no check applies until its block is written. */
interface UnwrittenBlock {
  readonly what: string;
  readonly suite: string;
  readonly isThere: (config: ServiceConfig) => boolean;
  readonly why: string | ((config: ServiceConfig) => string);
  readonly turnOn: string;
}

const allowed = (config: ServiceConfig, what: keyof ServiceConfig['safety']): ServiceConfig | null =>
  config.safety[what] === true ? null : { ...config, safety: { ...config.safety, [what]: true } };

const CHANGING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

const SWITCHES: readonly Switch[] = [
  {
    what: 'writes',
    on: (config) => allowed(config, 'unsafeMethods'),
    why: ({ operations }) => {
      const changing = operations.filter(({ method }) => CHANGING.has(method)).length;
      return changing === 0
        ? 'requests that change data'
        : `${counted(changing, 'operation')} that may change data`;
    },
    turnOn: () => '--allow writes, against data of your own',
  },
  {
    what: 'rate limit',
    on: (config) => (config.plan === null ? null : allowed(config, 'exceedRateLimit')),
    why: ({ plan }) =>
      plan === null ? '' : `${plan.requests} requests in ${plan.windowMs / 1_000} s, and what follows`,
    turnOn: () => '--allow limit',
  },
  {
    what: 'sizes',
    on: (config) => allowed(config, 'findSizeLimits'),
    why: () => 'how long a URL and a header may be',
    turnOn: () => '--allow sizes',
  },
  {
    what: 'second key',
    on: (config) => {
      const { second, secret, carrier } = config.credentials;
      if (second !== null || carrier === null || secret === null) return null;
      return { ...config, credentials: { ...config.credentials, second: secret } };
    },
    why: () => 'whether accounts are kept apart',
    turnOn: ({ service }) => `credentials.secondKey in the config of ${service}`,
  },
];

const BLOCKS: readonly UnwrittenBlock[] = [
  {
    what: 'operations',
    suite: 'operations',
    isThere: ({ operations }) => operations.length > 0,
    why: 'no OpenAPI document is configured',
    turnOn: 'openapi: PATH',
  },
  {
    what: 'WebSocket',
    suite: 'websocket',
    isThere: ({ websocket }) => websocket !== null,
    why: 'no endpoint is configured',
    turnOn: 'websocket: { url: /live }',
  },
  {
    what: 'webhooks',
    suite: 'webhooks',
    isThere: ({ webhooks, documentedWebhooks = [] }) =>
      webhooks !== undefined || documentedWebhooks.length === 0,
    why: ({ documentedWebhooks = [] }) => `the document describes ${firstOf(documentedWebhooks, 3)}`,
    turnOn: 'webhooks: in the config of the service',
  },
];

/**
 * What a run of these checks cannot tell of a service, as its config has it: with the line that turns each thing on, the
 * number of checks that it adds and what they send.
 */
export function notLookedAt(config: ServiceConfig, suites: readonly Suite[]): readonly NotLookedAt[] {
  const applying = (given: ServiceConfig) =>
    suites.flatMap(({ checks }) => checks.filter((check) => isJudged(check, given)));
  const now = new Set(applying(config));
  const sent = (given: ServiceConfig) => estimate(given, { suites, catalogue: 0 }).usual;
  const switches = SWITCHES.flatMap(({ what, on, why, turnOn }) => {
    const given = on(config);
    const checks = given === null ? 0 : applying(given).filter((check) => !now.has(check)).length;
    if (given === null || checks === 0) return [];
    const requests = Math.max(0, sent(given) - sent(config));
    return [{ what, why: why(config), turnOn: turnOn(config), checks, requests }];
  });
  const blocks = BLOCKS.flatMap(({ what, suite, isThere, why, turnOn }) => {
    const checks = suites.find(({ name }) => name === suite)?.checks.length ?? 0;
    const reason = typeof why === 'string' ? why : why(config);
    return isThere(config) || checks === 0 ? [] : [{ what, why: reason, turnOn, checks }];
  });
  return [...switches, ...blocks, ...unproven(suites)];
}

/** Checks of the user's own that are only observed. */
function unproven(suites: readonly Suite[]): readonly NotLookedAt[] {
  const checks = suites.flatMap((suite) => suite.checks.filter((each) => each.own && each.observes)).length;
  const why = 'not proven, so they are only observed';
  return checks === 0 ? [] : [{ what: 'your checks', why, turnOn: 'conform prove', checks }];
}

function isJudged(check: CheckDefinition, config: ServiceConfig): boolean {
  const { reasonNot, missing } = applicabilityOf(check, config);
  return reasonNot === null && missing === null;
}
