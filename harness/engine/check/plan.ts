import type { ServiceConfig } from '../../config/service.ts';
import { closureOf, costOf, neededBy, neededIn, type Probe, type SendingPlace } from '../session/probe.ts';
import type { Session } from '../session/session.ts';
import { AnswerRecord } from '../session/turn/evidence-log.ts';
import type { CheckDefinition, Suite } from './check.ts';
import { applicabilityOf, type JudgeOptions, type Judgment, judge, rootsOf } from './judge.ts';

export interface Judged {
  readonly suite: Suite;
  readonly check: CheckDefinition;
  readonly judgment: Judgment;
}

/** A check is judged, or a stimulus of a later check is sent. */
export interface PlannedStep {
  readonly kind: 'send' | 'judge';
  readonly suite: Suite;
  readonly check: CheckDefinition;
  readonly place: SendingPlace;
  /** None if the check does not apply. */
  readonly probes: readonly Probe<unknown>[];
}

/** The order of one session. */
export interface SessionPlan {
  /** Before the suite that spends the quota. */
  readonly before: readonly PlannedStep[];
  /** That suite and later ones. */
  readonly from: readonly PlannedStep[];
  /** Ends of probes that accompany all others, then the rules over the record. */
  readonly last: readonly PlannedStep[];
  /** That suite may meet the limit: steps that would wait for quota come after it. */
  readonly meetsLimit: boolean;
}

const PLACES: readonly SendingPlace[] = ['ordinary', 'late', 'last', 'record'];

/**
 * A check is judged at the latest place of the probes that it may ask for, otherwise in the order of the suites; its
 * earlier stimuli are sent in turn. `selected`: ids of the checks of the run. Default: all.
 */
export function planOf(
  suites: readonly Suite[],
  config: ServiceConfig,
  selected?: ReadonlySet<string>,
): SessionPlan {
  const exhausting = suites.findIndex(({ exhausts }) => exhausts);
  const at = exhausting < 0 ? suites.length : exhausting;
  const judgedIn = (some: readonly Suite[]) =>
    some.flatMap((suite) => suite.checks.map((check) => stepOf(suite, check, config, selected)));
  const [before, from] = [judgedIn(suites.slice(0, at)), judgedIn(suites.slice(at))];
  return {
    before: inOrder(before, config),
    from: inOrder(from, config),
    last: (['last', 'record'] as const).flatMap((at) =>
      [...before, ...from].filter(({ place }) => place === at),
    ),
    meetsLimit: exhausting >= 0 && config.safety.exceedRateLimit,
  };
}

function stepOf(
  suite: Suite,
  check: CheckDefinition,
  config: ServiceConfig,
  selected: ReadonlySet<string> | undefined,
): PlannedStep {
  const { reasonNot, missing } = applicabilityOf(check, config);
  const judged = reasonNot === null && missing === null ? [check, ...rootsOf(check, config, selected)] : [];
  const uses = neededIn(check.uses, config);
  const own = new Set(uses);
  // Roots over the record explain recorded evidence: nothing is sent for them.
  const probes = judged
    .flatMap((each) => neededIn(each.uses, config))
    .filter((each) => own.has(each) || each.place !== 'record');
  // What does not apply may do so by its turn: the service then speaks HTTP/2 alone.
  const place = placeOf(judged.length > 0 ? probes : uses, config);
  return { kind: 'judge', suite, check, probes, place };
}

/** The latest place of these and of the probes that they may ask for. */
function placeOf(probes: readonly Probe<unknown>[], config: ServiceConfig): SendingPlace {
  const places = [...closureOf(probes, config)].map(({ place }) => PLACES.indexOf(place));
  return PLACES[Math.max(0, ...places)] ?? 'ordinary';
}

function inOrder(steps: readonly PlannedStep[], config: ServiceConfig): readonly PlannedStep[] {
  const sending = (step: PlannedStep, place: SendingPlace): PlannedStep => {
    const used = step.probes.length === 0 ? [] : neededIn(step.check.uses, config);
    const probes = used.flatMap((each) => partsOf(each, place, config));
    return { ...step, kind: 'send', place, probes };
  };
  const inTurn = steps.map((step) => (step.place === 'ordinary' ? step : sending(step, 'ordinary')));
  const late = steps.flatMap((step) => {
    if (step.place === 'late') return [step];
    return step.place === 'record' ? [sending(step, 'late')] : [];
  });
  return [...inTurn, ...late];
}

/** The parts of a probe that are sent up to a place: itself, or its needs unless its own place is later. */
function partsOf(
  probe: Probe<unknown>,
  upTo: SendingPlace,
  config: ServiceConfig,
): readonly Probe<unknown>[] {
  const isBy = (place: SendingPlace) => PLACES.indexOf(place) <= PLACES.indexOf(upTo);
  if (isBy(placeOf([probe], config))) return [probe];
  if (probe.begunBy !== undefined) return partsOf(probe.begunBy, upTo, config);
  return isBy(probe.place)
    ? neededIn(probe.needs, config).flatMap((each) => partsOf(each, upTo, config))
    : [];
}

interface PlanOptions {
  /** Of the next check. */
  readonly options: () => JudgeOptions;
  readonly entering?: (suite: Suite) => void;
}

/** Two parts, the second of which may come after other sessions. */
interface JudgingParts {
  /** Yields each outcome as soon as its evidence is there. */
  readonly inTurn: AsyncGenerator<Judged>;
  /** Their own stimuli were sent in turn. */
  readonly overRecord: AsyncGenerator<Judged>;
}

/** Nothing is sent or judged before the parts are read, the first one first. */
export function judging(
  suites: readonly Suite[],
  session: Session,
  { options, entering }: PlanOptions,
): JudgingParts {
  const { before, from, last, meetsLimit } = planOf(suites, session.config, options().selected);
  const isOfRecord = ({ place }: PlannedStep) => place === 'record';

  async function* taken(steps: readonly PlannedStep[], later?: PlannedStep[]): AsyncGenerator<Judged> {
    for (const [index, step] of steps.entries()) {
      const { kind, suite, check, probes } = step;
      entering?.(suite);
      const { signal } = options();
      if (later !== undefined && !(await session.hasRoomFor(probes, signal))) {
        later.push(step);
        continue;
      }
      if (kind === 'send') {
        if (session.outage === null) for (const each of probes) await session.ask(each, signal);
        continue;
      }
      await askTogether(session, steps.slice(index), signal);
      yield { suite, check, judgment: await judge(check, session, options()) };
    }
  }

  async function* inTurn(): AsyncGenerator<Judged> {
    const waiting: PlannedStep[] = [];
    yield* taken(before, meetsLimit ? waiting : undefined);
    yield* taken(from);
    yield* taken(waiting);
    yield* taken(last.filter((step) => !isOfRecord(step)));
  }

  return { inTurn: inTurn(), overRecord: taken(last.filter(isOfRecord)) };
}

/** Gives the id of the check that sends a probe, of that name, with the fewest requests; null for none. */
function senders(suites: readonly Suite[], config: ServiceConfig): (probe: string) => string | null {
  let known: ReadonlyMap<string, string> | null = null;
  return (probe) => {
    known ??= sendersIn(planOf(suites, config), config);
    return known.get(probe) ?? null;
  };
}

function sendersIn({ before, from, last }: SessionPlan, config: ServiceConfig): ReadonlyMap<string, string> {
  const sending = [...before, ...from, ...last].filter(({ place }) => place !== 'record');
  const priced = sending.map(({ check, probes }) => {
    const sent = [...neededBy(probes, config)];
    return { id: check.id, sent, cost: sent.reduce((sum, each) => sum + costOf(each, config), 0) };
  });
  const dearestFirst = priced.sort((a, b) => b.cost - a.cost);
  return new Map(dearestFirst.flatMap(({ id, sent }) => sent.map(({ name }) => [name, id] as const)));
}

/** Both parts, of the only session. */
export async function* judgeInOrder(
  suites: readonly Suite[],
  session: Session,
  means: PlanOptions,
): AsyncGenerator<Judged> {
  const senderOf = senders(suites, session.config);
  const options = () => ({ senderOf, ...means.options() });
  const { inTurn, overRecord } = judging(suites, session, { ...means, options });
  yield* inTurn;
  yield* overRecord;
}

/**
 * After one wait timed out, sends the probes that wait together: those of the first check and of others of its place.
 */
async function askTogether(
  session: Session,
  [first, ...others]: readonly PlannedStep[],
  signal: AbortSignal,
): Promise<void> {
  if (!session.closeTimedOut || first === undefined || first.check.waits.length === 0) return;
  const alike = others.filter(({ kind, place }) => kind === 'judge' && place === first.place);
  const applying = [first, ...alike].filter(({ probes }) => probes.length > 0);
  const waits = new Set(applying.flatMap(({ check }) => check.waits));
  await Promise.all([...waits].map((probe) => session.ask(probe, signal)));
}

interface SessionsOptions extends JudgeOptions {
  /** Called again after the session before was closed, if the provider restarted. */
  readonly open: (recorded: AnswerRecord) => Session | Promise<Session>;
  readonly asked: () => number;
}

interface JudgedOver extends Judged {
  readonly session: Session;
}

/**
 * Judges these suites in order over one session, or over one each if each gets a fresh provider. Rules over the
 * record come last and judge the evidence of all sessions. All sessions are closed in every ending.
 */
export async function* judgeInSessions(
  suites: readonly Suite[],
  config: ServiceConfig,
  { open, asked, ...options }: SessionsOptions,
): AsyncGenerator<JudgedOver> {
  const senderOf = senders(suites, config);
  const means = { options: () => ({ senderOf, ...options }) };
  const groups = startsFresh(config) ? suites.map((suite) => [suite]) : [suites];
  let before = asked();
  const recorded = new AnswerRecord();
  const overRecord: AsyncGenerator<JudgedOver>[] = [];
  let session = await open(recorded);
  try {
    for (const group of groups) {
      if (asked() > before && group.some((suite) => asksAnything(suite, config))) {
        await session.close();
        before = asked();
        session = await open(recorded);
      }
      const parts = judging(group, session, means);
      yield* judgedOver(session, parts.inTurn);
      overRecord.push(judgedOver(session, parts.overRecord));
    }
    for (const each of overRecord) yield* each;
  } finally {
    await session.close();
  }
}

async function* judgedOver(session: Session, all: AsyncGenerator<Judged>): AsyncGenerator<JudgedOver> {
  for await (const each of all) yield { ...each, session };
}

/** Whether each suite gets a fresh provider. */
export function startsFresh({ provider }: ServiceConfig): boolean {
  return 'freshForEachSuite' in provider && provider.freshForEachSuite;
}

/** Whether any check of a suite applies to the service. */
function asksAnything({ checks }: Pick<Suite, 'checks'>, config: ServiceConfig): boolean {
  return checks.some((check) => applicabilityOf(check, config).reasonNot === null);
}
