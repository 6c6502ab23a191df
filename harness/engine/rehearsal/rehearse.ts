import { isUrl } from '../../config/pact/pacts.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { PactVerifier } from '../../providers/pact/verifier.ts';
import { startDescribed } from '../../reference/reference.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import type { Coverage } from '../../report/results/results.ts';
import { type Evidence, evidenceFromJson } from '../../wire/evidence.ts';
import { socketAddressOf } from '../../wire/socket/address.ts';
import { type Suite, suitesFor } from '../check/check.ts';
import { openLiveSession } from '../session/live.ts';
import { judgeInSessions } from '../sessions.ts';
import { simulatedClock } from '../simulation/clock.ts';

/** What a rehearsal has sent, of which suite. */
export interface Rehearsed {
  readonly suite: string;
  /** Requests to the service that it counts as. */
  readonly requests: number;
  readonly evidence: Evidence;
}

export interface Rehearsal {
  readonly sent: readonly Rehearsed[];
  /** Of the operations, where a cap would leave some out. */
  readonly coverage: readonly Coverage[];
  /** On its own clock, in ms: what is waited for. Answers come at once. */
  readonly waitedMs: number;
  /** Of this, what is waited for until quota is there: answers that take their time make it shorter. */
  readonly pausedMs: number;
}

export interface RehearsalOptions {
  /** Aborted, the rehearsal rejects with its reason. */
  readonly signal: AbortSignal;
  /** Whether the service takes an offer to compress WebSocket messages. */
  readonly compresses?: boolean;
  /** Whether the service tells in its answers what remains of the quota. */
  readonly tellsQuota?: boolean;
}

/**
 * Judges these checks of a service that conforms to the config, on this machine and within no time, and tells what
 * that took: what a run sends follows from what the checks ask, and is written down nowhere else. Nothing is sent to
 * any address of the config.
 */
export async function rehearse(
  configured: ServiceConfig,
  suites: readonly Suite[],
  { signal, compresses = true, tellsQuota = true }: RehearsalOptions,
): Promise<Rehearsal> {
  const config = atHome(configured);
  const clock = simulatedClock();
  const provider = await startDescribed(config, { clock, compresses, tellsQuota });
  const sent: Rehearsed[] = [];
  let current = '';
  const coverage: Coverage[] = [];
  let pausedMs = 0;
  const record = (event: JournalEvent) => {
    if (event.type === 'waiting') pausedMs += event.untilMs - event.fromMs;
    if (event.type === 'coverage') coverage.push(event);
    if (event.type !== 'evidence') return;
    const requests = event.kind === 'token' && configured.credentials.isLentElsewhere ? 0 : event.requests;
    sent.push({ suite: current, requests, evidence: evidenceFromJson(event.value) });
  };
  const open = () =>
    openLiveSession({
      config,
      providerUrl: provider.url,
      runId: 'rehearsal',
      userAgent: 'conform/rehearsal',
      clock,
      record,
      verifier: UNANIMOUS,
      random: () => 0.5,
    });
  const startedMs = clock.now();
  try {
    const judged = judgeInSessions(suitesFor(suites, config), configured, {
      open,
      asked: () => sent.length,
      signal,
      strict: false,
      entering: ({ name }) => {
        current = name;
      },
    });
    for await (const _ of judged);
    const waitedMs = clock.now() - startedMs;
    return { sent, coverage, waitedMs, pausedMs: Math.min(pausedMs, waitedMs) };
  } finally {
    await provider.stop();
    clock.stop();
  }
}

/** The config without any address but its paths, and without commands of the user's. */
function atHome(config: ServiceConfig): ServiceConfig {
  const { credentials, websocket, webhooks, pacts } = config;
  const handler = pacts?.states ?? null;
  return {
    ...config,
    credentials: credentials.scheme.atHome(credentials),
    websocket: websocket && { ...websocket, url: socketAddressOf('http://localhost', websocket.url).target },
    ...(webhooks && { webhooks: { ...webhooks, listen: { address: '127.0.0.1', port: 0 }, url: null } }),
    ...(pacts && {
      pacts: {
        ...pacts,
        states: handler?.kind === 'url' && !isUrl(handler.url) ? handler : null,
        messages: pacts.messages === null || isUrl(pacts.messages) ? null : pacts.messages,
      },
    }),
  };
}

/** In place of Pact: what it would ask the service for, without its program. */
const UNANIMOUS: PactVerifier = {
  async verify({ interaction: { kind, method, states }, handlers, setsStates }) {
    for (const state of setsStates ? states : []) await handlers.state({ action: 'setup', state });
    if (kind === 'message') await handlers.message({});
    else await handlers.request({ method: method ?? 'GET', target: '/', fields: [], body: null });
    return { kind: 'verified' };
  },
  close: async () => undefined,
};
