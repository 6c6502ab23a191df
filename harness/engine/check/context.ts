import type { ClauseValue } from '../../base/clause.ts';
import { HarnessError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { Blocked, NotApplicable, type Outcome, type Variation, Violation } from '../../base/verdict.ts';
import type { ClauseKey, ErrorCondition } from '../../base/vocabulary.ts';
import { documentedValue, type ServiceConfig } from '../../config/service.ts';
import { type Needs, neededIn, type Probe, requireDeclared } from '../session/probe.ts';
import type { Session } from '../session/session.ts';
import { type Expect, expectIn } from './expect.ts';

/** What a check works with: evidence, expectations, and words for how it ends. */
export interface CheckContext<U = readonly Probe<unknown>[]> {
  readonly service: ServiceConfig;
  /** The evidence that a stimulus yields; sent once per session, shared by every check that asks. */
  probe<E>(probe: Probe<E>): Promise<E>;
  /** What the evidence of these probes, or this evidence, is held to; that of all that the check `uses` if none is named. */
  readonly expect: Expect<U>;
  /** Records what was seen under the key of the check: a JSON value. */
  observe(value: unknown): void;
  /** Adds a sentence to a check that conforms or observes. */
  note(remark: string): void;
  /** The value of a clause, or of the fact that the config fills in; null when neither shows it. */
  documented(key: ClauseKey): ClauseValue;
  /** The statuses that `errors.codes` documents for a condition; null where it shows none. */
  documentedStatus(condition: ErrorCondition): readonly number[] | null;
  /** Both complete "expected …, got …". `evidence`: the piece that decides; the last one asked for if left out. */
  violated(expected: string, got: string, evidence?: string): never;
  /** Another tool found this, and says it in its own words. */
  reported(faults: readonly string[], remark: string, evidence?: string): never;
  blocked(reason: string): never;
  notApplicable(reason: string): never;
}

export interface OpenContext extends CheckContext {
  /** Until the expectations are met, also those that the check has not waited for. @throws what the first one says. */
  settled(): Promise<void>;
  /** Ids of the evidence asked for so far. */
  evidence(): readonly string[];
  /** The subjects of its expectations; of a check without any those of the evidence asked for. */
  subjects(): JudgedSubjects;
  remark(): string;
}

/** What a session is to a check. */
export type Asked = Pick<Session, 'config' | 'ask' | 'observe' | 'subjectOf'>;

/** What is known of a check that may record what it sees. */
interface Recording {
  readonly id: string;
  readonly uses: Needs;
  readonly records: string | null;
  readonly varies?: Variation;
}

/** Number of faults of another tool that a finding names; the exchange shows the others. */
const REPORTED = 5;

/** What a check's function is given; what it asks, observes and notes is kept for the judgment. */
export function openContext(
  { id: check, uses, records, varies }: Recording,
  session: Asked,
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

/** The outcome of a check for one subject. */
export interface SubjectOutcome {
  /** An operation (`GET /v1/orders`), an endpoint (`WebSocket /ws`), else the service. */
  readonly subject: string;
  readonly outcome: Outcome;
  /** The first result that deviates; absent for none. */
  readonly got?: string;
  /** Ids of the evidence that was judged. */
  readonly evidence: readonly string[];
}

interface JudgedSubject {
  got: string | null;
  isUnread: boolean;
  readonly evidence: Set<string>;
}

/** The subjects that a check has judged so far, with the results of its expectations. */
export class JudgedSubjects {
  readonly #subjects = new Map<string, JudgedSubject>();
  readonly #nameOf: (evidence: string) => string;

  constructor(nameOf: (evidence: string) => string) {
    this.#nameOf = nameOf;
  }

  get isEmpty(): boolean {
    return this.#subjects.size === 0;
  }

  /** `got`: the result that deviates; null if it conforms, or could not be read. */
  add(evidence: string, got: string | null, isUnread = false): void {
    const name = this.#nameOf(evidence);
    const known = this.#subjects.get(name) ?? { got: null, isUnread: false, evidence: new Set() };
    known.got ??= got;
    known.isUnread ||= isUnread;
    known.evidence.add(evidence);
    this.#subjects.set(name, known);
  }

  /** `violated`: the outcome of a subject with a deviation. `conforming`: that of any other. */
  outcomes(violated: Outcome, conforming: Outcome): readonly SubjectOutcome[] {
    return [...this.#subjects].map(([subject, { got, isUnread, evidence }]) => {
      const outcome = got !== null ? violated : isUnread ? 'blocked' : conforming;
      return { subject, outcome, ...(got !== null && { got }), evidence: [...evidence] };
    });
  }
}
