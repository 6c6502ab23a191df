import type {
  MessageEndpoint,
  MessageOperation,
  MessageText,
} from '../../../harness/config/asyncapi/documented-messages.ts';
import type { MessagePlan } from '../../../harness/config/blocks/websocket.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';

/** Addresses of a document at which a run opens a WebSocket, and messages that it sends to one. */
const MOST_ENDPOINTS = 20;
const MOST_TEXTS = 50;

export interface PlannedText extends MessageText {
  readonly operation: MessageOperation;
}

/** What is sent to an endpoint, and why the rest is not. */
export interface EndpointPlan {
  readonly endpoint: MessageEndpoint;
  readonly texts: readonly PlannedText[];
  /** Reasons by the ids of operations of which nothing is sent. */
  readonly kept: ReadonlyMap<string, NotSent>;
  /** Messages come that answer nothing. */
  readonly listens: boolean;
}

interface NotSent {
  readonly reason: string;
  readonly why: 'unfit' | 'unsafe' | 'capped';
}

export function planOf(config: ServiceConfig): readonly EndpointPlan[] {
  const plan = config.websocket?.documented;
  return (
    plan?.endpoints.slice(0, MOST_ENDPOINTS).map((endpoint) => endpointPlan(endpoint, plan, config)) ?? []
  );
}

function endpointPlan(endpoint: MessageEndpoint, plan: MessagePlan, config: ServiceConfig): EndpointPlan {
  const kept = new Map<string, NotSent>();
  const texts: PlannedText[] = [];
  for (const operation of endpoint.operations) {
    if (operation.unfit !== null) {
      kept.set(operation.id, { reason: operation.unfit, why: 'unfit' });
      continue;
    }
    if (operation.action === 'receive') continue;
    const allowed = operation.texts.filter(({ risk }) => mayBeSent(risk, operation.id, plan, config));
    if (allowed.length === 0) kept.set(operation.id, { reason: whyUnsafe(operation), why: 'unsafe' });
    else if (texts.length >= MOST_TEXTS)
      kept.set(operation.id, { reason: 'too many messages', why: 'capped' });
    else texts.push(...allowed.map((each) => ({ ...each, operation })));
  }
  const listens = endpoint.operations.some(({ action, unfit }) => action === 'receive' && unfit === null);
  return { endpoint, texts, kept, listens };
}

/** What only adds is sent where requests may be sent that leave something. */
function mayBeSent(
  risk: MessageText['risk'],
  id: string,
  { safe }: MessagePlan,
  { safety }: ServiceConfig,
): boolean {
  if (risk === null || safe.includes(id)) return true;
  return risk === 'changes' && safety.unsafeMethods && safety.leaveItems;
}

function whyUnsafe({ texts }: MessageOperation): string {
  const allowing = 'name it in websocket.safe if it changes nothing';
  return texts.some(({ risk }) => risk === 'changes')
    ? `its message may change data: ${allowing}, or allow safety.unsafeMethods and safety.leaveItems`
    : `its message may change or remove data that the run did not create: ${allowing}`;
}
