import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ending } from '../../base/fixtures/program.ts';
import type { Results, ServiceResult } from '../../report/results/results.ts';
import { serviceVerdict } from '../../report/results/run-verdict.ts';
import { conformOver } from '../fixtures/conform-process.ts';
import { containedIn, everythingSaid, readings } from '../fixtures/everything-said.ts';
import { HOSTILITIES, type HostileServer, spellings } from '../fixtures/hostile-servers.ts';
import { xmlFaults } from '../fixtures/system-tools.ts';

/**
 * Few runs of the real program, each against many hostile providers. That the runs end at all, before the deadline
 * of `conform`, is the first thing tested.
 */
const KEYS = { HOSTILE_KEY: 'example-key/for+tests', HOSTILE_KEY_2: 'example-second/key+for-tests' };

interface Group {
  readonly verdict: 'inconclusive' | 'does not conform';
  /** Left out: those that the whole catalogue is run against. */
  readonly heavy?: true;
  readonly exitCode: number;
  readonly args?: readonly string[];
}

const GROUPS: Readonly<Record<string, Group>> = {
  'of which nothing can be told': {
    verdict: 'inconclusive',
    exitCode: 3,
    args: ['--suite', 'auth', 'json', 'limits'],
  },
  'that are wrong': { verdict: 'does not conform', exitCode: 1 },
  'that are wrong at length': {
    verdict: 'does not conform',
    heavy: true,
    exitCode: 1,
    args: ['--check', 'json.*', 'auth.missing-credential'],
  },
  // What is more than is read may be right in the end.
  'that are more than anybody can judge': {
    verdict: 'inconclusive',
    heavy: true,
    exitCode: 3,
    args: ['--suite', 'json'],
  },
};

interface HostileRun {
  readonly ending: Ending;
  readonly results: Results;
  /** All that it printed and wrote, by where that is. */
  readonly said: ReadonlyMap<string, string>;
}

const servers = new Map<string, HostileServer>();
const runs = new Map<string, HostileRun>();

beforeAll(async () => {
  for (const [name, { start }] of Object.entries(HOSTILITIES)) servers.set(name, await start());
  const all = Object.entries(GROUPS).map(async ([name, group]) => {
    runs.set(name, await runAgainst(group));
  });
  await Promise.all(all);
});

afterAll(async () => {
  await Promise.all([...servers.values()].map((server) => server.close()));
});

async function runAgainst(group: Group): Promise<HostileRun> {
  const services = members(group).map((name) => [`services/${name}.yaml`, serviceConfig(name)] as const);
  const args = ['--concurrency', '3', '--verbose', ...(group.args ?? [])];
  const ran = await conformOver(Object.fromEntries(services), args, KEYS);
  return { ending: ran, results: ran.results(), said: everythingSaid(ran, ran.reports) };
}

function members({ verdict, heavy }: Group): readonly string[] {
  return Object.entries(HOSTILITIES).flatMap(([name, each]) =>
    each.verdict === verdict && each.heavy === heavy ? [name] : [],
  );
}

function serviceConfig(name: string): string {
  const patience = HOSTILITIES[name]?.slow ? '2s' : '20s';
  return `service: ${name}
contract: search
provider: { url: "${servers.get(name)?.url}" }
credentials: { scheme: bearer, key: "\${env:HOSTILE_KEY}", secondKey: "\${env:HOSTILE_KEY_2}" }
plan: { requests: 5000, window: 1s }
safety: { exceedRateLimit: false }
timeouts: { connect: ${patience}, response: ${patience} }
`;
}

function runOf(group: string): HostileRun {
  const run = runs.get(group);
  if (run === undefined) throw new Error('there was no run');
  return run;
}

function serviceOf(name: string, group: string): ServiceResult {
  const service = runOf(group).results.services.find((each) => each.service === name);
  if (service === undefined) throw new Error(`${name} was not run`);
  return service;
}

/** More than the functional suites have. */
const MOST = 170;

describe.each(Object.entries(GROUPS))('against providers %s', (name, group) => {
  const { verdict, exitCode } = group;

  it.each(members(group))('%s', (hostility) => {
    const service = serviceOf(hostility, name);
    const said = [service.trouble ?? '', ...service.checks.map(({ message }) => message)];
    const errors = service.checks.filter(({ outcome }) => outcome === 'error');
    expect(errors.map(({ id, message }) => `${id}: ${message}`)).toEqual([]);
    expect(serviceVerdict(service, { strict: false }).word).toBe(verdict);
    expect([...new Set(said)]).toContainEqual(expect.stringMatching(HOSTILITIES[hostility]?.says ?? /$^/));
    expect(servers.get(hostility)?.requests()).toBeLessThanOrEqual(HOSTILITIES[hostility]?.most ?? MOST);
  });

  it('ends with the right exit code and is not interrupted', () => {
    const { ending, results } = runOf(name);
    expect(ending).toMatchObject({ code: exitCode, signal: null });
    expect(results.run).toMatchObject({ interrupted: false, faults: [], exitCode });
  });

  it('blocks what could not be exercised, with the reason', () => {
    const blocked = runOf(name).results.services.flatMap(({ checks }) =>
      checks.filter(({ outcome }) => outcome === 'blocked'),
    );
    expect(blocked.length).toBeGreaterThan(0);
    expect(blocked.filter(({ message }) => message.trim() === '')).toEqual([]);
  });

  it('says no key in any spelling', () => {
    const shownIn = containedIn(Object.values(KEYS).flatMap(spellings));
    for (const [where, text] of runOf(name).said) {
      for (const reading of readings(text)) {
        expect(shownIn(reading), where).toEqual([]);
      }
    }
  });

  it('writes reports that are well-formed, and no markup of theirs', () => {
    const { said } = runOf(name);
    expect(xmlFaults([...said.keys()].filter((where) => where.endsWith('.xml')))).toBe('');
    for (const [where, text] of said) {
      if (where.endsWith('.json')) expect(() => JSON.parse(text), where).not.toThrow();
      // Between fences Markdown shows markup as it is.
      const shown = where.endsWith('.md') ? text.replaceAll(/^(`{3,}).*?^\1$/gms, '') : text;
      if (/\.(?:html|xml|md)$/.test(where)) expect(shown.includes('<script>globalThis'), where).toBe(false);
    }
  });

  it('keeps what they say from steering a terminal', () => {
    const { ending } = runOf(name);
    const steering = [...`${ending.stdout}${ending.stderr}`].filter((character) => STEERING.test(character));
    expect(steering).toEqual([]);
  });
});

/** Controls but the line feed, and what turns the direction of text around. */
const STEERING = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
