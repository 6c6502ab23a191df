import { describe, expect, it } from 'vitest';
import { withPlan } from '../../harness/config/blocks/facts.ts';
import type { ServiceConfig } from '../../harness/config/service.ts';
import type { CheckDefinition, Suite } from '../../harness/engine/check/check.ts';
import { recordOfJournal } from '../../harness/engine/judging/read-record.ts';
import type { RecordedRun } from '../../harness/engine/judging/recording.ts';
import { startProvider } from '../../harness/engine/provider/start.ts';
import { neededIn } from '../../harness/engine/session/probe.ts';
import { simulatedClock } from '../../harness/engine/simulation/clock.ts';
import { configOf, type ProofCase, proofCases, proofConfigs } from '../../harness/proof/cases.ts';
import { selfSigned, trusting } from '../../harness/proof/certificate.ts';
import { settingNamed } from '../../harness/proof/settings.ts';
import type { JournalEvent } from '../../harness/report/results/fold/events.ts';
import type { Conversation } from '../../harness/wire/conversation.ts';
import type { Exchange } from '../../harness/wire/exchange.ts';
import { suites } from '../catalogue.ts';
import { journalOf, judgedAgain, type Rejudging, redactionFor } from './fixtures/archive.ts';
import { DODGES, type Dodge, TALK_DODGES, type TalkDodge } from './fixtures/dodges.ts';
import { judged } from './fixtures/judged.ts';

type Way = keyof typeof DODGES;

/** Ways that are also tried with every answer but the documented ones, so that twins and comparisons are lost. */
const WITH_ALL: ReadonlySet<string> = new Set<Way>(['ends early', 'in an unknown coding', 'not in HTTP']);

interface Escape {
  readonly why: string;
  readonly ways: readonly (Way | keyof typeof TALK_DODGES)[];
  readonly checks: readonly string[];
}

const NO_HTTP = ['not in HTTP', 'with endless headers'] as const;
const OTHER_TYPE = ['as octets', 'without a media type'] as const;

/** Checks that do not see the fault of an answer that is given so, for a reason that is no gap. */
const LAWFUL: readonly Escape[] = [
  {
    why: 'only what is sent as JSON is held to it: json.success-media-type judges the media type',
    ways: OTHER_TYPE,
    checks: [
      'json.charset',
      'json.no-bom',
      'json.numbers',
      'json.one-text',
      'json.problem-details',
      'json.syntax',
      'json.unique-names',
      'json.utf8',
      'limits.violated-policies',
      'negotiation.coding-once',
      'negotiation.refused-type',
      'negotiation.weights',
      'versioning.links',
      'versioning.reachable-links',
    ],
  },
  {
    why: 'operations.content-type judges the media type: it is no documented stream',
    ways: OTHER_TYPE,
    checks: [
      'events.encoding',
      'events.ended',
      'events.fields',
      'events.first',
      'events.heartbeat',
      'events.records',
      'events.uncacheable',
    ],
  },
  {
    why: 'Vary names everything: no cache gives the answer to another client',
    ways: ['as varying'],
    checks: [
      'auth.private-key-answer',
      'cors.vary',
      'negotiation.accept-vary',
      'negotiation.coding-vary',
      'negotiation.language-vary',
    ],
  },
  { why: 'the fault is in Age, and is gone', ways: ['as stored'], checks: ['caching.age-form'] },
  {
    why: 'a server in front lawfully writes Connection and Upgrade anew',
    ways: ['from a server in front'],
    checks: ['websocket.missing-connection', 'websocket.other-upgrade'],
  },
  { why: 'the fault is gone', ways: ['as octets'], checks: ['headers.content-type'] },
  {
    why: 'the fault is gone',
    ways: OTHER_TYPE,
    checks: ['headers.content-type-form', 'negotiation.true-type'],
  },
  {
    why: 'the fault is in Date, which is gone: headers.date asks for it',
    ways: ['without Date'],
    checks: [
      'caching.date-in-time',
      'caching.last-modified-past',
      'headers.date-form',
      'headers.single-fields',
    ],
  },
  {
    why: 'a connection of HTTP/1.0 ends without a word',
    ways: ['in HTTP/1.0'],
    checks: ['framing.close-announced'],
  },
  {
    why: 'operations.status judges the status, and its answer has no other documentation',
    ways: ['as a part'],
    checks: ['operations.content-type', 'operations.schema'],
  },
  {
    why: 'operations.status judges the status, and that there is one',
    ways: ['as a part', 'reset'],
    checks: ['operations.answer-headers'],
  },
  {
    why: 'another status than 204 has content',
    ways: ['as a part'],
    checks: ['operations.delete-no-content', 'status.no-content'],
  },
  {
    why: 'another status than 201 creates nothing',
    ways: ['as a part'],
    checks: ['operations.replace-status'],
  },
  {
    why: 'each coding has an ETag of its own, and the other answers that there are have another coding',
    ways: ['in an unknown coding', 'in another coding than it says'],
    checks: ['operations.written-etag'],
  },
  {
    why: 'no answer comes, and so none that is late: operations.status judges that',
    ways: ['reset'],
    checks: ['operations.response-time'],
  },
  {
    why: 'the answer with the ETag is gone: operations.status judges that',
    ways: ['reset'],
    checks: ['operations.written-etag'],
  },
  {
    why: 'all answers are in the same coding, which negotiation.content-coding judges',
    ways: ['in an unknown coding'],
    checks: ['caching.etag-per-coding', 'negotiation.coding-vary'],
  },
  {
    why: 'the client takes br, and negotiation.other-codings judges whether it is br',
    ways: ['in another coding than it says'],
    checks: ['negotiation.similar-coding'],
  },
  {
    why: 'framing.one-message judges an answer that cannot be read, and a malformed request may be reset',
    ways: [...NO_HTTP, 'reset'],
    checks: ['json.server-error-media-type'],
  },
  {
    why: 'the header is gone with its answer: cors.named-origin and cors.preflight judge that there is one',
    ways: ['reset'],
    checks: ['cors.credentials-form', 'cors.list-form', 'cors.max-age-form', 'cors.origin-form', 'cors.vary'],
  },
  {
    why: 'no token is issued: auth.token-refusal-status judges that there is an answer',
    ways: [...NO_HTTP, 'reset'],
    checks: [
      'auth.token-by-get',
      'auth.token-client-error',
      'auth.token-error-form',
      'auth.token-wrong-secret',
    ],
  },
  {
    why: 'Allow is gone with its answer: status.unknown-method judges that there is one',
    ways: [...NO_HTTP, 'reset'],
    checks: ['status.allow-served'],
  },
  {
    why: 'no item is made whose id is not read, and so no method is served: operations.schema is blocked',
    ways: ['in an unknown coding'],
    checks: ['status.allow-served'],
  },
  { why: 'a reset refuses large content', ways: ['reset'], checks: ['operations.body-large'] },
  {
    why: 'the request is malformed: whatever is no acceptance refuses it',
    ways: NO_HTTP,
    checks: [
      'framing.chunk-size-overflow',
      'framing.close-obeyed',
      'framing.hidden-field',
      'framing.old-chunks',
      'framing.unread-content',
      'paths.nul-truncation',
    ],
  },
  {
    why: 'the request is malformed: whatever is no acceptance refuses it',
    ways: ['not in HTTP'],
    checks: ['paths.fragment'],
  },
  {
    why: 'no more is asked of an operation whose call ends early: framing.content-length judges that',
    ways: ['ends early'],
    checks: ['operations.answer-status', 'operations.undocumented-refusal'],
  },
];

/** Faults that show only in the record of a whole suite, which is judged again for a few ways. */
const OF_WHOLE_SUITES: ReadonlySet<string> = new Set([
  'auth.key-not-echoed',
  'status.allow',
  'status.allow-true',
  'status.allow-form',
  'operations.answer-status',
  'operations.undocumented-refusal',
  'websocket.server-lengths',
  'limits.failures',
  'limits.further-scope',
]);
const FEW_WAYS: ReadonlySet<string> = new Set<Way>([
  'longer than is read',
  'ends early',
  'in an unknown coding',
]);

/** Suites with requests that differ by their headers alone, so that a fault that comes and goes is met. */
const ASKING_ALIKE = ['auth', 'status', 'headers', 'framing', 'json', 'paths', 'caching', 'negotiation'];
/** Faults that show only in the record of several suites, or of some of their checks, which stand here by name. */
const OF_SEVERAL_SUITES: Readonly<Record<string, readonly string[]>> = {
  // POST is served to the life of an item.
  'status.allow-served': [
    'status',
    'operations.schema',
    'operations.unknown-method',
    'operations.list-has-new',
  ],
  'headers.steady': ASKING_ALIKE,
  'caching.one-clock': ASKING_ALIKE,
  'json.server-error-media-type': ['framing', 'json'],
};

/** The verifier of pacts reads the answers: its own test walks them. */
const OF_THE_VERIFIER = 'pact.interaction';

/**
 * Stimuli that send their own requests, and need no more of the operations than that each is called: trials of their
 * inputs would only make these records longer.
 */
const BEYOND_CALLS: ReadonlySet<string> = new Set([
  'accepted-work',
  'cancelled-work',
  'filtered',
  'filtered-pages',
  'operation-lives',
  'operation-pages',
  'sorted-pages',
  'unknown-cursors',
]);
/** Requests to operations without which no life of an item is tried. */
const FEWEST = 64;

/** The config with no more requests to operations than these stimuli need. */
function withFewTrials(config: ServiceConfig, { uses }: CheckDefinition): ServiceConfig {
  const needed = neededIn(uses, config);
  if (needed.length === 0 || !needed.every(({ name }) => BEYOND_CALLS.has(name))) return config;
  return { ...config, safety: { ...config.safety, operationRequests: FEWEST } };
}

/** All of what shows the fault of a check. */
function suitesThatShow(suite: Suite, check: CheckDefinition): readonly Suite[] {
  const several = OF_SEVERAL_SUITES[check.id];
  if (several) {
    const isNamed = (name: string, id: string) => several.includes(name) || several.includes(id);
    return suites
      .map((each) => ({ ...each, checks: each.checks.filter(({ id }) => isNamed(each.name, id)) }))
      .filter(({ checks }) => checks.length > 0);
  }
  return [OF_WHOLE_SUITES.has(check.id) ? suite : { ...suite, checks: [check] }];
}

const CONFIGS = await proofConfigs();
const DEFECTS = proofCases().filter(({ kind }) => kind === 'defect');
/** Of the limit, and of all else: as the proof has them. */
const PLANS = { limit: 20, other: 1_000 };
const WINDOW_MS = 60_000;
const HANGING_MS = 600_000;

interface Shown {
  readonly config: ServiceConfig;
  readonly recorded: RecordedRun;
}

/** The record of a check, alone if that shows its fault, over the reference service with a defect; null if the check does not notice it. */
async function recordOf(suite: Suite, check: CheckDefinition, case_: ProofCase): Promise<Shown | null> {
  const shipped = configOf(case_, CONFIGS);
  const plan = { name: 'test', requests: PLANS[suite.exhausts ? 'limit' : 'other'], windowMs: WINDOW_MS };
  const planned = shipped.plan === null ? shipped : withPlan(shipped, plan, 'the test');
  const timeouts = { ...planned.timeouts, responseMs: HANGING_MS };
  const { adapt, overTls = false } = settingNamed(case_.setting);
  const identity = overTls ? selfSigned('localhost') : null;
  const adapted = withFewTrials(adapt({ ...planned, timeouts }), check);
  const config = identity === null ? adapted : { ...adapted, tls: trusting(identity.cert) };
  const provider = {
    kind: 'reference',
    name: case_.service,
    defects: case_.name.split('+'),
    variant: null,
  } as const;
  const clock = simulatedClock({ minute: Date.UTC(2026, 0, 1, 12) });
  const running = await startProvider({ ...config, provider }, { clock, ...(identity && { identity }) });
  try {
    const { url } = running;
    const { outcomes, events } = await judged(config, suitesThatShow(suite, check), {
      url,
      clock,
      redaction: redactionFor(config),
    });
    if (!isRaised(outcomes[check.id])) return null;
    const journal = JSON.parse(JSON.stringify(journalOf(check.id, config, url, events)));
    return { config, recorded: recordOfJournal(journal, { file: check.id }) };
  } finally {
    await running.stop();
    clock.stop();
  }
}

type Judged = Extract<JournalEvent, { type: 'outcome' }>;

const isRaised = (outcome: string | undefined) => outcome === 'fail' || outcome === 'warning';

async function judgmentOf(
  suite: Suite,
  check: CheckDefinition,
  { config, recorded }: Shown,
  changes: Pick<Rejudging, 'changed' | 'changedTalk'>,
): Promise<Judged | null> {
  let judgment: Judged | null = null;
  await judgedAgain(recorded, config, suitesThatShow(suite, check), {
    ...changes,
    hear(event) {
      if (event.type === 'outcome' && event.id === check.id) judgment = event;
    },
  });
  return judgment;
}

/** The evidence that shows the fault. */
function faultyOf({ outcome, finding, decisive, subjects = [] }: Judged): ReadonlySet<string> {
  return new Set<string>([
    ...(finding?.got ?? []).flatMap(({ stimuli }) => stimuli.flatMap(({ evidence }) => evidence ?? [])),
    ...(decisive ? [decisive] : []),
    ...subjects.filter((each) => each.outcome === outcome).flatMap(({ evidence }) => evidence),
  ]);
}

const exchangesIn = ({ recorded }: Shown): readonly Exchange[] =>
  recorded.services.flatMap(({ evidence }) =>
    evidence.flatMap((each) => (each.evidence.kind === 'exchange' ? [each.evidence] : [])),
  );

const isEscape = (outcome: string | undefined) =>
  outcome === 'pass' || outcome === 'skipped' || outcome === 'error';

/** Whether a conversation shows the fault. */
const showsTalk = ({ recorded }: Shown, showing: ReadonlySet<string>): boolean =>
  recorded.services.some(({ evidence }) =>
    evidence.some((each) => each.evidence.kind === 'conversation' && showing.has(each.evidence.id)),
  );

/** Ways that hide most faults not at all: one judgment of all of them together shows that of a check. */
const MOSTLY_HARMLESS: readonly Way[] = [
  'in HTTP/1.0',
  'without Date',
  'as varying',
  'as stored',
  'behind interim responses',
];
/** Where this one changes nothing, content is mostly not looked at: others are judged two at a time. */
const OF_CONTENT = 'in an unknown coding';
const ALSO_OF_CONTENT: readonly (readonly Way[])[] = [
  ['as octets', 'longer than is read'],
  ['without a media type', 'in another coding than it says'],
];

/** The ways by which the check is green, or leaves the fault out. */
async function escapesOf(suite: Suite, check: CheckDefinition, shown: Shown): Promise<readonly string[]> {
  const before = await judgmentOf(suite, check, shown, {});
  if (before === null || !isRaised(before.outcome)) return [`judged again as ${before?.outcome}`];
  const answered = exchangesIn(shown).filter(({ response }) => response !== null);
  const showing = faultyOf(before);
  const faulty = answered.filter(({ id }) => showing.has(id));
  const undocumented = answered.filter(({ purpose }) => purpose !== 'as documented');
  const isSame = undocumented.length === faulty.length && undocumented.every((each) => faulty.includes(each));

  /** null if no answer can be given so. */
  const givenBy = async (dodges: readonly Dodge[], meant: readonly Exchange[]): Promise<Judged | null> => {
    const given = new Map(
      meant.flatMap((exchange) => {
        const changed = dodges.reduce(changedBy, exchange);
        return changed === exchange ? [] : [[exchange.id, changed] as const];
      }),
    );
    if (given.size === 0) return null;
    return judgmentOf(suite, check, shown, { changed: (exchange) => given.get(exchange.id) ?? exchange });
  };

  const isFew = OF_WHOLE_SUITES.has(check.id) || OF_SEVERAL_SUITES[check.id] === ASKING_ALIKE;
  const harmless = new Set<string>();
  const alone = new Map<string, Judged | null>();
  const changesNothing = (judged: Judged | null) =>
    judged?.outcome === before.outcome && saidOf(judged) === saidOf(before);
  const tryTogether = async (ways: readonly Way[]) => {
    const judged = await givenBy(
      ways.map((way) => DODGES[way]),
      faulty,
    );
    const [only] = ways;
    if (only !== undefined && ways.length === 1) alone.set(only, judged);
    if (changesNothing(judged)) for (const way of ways) harmless.add(way);
  };
  if (!isFew) {
    const [first = [], ...others] = ALSO_OF_CONTENT;
    await tryTogether([...MOSTLY_HARMLESS, OF_CONTENT, ...first]);
    if (harmless.size === 0) {
      await tryTogether(MOSTLY_HARMLESS);
      await tryTogether([OF_CONTENT]);
      if (harmless.has(OF_CONTENT)) await tryTogether(first);
    }
    if (harmless.has(OF_CONTENT)) for (const ways of others) await tryTogether(ways);
  }
  const escapes = new Set<string>();
  for (const [way, dodge] of Object.entries<Dodge>(DODGES)) {
    if (isFew && !FEW_WAYS.has(way)) continue;
    const tried = harmless.has(way) ? [] : [faulty];
    for (const meant of [...tried, ...(WITH_ALL.has(way) && !isSame ? [undocumented] : [])]) {
      if (escapes.has(way)) continue;
      const known = meant === faulty ? alone.get(way) : undefined;
      const judged = known === undefined ? await givenBy([dodge], meant) : known;
      if (isEscape(judged?.outcome)) escapes.add(way);
    }
  }
  if (isFew || !showsTalk(shown, showing)) return [...escapes];
  for (const [way, dodge] of Object.entries<TalkDodge>(TALK_DODGES)) {
    const changedTalk = (talk: Conversation) => (showing.has(talk.id) ? dodge(talk) : talk);
    if (isEscape((await judgmentOf(suite, check, shown, { changedTalk }))?.outcome)) escapes.add(way);
  }
  return [...escapes];
}

function changedBy(exchange: Exchange, dodge: Dodge): Exchange {
  const given = exchange.response === null ? null : dodge(exchange.response);
  return given === null ? exchange : { ...exchange, ...given };
}

/** The violation as data. */
const saidOf = ({ finding }: Judged): string =>
  JSON.stringify(finding && [finding.subject, finding.expected, finding.got]);

const lawfulFor = (id: string): readonly string[] =>
  LAWFUL.filter(({ checks }) => checks.includes(id)).flatMap(({ ways }) => ways);

/** Checks of one test: a suite of many takes minutes on a busy machine. */
const PART = 20;

function partsOf(suite: Suite) {
  const starts = Array.from({ length: Math.ceil(suite.checks.length / PART) }, (_, part) => part * PART);
  return starts.map((from) => {
    const checks = suite.checks.slice(from, from + PART);
    return [`${checks[0]?.id} and the next ${checks.length - 1}`, suite, checks] as const;
  });
}

describe('a service cannot choose to be left out', () => {
  it('is tried on every check', () => {
    const judging = suites.flatMap(({ checks }) => checks.filter(({ observes }) => !observes));
    const proven = new Set(DEFECTS.flatMap(({ fails }) => fails));
    expect(judging.map(({ id }) => id).filter((id) => !proven.has(id))).toEqual([]);
  });

  it.for(suites.flatMap(partsOf))('%s', async ([, suite, checks]) => {
    const escaped: Record<string, readonly string[]> = {};
    const lawful: Record<string, readonly string[]> = {};
    const unshown: string[] = [];
    for (const check of checks) {
      const case_ = DEFECTS.find(({ fails }) => fails.includes(check.id));
      if (check.observes || case_ === undefined) continue;
      if (check.id === OF_THE_VERIFIER) continue;

      const shown = await recordOf(suite, check, case_);
      if (shown === null) {
        unshown.push(check.id);
        continue;
      }
      const ways = await escapesOf(suite, check, shown);
      if (ways.length > 0) escaped[check.id] = ways.toSorted();
      if (lawfulFor(check.id).length > 0) lawful[check.id] = lawfulFor(check.id).toSorted();
    }
    expect(unshown).toEqual([]);
    expect(escaped).toEqual(lawful);
  });
});
