import {
  type Ground,
  type Level,
  type ResolvedGround,
  resolveAuthority,
  STRENGTH,
} from '../../base/authority.ts';
import { HarnessError } from '../../base/exit.ts';
import {
  type DecisiveGround,
  type FaultSide,
  type Finding,
  findingText,
  firstGot,
  headlineOf,
  redactedFinding,
} from '../../base/finding.ts';
import { traceOf } from '../../base/thrown.ts';
import { Blocked, NotApplicable, type Outcome, unlessUnjudged, Violation } from '../../base/verdict.ts';
import { ruleSet } from '../../config/blocks/rules.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { closureOf, neededIn } from '../session/probe.ts';
import type { Session } from '../session/session.ts';
import type { CheckDefinition } from './check.ts';
import { type OpenContext, openContext, type ProbeSource, type SubjectOutcome } from './context.ts';

/** The result of one check for one service. */
export interface Judgment {
  readonly outcome: Outcome;
  readonly message: string;
  /** The fault in a sentence, for a violation. */
  readonly headline?: string;
  /** What to change, about this violation; absent where the check says it. */
  readonly change?: string;
  /** The violation as data; `message` is rendered from it. */
  readonly finding?: Finding;
  /** The outcome of each judged subject. */
  readonly subjects?: readonly SubjectOutcome[];
  /** Id of the check whose violation explains and blocks this one. */
  readonly explainedBy?: string;
  readonly durationMs: number;
  /** Milliseconds of deliberate waits within it. */
  readonly waitedMs: number;
  /** Ids, in the order of asking. */
  readonly evidence: readonly string[];
  /** Id of the evidence of the violation; null for none. */
  readonly decisive: string | null;
  readonly reproduce: string | null;
}

/** How a check applies to one service, before anything is sent. */
export interface Applicability {
  readonly level: Level;
  readonly grounds: readonly ResolvedGround[];
  /** null if it applies. */
  readonly reasonNot: string | null;
  /** Reason that it cannot be exercised; null if it can. */
  readonly missing: string | null;
}

export function applicabilityOf(check: CheckDefinition, config: ServiceConfig): Applicability {
  const { level, grounds } = resolveAuthority(groundsOf(check, config), config.contract, config.facts);
  return {
    level: check.observes ? 'NONE' : level === 'MUST' && onlyWarns(check, config) ? 'SHOULD' : level,
    grounds,
    reasonNot: firstReason(check.applies.map((reasonAgainst) => reasonAgainst(config))),
    missing: firstReason(check.needs.map((missing) => missing(config))),
  };
}

/** The rule set has it that it warns, whatever its grounds say. */
function onlyWarns({ id, partOf = id }: CheckDefinition, { rules }: ServiceConfig): boolean {
  return ruleSet(rules).warns(partOf);
}

function groundsOf({ grounds, groundsIn }: CheckDefinition, config: ServiceConfig): readonly Ground[] {
  return groundsIn?.(config) ?? grounds;
}

export interface JudgeOptions {
  /** A violated SHOULD fails. */
  readonly strict: boolean;
  readonly signal: AbortSignal;
  /** Ids of the checks that may explain a violation. Default: all. */
  readonly selected?: ReadonlySet<string>;
  /** Id of a check that sends this probe, which another one found something in; null for none. */
  readonly senderOf?: (probe: string) => string | null;
  /**
   * Milliseconds without any request or evidence, except deliberate waits, after which a check is stuck: a backstop,
   * never held against a slow service.
   */
  readonly limitMs?: number;
}

const DEFAULT_LIMIT_MS = 60_000;

/** Judges one check. Faults of the harness become the outcome `error`. Rejects only with the reason of the signal. */
export async function judge(
  check: CheckDefinition,
  session: Session,
  options: JudgeOptions,
): Promise<Judgment> {
  const startedMs = session.clock.now();
  const waitedBeforeMs = session.waitedMs;
  const applied = applicabilityOf(check, session.config);
  const context = openContext(check, session, options.signal);
  const end = (outcome: Outcome, message: string, violating?: string | null): Judgment => {
    const shown = violating ?? context.evidence().at(-1) ?? null;
    return {
      outcome,
      // Names from the config may contain a secret.
      message: session.redact(message),
      durationMs: session.clock.now() - startedMs,
      waitedMs: session.waitedMs - waitedBeforeMs,
      evidence: context.evidence(),
      decisive: violating === undefined ? null : shown,
      // Only who tells it needs it, and it takes as long as some judgments.
      get reproduce() {
        return session.reproduce(repeated(shown), shown, context.evidence());
      },
    };
  };

  /** The check alone, unless it saw what another one had sent. */
  const repeated = (decisive: string | null): readonly string[] => {
    const probe = decisive === null ? null : session.probeOf(decisive);
    const isOwn = (name: string) =>
      [...closureOf(neededIn(check.uses, session.config), session.config)].some((each) => each.name === name);
    const sender = probe === null || isOwn(probe) ? null : (options.senderOf?.(probe) ?? null);
    return sender === null ? [check.id] : [check.id, sender];
  };

  if (applied.reasonNot !== null) return end('skipped', applied.reasonNot);
  // Only a service that fell silent left evidence from before.
  if (session.outage !== null && session.silentSince === null && !isConvicted(session, check))
    return end('blocked', session.outage);
  if (applied.missing !== null) return end('blocked', applied.missing);

  const conforming = applied.level === 'NONE' ? 'observed' : 'pass';
  try {
    const { connectMs, responseMs } = session.config.timeouts;
    const limitMs =
      options.limitMs ?? Math.max(check.limitMs ?? DEFAULT_LIMIT_MS, 2 * (connectMs + responseMs));
    await unlessStuck(session, { ...options, limitMs }, async () => {
      const violation = await violationIn(check, context);
      if (violation === null) {
        const unread = session.unreadMessage(context.evidence());
        if (unread !== null) throw new Blocked(unread);
        return;
      }
      convict(session, check);
      throw (await blockedByRoot(check, violation, session, options)) ?? violation;
    });
    const subjects = subjectsOf(context, session, { violated: conforming, conforming });
    if (conforming === 'pass' && subjects.length === 0) {
      throw new HarnessError(`${check.id} passes, but has judged nothing`);
    }
    return Object.assign(end(conforming, context.remark()), { subjects });
  } catch (thrown) {
    options.signal.throwIfAborted();
    if (thrown instanceof Violation) {
      const evidence = thrown.evidence ?? context.evidence().at(-1) ?? null;
      const isLast = thrown.evidence !== null && thrown.evidence === session.silentSince;
      const ground = decisiveGround(check, applied, session.config, thrown.places);
      const strict = options.strict && !onlyWarns(check, session.config);
      const outcome = check.known === undefined ? violated(applied.level, strict, thrown.fault) : 'known';
      // Texts of the service and the config may contain a secret.
      const finding = redactedFinding(
        {
          ...thrown.deviation,
          subject: evidence === null ? session.config.service : session.subjectOf(evidence),
          evidence,
          ...(ground !== null && { ground }),
          ...(isLast && { silentSince: true }),
          fault: thrown.fault,
        },
        session.redact,
      );
      const known = check.known === undefined ? '' : `${check.known}; `;
      const judgment = end(outcome, `${known}${findingText(finding)}`, thrown.evidence);
      if (evidence !== null) context.subjects().add(evidence, firstGot(finding));
      const subjects = subjectsOf(context, session, { violated: outcome, conforming });
      const change = thrown.change === null ? {} : { change: session.redact(thrown.change) };
      return Object.assign(judgment, { finding, subjects, ...headlined(check, finding), ...change });
    }
    if (thrown instanceof Explained) {
      const subjects = subjectsOf(context, session, { violated: 'blocked', conforming });
      return Object.assign(end('blocked', thrown.message), { subjects, explainedBy: thrown.by });
    }
    if (thrown instanceof Blocked) return end('blocked', thrown.message);
    if (thrown instanceof NotApplicable) {
      const unread = session.unreadMessage(context.evidence());
      return unread === null ? end('skipped', thrown.message) : end('blocked', unread);
    }
    return end('error', traceOf(thrown));
  }
}

/** With redacted texts: an operation of the config may contain a secret. */
function subjectsOf(
  context: OpenContext,
  { redact }: Session,
  { violated, conforming }: Readonly<Record<'violated' | 'conforming', Outcome>>,
): readonly SubjectOutcome[] {
  return context
    .subjects()
    .outcomes(violated, conforming)
    .map(({ subject, got, ...each }) => ({
      subject: redact(subject),
      ...(got !== undefined && { got: redact(got) }),
      ...each,
    }));
}

function headlined({ headline }: CheckDefinition, finding: Finding): Pick<Judgment, 'headline'> {
  return headline === undefined ? {} : { headline: headlineOf(headline, finding) };
}

class Explained extends Blocked {
  readonly by: string;

  constructor(by: string) {
    super(`${by} fails, which explains this: nothing more can be said`);
    this.by = by;
  }
}

/** null if the evidence conforms. @throws any other ending. */
async function violationIn(check: CheckDefinition, context: OpenContext): Promise<Violation | null> {
  try {
    await check.judge(context);
    await context.settled();
    return null;
  } catch (thrown) {
    if (thrown instanceof Violation) return thrown;
    throw thrown;
  }
}

/** The checks of the run that may explain a violation of this one. */
export function rootsOf(
  check: CheckDefinition,
  config: ServiceConfig,
  selected: ReadonlySet<string> | undefined,
): readonly CheckDefinition[] {
  const { level } = applicabilityOf(check, config);
  if (level === 'NONE') return [];
  return [...check.restsOn, ...check.repeats].filter((root) => {
    if (selected?.has(root.id) === false) return false;
    const applied = applicabilityOf(root, config);
    // A warning or an observation explains no failure.
    const isStrong = STRENGTH[applied.level] >= STRENGTH[level];
    return applied.reasonNot === null && applied.missing === null && isStrong;
  });
}

/** One fault is one finding: a check whose precondition is violated decides nothing. */
async function blockedByRoot(
  check: CheckDefinition,
  violation: Violation,
  session: Session,
  options: JudgeOptions,
): Promise<Blocked | null> {
  const { config } = session;
  const { signal, selected } = options;
  // A root records its observations when it is judged itself.
  const silent: ProbeSource = {
    config,
    ask: session.ask,
    subjectOf: session.subjectOf,
    observe: () => undefined,
  };
  for (const root of rootsOf(check, config, selected)) {
    const context = openContext(root, silent, signal);
    const known = await violationIn(root, context).catch(unlessUnjudged);
    if (known === null) continue;
    // It only warns there.
    if (known.fault === 'document' && violation.fault !== 'document' && !options.strict) continue;
    const isSame = violation.got.length > 0 && violation.got.every((got) => known.got.includes(got));
    if (!isSame && !check.restsOn.includes(root)) continue;
    convict(session, root);
    return new Explained(root.id);
  }
  return null;
}

/** Ids of the checks whose violation was seen, by session: reported even in an outage. */
const convicted = new WeakMap<Session, Set<string>>();

function convict(session: Session, { id }: CheckDefinition): void {
  const known = convicted.get(session) ?? new Set();
  convicted.set(session, known.add(id));
}

function isConvicted(session: Session, { id }: CheckDefinition): boolean {
  return convicted.get(session)?.has(id) ?? false;
}

/** The authority of the grounds sets the strength; what the document gets wrong by itself is no failure of the service. */
function violated(level: Level, strict: boolean, fault: FaultSide): Outcome {
  if (level === 'NONE') return 'observed';
  return (level === 'MUST' && fault !== 'document') || strict ? 'fail' : 'warning';
}

/** The clause that each documented operation settles at its own place. */
const OF_OPERATIONS = 'endpoint.other-operations';

/**
 * The first ground that binds as strongly as the check; null for none. `places` replace its place if the config
 * settles it for this evidence.
 */
function decisiveGround(
  check: CheckDefinition,
  { level }: Applicability,
  config: ServiceConfig,
  places: readonly string[],
): DecisiveGround | null {
  if (level === 'NONE') return null;
  for (const ground of groundsOf(check, config)) {
    const alone = resolveAuthority([ground], config.contract, config.facts);
    const [resolved] = alone.grounds;
    if (alone.level !== level || resolved === undefined) continue;
    const { kind, ref, standing, place } = resolved;
    if (kind !== 'clause') return { ref };
    const isSettled = ref === OF_OPERATIONS && standing === 'config' && places.length > 0;
    return { ref, place: isSettled ? places.join(', ') : place };
  }
  return null;
}

function firstReason(reasons: readonly (string | null)[]): string | null {
  return reasons.find((reason) => reason !== null) ?? null;
}

async function unlessStuck(
  session: Session,
  { signal, limitMs }: Required<Pick<JudgeOptions, 'signal' | 'limitMs'>>,
  run: () => Promise<void>,
): Promise<void> {
  const elapsed = () => session.clock.now() - session.waitedMs;
  let seen = { progress: session.progress, atMs: elapsed() };
  const cutShort = Promise.withResolvers<never>();
  const onAbort = () => cutShort.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setInterval(() => {
    const { progress } = session;
    if (progress !== seen.progress) seen = { progress, atMs: elapsed() };
    if (elapsed() - seen.atMs > limitMs) {
      cutShort.reject(new Error(`the check was stuck for ${limitMs} ms`));
    }
  }, 250);
  try {
    signal.throwIfAborted();
    await Promise.race([run(), cutShort.promise]);
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
