import { quotaPort } from './http/burst.ts';
import type { ServiceHttp } from './http/service-http.ts';
import type { PactJudge } from './pact/verification.ts';
import type { Port } from './probe.ts';
import type { RemainsPort } from './remains.ts';
import type { SessionMeans } from './turn/means.ts';
import type { Turn } from './turn/turn.ts';
import { webhookPort } from './webhooks.ts';
import { webSocketPort } from './websocket/conversation.ts';

/** What the ports of a session have in common beside its means. */
interface PortParts {
  readonly http: ServiceHttp;
  readonly pacts: PactJudge;
  readonly remains: RemainsPort;
}

/** The service as a probe reaches it in its turn. */
export function openPort(
  means: SessionMeans,
  { http, pacts, remains }: PortParts,
  turn: Turn,
  asking: Pick<Port, 'ask' | 'borrow'>,
): Port {
  const { config, documented, pauses, record, transport } = means;
  const { signal } = turn;
  return {
    ...asking,
    config,
    documented,
    clock: transport.clock,
    signal,
    pause: pauses.portFor(signal),
    http: http.portFor(turn),
    websocket: webSocketPort(means, turn),
    quota: quotaPort(means, http, turn),
    webhooks: webhookPort(means, turn),
    pact: pacts.portFor(means, http, turn),
    remains,
    cover: (coverage) => {
      if (coverage.capped > 0) record({ type: 'coverage', service: config.service, ...coverage });
    },
  };
}
