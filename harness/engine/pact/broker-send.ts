import type { Safety, ServiceConfig } from '../../config/service.ts';
import type { SendToBroker } from '../../providers/pact/broker-client.ts';
import type { EvidenceId } from '../../wire/exchange.ts';
import { openHttp } from '../../wire/http/http-client.ts';
import { systemClock } from '../../wire/pace/clock.ts';
import type { Redaction } from '../../wire/redaction/redaction.ts';
import { networkOf } from '../../wire/socket/options.ts';

interface SendOptions {
  /** Has every secret that may be sent, so that responses contain none. */
  readonly redaction: Redaction;
  readonly userAgent: string;
  readonly runId: string;
  /** Of the service: whether a credential may travel over plain http, and how sockets are opened. */
  readonly config: Pick<ServiceConfig, 'tls' | 'proxies'> & { readonly safety: Pick<Safety, 'plainHttp'> };
  readonly signal?: AbortSignal;
}

/** Milliseconds for one response of a broker. */
const TIMEOUTS = { connectMs: 5_000, responseMs: 5_000, exchangeMs: 10_000 };
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Sends with the harness's own client: every wait is bounded, and no redirect carries a token elsewhere. */
export function brokerSender({ redaction, userAgent, runId, config, signal }: SendOptions): SendToBroker {
  return async ({ method, url, fields, body }) => {
    const { origin, pathname, search } = new URL(url);
    const http = openHttp({
      baseUrl: origin,
      timeouts: TIMEOUTS,
      limits: { bodyBytes: MAX_ANSWER_BYTES },
      redaction,
      clock: systemClock,
      userAgent,
      runId,
      plainHttp: config.safety.plainHttp,
      ...networkOf(config),
    });
    const authorized = fields.some(([name]) => name === 'Authorization');
    try {
      const { response, failure } = await http.send(
        { method, target: `${pathname}${search}`, fields, body: body === null ? null : Buffer.from(body) },
        {
          id: 'broker' as EvidenceId,
          purpose: 'to ask a broker',
          credential: authorized ? 'right' : 'none',
          ...(signal ? { signal } : {}),
        },
      );
      if (failure !== null || response === null) return { failure: failure?.message ?? 'no response' };
      return { status: response.status, text: Buffer.from(response.body.bytes).toString('utf8') };
    } finally {
      await http.close();
    }
  };
}
