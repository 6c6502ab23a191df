import type { ServiceConfig } from '../config/service.ts';
import { type ClauseValue, findClause } from '../contract/clause.ts';
import type { Probe, Session } from '../session.ts';
import { Blocked, NotApplicable, Violation } from '../verdict.ts';
import { type Expect, expect } from './expect.ts';
import { type ExpectConversation, expectConversation } from './expect-conversation.ts';

/** What a check works with: evidence, expectations, and words for how it ends. */
export interface CheckContext {
  readonly service: ServiceConfig;
  /** The evidence that a stimulus yields; sent once per session, shared by every check that asks. */
  probe<E>(probe: Probe<E>): Promise<E>;
  readonly expect: Expect;
  readonly expectConversation: ExpectConversation;
  /** Records what was seen under a stable key. */
  observe(key: string, value: unknown): void;
  /** Adds a sentence to a check that conforms or observes. */
  note(remark: string): void;
  /** The value of a clause, or of the fact that the config fills in; null when neither shows it. */
  valueOf(key: string): ClauseValue;
  violated(message: string, evidence?: string): never;
  blocked(reason: string): never;
  notApplicable(reason: string): never;
}

interface OpenContext extends CheckContext {
  /** Ids of the evidence asked for so far. */
  evidence(): readonly string[];
  remark(): string;
}

/** What a check's function is given; what it asks, observes and notes is kept for the judgment. */
export function openContext(checkId: string, session: Session, signal: AbortSignal): OpenContext {
  const evidence = new Set<string>();
  const remarks: string[] = [];
  const { config } = session;
  return {
    service: config,
    async probe(probe) {
      const answer = await session.ask(probe, signal);
      for (const id of answer.evidence) evidence.add(id);
      if ('failed' in answer) throw answer.failed;
      return answer.value;
    },
    expect,
    expectConversation,
    observe(key, value) {
      session.observe({ key, value, check: checkId });
    },
    note(remark) {
      remarks.push(remark);
    },
    valueOf(key) {
      return config.facts[key]?.value ?? findClause(config.contract, key)?.value ?? null;
    },
    violated(message, id) {
      throw new Violation(message, id ?? null);
    },
    blocked(reason) {
      throw new Blocked(reason);
    },
    notApplicable(reason) {
      throw new NotApplicable(reason);
    },
    evidence: () => [...evidence],
    remark: () => remarks.join(' '),
  };
}
