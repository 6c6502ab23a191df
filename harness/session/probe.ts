import type { ExpectedInteraction } from '../config/pact/interaction.ts';
import type { ServiceConfig } from '../config/service.ts';
import type { Sample } from '../contract/clause.ts';
import type { ConversationView } from '../evidence/conversation/view.ts';
import type { Evidence } from '../evidence/evidence.ts';
import type { Reply } from '../evidence/exchange/reply.ts';
import type { BudgetWait } from '../transport/pace/budget.ts';
import type { Clock } from '../transport/pace/clock.ts';
import type { WebhookReceiver } from '../transport/webhook-receiver.ts';
import type { BurstOrder, MetLimit } from './burst.ts';
import type { HandshakeStimulus, Talking } from './handshake.ts';
import type { Named } from './memory.ts';
import type { Stimulus } from './stimulus.ts';
import type { Verification } from './verification.ts';
import type { Received } from './webhooks.ts';

/** A named stimulus and what it yields. Sent once per session; every check that asks shares what came of it. */
export interface Probe<E> extends Named {
  readonly send: (stimuli: Stimuli) => Promise<E>;
}

/** `name` is unique: a session refuses a second probe that is called the same. */
export function probe<E>(name: string, send: Probe<E>['send']): Probe<E> {
  return { name, send };
}

/** What a probe may do to the service. Everything is budgeted, recorded, redacted and journaled on the way. */
export interface Stimuli {
  readonly config: ServiceConfig;
  readonly clock: Clock;
  readonly sample: Sample;
  /** The evidence of another probe. */
  ask<E>(other: Probe<E>): Promise<E>;
  /** One request. @throws Blocked when it was refused for its rate: then it shows nothing of what it was for. */
  reply(stimulus: Stimulus): Promise<Reply>;
  /** One request while the quota is spent on purpose: 429 is an answer like any other. */
  replyWhileSpent(stimulus: Stimulus): Promise<Reply>;
  /** One WebSocket connection, its handshake a request like others; `talking` has it when it is open. */
  converse(stimulus: HandshakeStimulus, talking?: Talking): Promise<ConversationView>;
  /** Has Pact hold the service against what a consumer expects. @throws Blocked when nothing could be decided. */
  verify(interaction: ExpectedInteraction): Promise<Verification>;
  /** Many equal requests, past the plan's rate. @throws NotApplicable where the config does not allow that. */
  burst(order: BurstOrder): Promise<MetLimit>;
  /** What the service sends to a receiver while `act` lasts, answered with these statuses in turn. */
  receive(
    answers: readonly number[],
    act: (receiver: WebhookReceiver, url: string) => Promise<void>,
  ): Promise<readonly Received[]>;
  /** Announces a wait on purpose to whoever watches; it is not held against the check's own time. */
  waiting(wait: BudgetWait): void;
  readonly signal: AbortSignal;
  /** Everything recorded so far, in the order of recording. */
  evidenceSoFar(): readonly Evidence[];
}
