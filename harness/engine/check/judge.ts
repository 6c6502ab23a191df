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
  type Finding,
  findingText,
  firstGot,
  headlineOf,
  redactedFinding,
} from '../../base/finding.ts';
import { traceOf } from '../../base/thrown.ts';
import { Blocked, NotApplicable, type Outcome, unlessUnjudged, Violation } from '../../base/verdict.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { Session } from '../session/session.ts';
import type { CheckDefinition } from './check.ts';
import { type Asked, type OpenContext, openContext, type SubjectOutcome } from './context.ts';

/** What became of one check for one service. */
export interface Judgment {
  readonly outcome: Outcome;
  readonly message: string;
  /** What is wrong, in a sentence, where it was violated. */
  readonly headline?: string;
  /** The violation as data; `message` is rendered from it. Absent if there is none. */
  readonly finding?: Finding;
  /** The outcome for each subject that was judged; absent if the check was not judged. */
  readonly subjects?: readonly SubjectOutcome[];
  /** Id of the check whose violation explains this one, which is blocked for it. */
  readonly explainedBy?: string;
  readonly durationMs: number;
  /** So much of it were waits on purpose. */
  readonly waitedMs: number;
  /** Ids of the evidence the check asked for, in the order asked. */
  readonly evidence: readonly string[];
  /** Which of it shows the violation; null when there is none. */
  readonly decisive: string | null;
  readonly reproduce: string | null;
}

/** How a check applies to one service, before anything is sent. */
export interface Applicability {
  readonly level: Level;
  readonly grounds: readonly ResolvedGround[];
  /** Why it does not apply; null when it does. */
  readonly reasonNot: string | null;
  /** What is missing to exercise it; null when nothing is. */
  readonly missing: string | null;
}

/** What a check weighs for this service and why it cannot be judged there, found out before anything is sent. */
export function applicabilityOf(check: CheckDefinition, config: ServiceConfig): Applicability {
  const { level, grounds } = resolveAuthority(groundsOf(check, config), config.contract, config.facts);
  return {
    level: check.observes ? 'NONE' : level,
    grounds,
    reasonNot: firstReason(check.applies.map((reasonAgainst) => reasonAgainst(config))),
    missing: firstReason(check.needs.map((missing) => missing(config))),
  };
}

function groundsOf({ grounds, groundsIn }: CheckDefinition, config: ServiceConfig): readonly Ground[] {
  return groundsIn?.(config) ?? grounds;
}

export interface JudgeOptions {
  /** A violated SHOULD fails instead of warning. */
  readonly strict: boolean;
  readonly signal: AbortSignal;
  /** Ids of the checks of this run: no other can explain a violation. All when left out. */
  readonly selected?: ReadonlySet<string>;
  /**
   * How long nothing may be sent and nothing recorded while a check is judged, in ms, announced waits not counted: only
   * a backstop behind the transports' own bounds. What a slow service takes is never held against a check.
   */
  readonly limitMs?: number;
}

const DEFAULT_LIMIT_MS = 60_000;

/**
 * Judges one check over a session. Never throws for what the provider does; what the harness itself gets wrong
 * becomes the outcome `error`. Rejects only with the signal's reason, when the run is cancelled.
 */
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
    const last = context.evidence().at(-1) ?? null;
    return {
      outcome,
      // What is named in it may come from the config, and hold what a reference stands for.
      message: session.redact(message),
      durationMs: session.clock.now() - startedMs,
      waitedMs: session.waitedMs - waitedBeforeMs,
      evidence: context.evidence(),
      decisive: violating === undefined ? null : (violating ?? last),
      reproduce: session.reproduce(check.id, violating ?? last, context.evidence()),
    };
  };

  if (applied.reasonNot !== null) return end('skipped', applied.reasonNot);
  // Of a service that fell silent there is evidence from before; of one that was never there, or shut us out, there is none.
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
      if (violation === null) return;
      convict(session, check);
      throw (await blockedByRoot(check, violation, session, options)) ?? violation;
    });
    const subjects = subjectsOf(context, session, { violated: conforming, conforming });
    if (conforming === 'pass' && subjects.length === 0) {
      throw new HarnessError(`${check.id} passes, but has judged nothing`);
    }
    return { ...end(conforming, context.remark()), subjects };
  } catch (thrown) {
    options.signal.throwIfAborted();
    if (thrown instanceof Violation) {
      const evidence = thrown.evidence ?? context.evidence().at(-1) ?? null;
      const isLast = thrown.evidence !== null && thrown.evidence === session.silentSince;
      const ground = decisiveGround(check, applied, session.config, thrown.places);
      const outcome = check.known === undefined ? violated(applied.level, options.strict) : 'known';
      // The texts are those of the service and of the config: any may hold a secret.
      const finding = redactedFinding(
        {
          ...thrown.deviation,
          subject: evidence === null ? session.config.service : session.subjectOf(evidence),
          evidence,
          ...(ground !== null && { ground }),
          ...(isLast && { silentSince: true }),
        },
        session.redact,
      );
      const known = check.known === undefined ? '' : `${check.known}; `;
      const judgment = end(outcome, `${known}${findingText(finding)}`, thrown.evidence);
      if (evidence !== null) context.subjects().add(evidence, firstGot(finding));
      const subjects = subjectsOf(context, session, { violated: outcome, conforming });
      return { ...judgment, finding, subjects, ...headlined(check, finding) };
    }
    if (thrown instanceof Explained) {
      const subjects = subjectsOf(context, session, { violated: 'blocked', conforming });
      return { ...end('blocked', thrown.message), subjects, explainedBy: thrown.by };
    }
    if (thrown instanceof Blocked) return end('blocked', thrown.message);
    if (thrown instanceof NotApplicable) return end('skipped', thrown.message);
    return end('error', traceOf(thrown));
  }
}

/** With their texts redacted; an operation of the config may hold a secret. */
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

/** The violation of another check explains this one. */
class Explained extends Blocked {
  readonly by: string;

  constructor(by: string) {
    super(`${by} fails, which explains this: nothing more can be said`);
    this.by = by;
  }
}

/** How the evidence violates a check; null when it conforms. @throws whatever else ends the judging. */
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
    // What only warns, or is only observed, does not stand for a failure.
    const isStrong = STRENGTH[applied.level] >= STRENGTH[level];
    return applied.reasonNot === null && applied.missing === null && isStrong;
  });
}

/** A fault is told once, where it is: what takes something for granted that is not so cannot know more. */
async function blockedByRoot(
  check: CheckDefinition,
  violation: Violation,
  session: Session,
  options: JudgeOptions,
): Promise<Blocked | null> {
  const { config } = session;
  const { signal, selected } = options;
  // It records what it observes when it is judged itself.
  const silent: Asked = { config, ask: session.ask, subjectOf: session.subjectOf, observe: () => undefined };
  for (const root of rootsOf(check, config, selected)) {
    const context = openContext(root, silent, signal);
    const known = await violationIn(root, context).catch(unlessUnjudged);
    if (known === null) continue;
    const isSame = violation.got.length > 0 && violation.got.every((got) => known.got.includes(got));
    if (!isSame && !check.restsOn.includes(root)) continue;
    convict(session, root);
    return new Explained(root.id);
  }
  return null;
}

/** Ids of the checks whose violation was seen, by session: it is told, though nobody answers any more. */
const convicted = new WeakMap<Session, Set<string>>();

function convict(session: Session, { id }: CheckDefinition): void {
  const known = convicted.get(session) ?? new Set();
  convicted.set(session, known.add(id));
}

function isConvicted(session: Session, { id }: CheckDefinition): boolean {
  return convicted.get(session)?.has(id) ?? false;
}

/** DESIGN §1: the authority of the grounds sets the strength of a violation. */
function violated(level: Level, strict: boolean): Outcome {
  if (level === 'NONE') return 'observed';
  return level === 'MUST' || strict ? 'fail' : 'warning';
}

/**
 * What the violation is held against: the first ground that binds as strongly as the check does; null for none.
 * `places`: where the config settles it for these pieces of evidence.
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
    const isSettled = standing === 'config' && places.length > 0;
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
