import type { ClauseValue } from '../../base/clause.ts';
import { HarnessError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { Blocked, NotApplicable, type Outcome, type Variation, Violation } from '../../base/verdict.ts';
import type { ClauseKey, ErrorCondition } from '../../base/vocabulary.ts';
import { documentedValue, type ServiceConfig } from '../../config/service.ts';
import { type Needs, neededIn, type Probe, requireDeclared } from '../session/probe.ts';
import type { Session } from '../session/session.ts';
import { type Expect, expectIn } from './expect.ts';

/** Evidence, expectations and endings for a check. */
export interface CheckContext<U = readonly Probe<unknown>[]> {
  readonly service: ServiceConfig;
  /** The evidence of a stimulus; sent once per session and shared. */
  probe<E>(probe: Probe<E>): Promise<E>;
  /** What the evidence of these probes, or this evidence, is held to; that of all that the check `uses` if none is named. */
  readonly expect: Expect<U>;
  /** Records a JSON value under the key of the check. */
  observe(value: unknown): void;
  /** Adds a sentence to a check that conforms or observes. */
  note(remark: string): void;
  /** The value of a clause, or of the fact in the config; null if neither states it. */
  documented(key: ClauseKey): ClauseValue;
  /** The documented statuses of a condition (`errors.codes`); null if none. */
  documentedStatus(condition: ErrorCondition): readonly number[] | null;
  /** Both complete "expected …, got …". `evidence`: the decisive piece; the last one by default. */
  violated(expected: string, got: string, evidence?: string): never;
  /** A finding of another tool in its own words. */
  reported(faults: readonly string[], remark: string, evidence?: string): never;
  blocked(reason: string): never;
  notApplicable(reason: string): never;
}

export interface OpenContext extends CheckContext {
  /** Waits for all expectations, also those that the check did not await. @throws the first violation. */
  settled(): Promise<void>;
  evidence(): readonly string[];
  /** The subjects of its expectations, or else of its evidence. */
  subjects(): JudgedSubjects;
  remark(): string;
}

export type ProbeSource = Pick<Session, 'config' | 'ask' | 'observe' | 'subjectOf'>;

interface Recording {
  readonly id: string;
  readonly uses: Needs;
  readonly records: string | null;
  readonly varies?: Variation;
}

/** Number of faults of another tool that a finding lists; the exchange has all. */
const REPORTED = 5;

/** Its questions, observations and notes are kept for the judgment. */
export function openContext(
  { id: check, uses, records, varies }: Recording,
  session: ProbeSource,
  signal: AbortSignal,
): OpenContext {
  const evidence = new Set<string>();
  const remarks: string[] = [];
  const held: Promise<void>[] = [];
  const { config } = session;
  const subjects = new JudgedSubjects(session.subjectOf);
  const used = neededIn(uses, config);
  const context: CheckContext = {
    service: config,
    async probe(probe) {
      requireDeclared(check, used, probe);
      const answer = await session.ask(probe, signal);
      for (const id of answer.evidence) evidence.add(id);
      if ('failed' in answer) throw answer.failed;
      return answer.value;
    },
    expect: expectIn(
      (probe) => context.probe(probe),
      {
        note: (remark) => context.note(remark),
        held: (expectation) => held.push(expectation),
        judged: (id, got, isUnread) => subjects.add(id, got, isUnread),
      },
      used,
    ),
    observe(value) {
      if (records === null) throw new HarnessError(`${check} declares no key to record under (records)`);
      session.observe({ key: records, value, check, ...(varies && { varies }) });
    },
    note(remark) {
      if (remark !== '') remarks.push(remark);
    },
    documented: (key) => documentedValue(config, key),
    documentedStatus(condition) {
      const codes = context.documented('errors.codes');
      const named = isJsonObject(codes) ? [codes[condition]].flat() : [];
      const statuses = named.filter((status) => typeof status === 'number');
      return statuses.length > 0 ? statuses : null;
    },
    violated(expected, got, id) {
      throw Violation.of({ expected, got }, id);
    },
    reported(faults, remark, id) {
      const more = faults.length - REPORTED;
      const deviation = {
        expected: null,
        got: faults.slice(0, REPORTED).map((text) => ({ text, stimuli: [] })),
        ...(more > 0 && { more }),
        ...(remark !== '' && { remark }),
      };
      throw new Violation(deviation, id);
    },
    blocked(reason) {
      throw new Blocked(reason);
    },
    notApplicable(reason) {
      throw new NotApplicable(reason);
    },
  };
  return {
    ...context,
    async settled() {
      for (const expectation of held) await expectation;
    },
    evidence: () => [...evidence],
    subjects() {
      if (subjects.isEmpty) for (const id of evidence) subjects.add(id, null);
      return subjects;
    },
    remark: () => remarks.join(' '),
  };
}

export interface SubjectOutcome {
  /** An operation (`GET /v1/orders`), an endpoint (`WebSocket /ws`), else the service. */
  readonly subject: string;
  readonly outcome: Outcome;
  /** The first result that deviates; absent for none. */
  readonly got?: string;
  readonly evidence: readonly string[];
}

interface JudgedSubject {
  got: string | null;
  isUnread: boolean;
  readonly evidence: Set<string>;
}

/** The subjects judged so far, with their results. */
export class JudgedSubjects {
  readonly #subjects = new Map<string, JudgedSubject>();
  readonly #nameOf: (evidence: string) => string;

  constructor(nameOf: (evidence: string) => string) {
    this.#nameOf = nameOf;
  }

  get isEmpty(): boolean {
    return this.#subjects.size === 0;
  }

  /** `got`: the result that deviates; null if it conforms or was unread. */
  add(evidence: string, got: string | null, isUnread = false): void {
    const name = this.#nameOf(evidence);
    const known = this.#subjects.get(name) ?? { got: null, isUnread: false, evidence: new Set() };
    known.got ??= got;
    known.isUnread ||= isUnread;
    known.evidence.add(evidence);
    this.#subjects.set(name, known);
  }

  /** `violated`: the outcome of a subject with a deviation. */
  outcomes(violated: Outcome, conforming: Outcome): readonly SubjectOutcome[] {
    return [...this.#subjects].map(([subject, { got, isUnread, evidence }]) => {
      const outcome = got !== null ? violated : isUnread ? 'blocked' : conforming;
      return { subject, outcome, ...(got !== null && { got }), evidence: [...evidence] };
    });
  }
}
