import type { Outcome } from '../../base/verdict.ts';

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
