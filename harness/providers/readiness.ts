import { setTimeout as pause } from 'node:timers/promises';
import { InconclusiveError } from '../base/exit.ts';
import type { EvidenceId } from '../wire/exchange.ts';
import { openHttp } from '../wire/http/http-client.ts';
import { detectHttp2 } from '../wire/http2/http2-client.ts';
import { systemClock } from '../wire/pace/clock.ts';
import { createRedaction } from '../wire/redaction/redaction.ts';
import { HttpVersions, isOfNoHttp1 } from '../wire/socket/http-versions.ts';
import type { LogCapture } from './log-capture.ts';
import type { StartOptions } from './provider.ts';

/** One look: null if ready, else the reason, such as `GET / was answered with 503`. */
export type ReadinessProbe = (signal: AbortSignal) => Promise<string | null>;

export interface Awaited {
  /** Its name in messages: `the container`. */
  readonly called: string;
  readonly probe: ReadinessProbe;
  /** Resolves with how it ended, if it ends first. */
  readonly ended: Promise<string>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const POLL_MS = 150;
/** For one look. */
const PROBE_MS = 1_000;

/** @throws InconclusiveError with the last reason, when it ends or is not ready in time. */
export async function awaitReady({ called, probe, ended, timeoutMs, signal }: Awaited): Promise<void> {
  const giveUp = new AbortController();
  const timedOut = AbortSignal.timeout(timeoutMs);
  const until = AbortSignal.any([giveUp.signal, timedOut, signal]);
  let seen = 'it could not be asked';
  const polling = async (): Promise<void> => {
    while (!until.aborted) {
      const found = await probe(AbortSignal.any([until, AbortSignal.timeout(PROBE_MS)]));
      if (found === null) return;
      if (!until.aborted) seen = found;
      await pause(POLL_MS, undefined, { signal: until }).catch(() => undefined);
    }
    if (signal.aborted) throw new InconclusiveError(`its start was given up: ${String(signal.reason)}`);
    throw new InconclusiveError(`${called} was not ready within ${timeoutMs / 1_000} s: ${seen}`);
  };
  const ending = ended.then((how) => {
    throw new InconclusiveError(`${how} before it was ready`);
  });
  try {
    await Promise.race([polling(), ending]);
  } finally {
    giveUp.abort();
  }
}

/** The run that asks, and its network. */
export type ProbeOptions = Pick<StartOptions, 'network' | 'runId'>;

/** Ready when a GET is answered at all (`any`), with a 2xx (null), or with this status. */
export function httpProbe(url: string, status: number | null | 'any', options: ProbeOptions): ReadinessProbe {
  const fits = (code: number) => {
    if (status === 'any') return true;
    return status === null ? code >= 200 && code < 300 : code === status;
  };
  const { pathname, search } = new URL(url);
  const asked = `GET ${pathname}${search}`;
  return async (signal) => {
    const answer = await statusOf(url, options, signal);
    if (typeof answer === 'string') return `${asked} ${answer}`;
    return fits(answer) ? null : `${asked} was answered with ${answer}`;
  };
}

/** Ready when enough lines of the output contain the text. */
export function logProbe(text: string, times: number, logs: LogCapture): ReadinessProbe {
  const lines = logs.watch(text);
  return async () => {
    const count = lines();
    if (count >= times) return null;
    const wanted = times === 1 ? 'no line' : `${count} of ${times} lines`;
    return `${wanted} that it wrote held ${JSON.stringify(text)}`;
  };
}

/** The status of the answer, or why there was none. The body is not read. */
async function statusOf(
  url: string,
  { network, runId }: ProbeOptions,
  signal: AbortSignal,
): Promise<number | string> {
  const { origin, pathname, search } = new URL(url);
  const versions = new HttpVersions(false);
  const options = {
    ...network,
    baseUrl: origin,
    timeouts: { connectMs: PROBE_MS, responseMs: PROBE_MS },
    limits: { bodyBytes: 0 },
    redaction: createRedaction(),
    clock: systemClock,
    userAgent: 'conform',
    runId,
    versions,
  };
  const http = openHttp(options);
  const ask = () =>
    http.send(
      { method: 'GET', target: `${pathname}${search}`, fields: [] },
      { id: 'ready' as EvidenceId, purpose: 'to see whether it is ready', credential: 'none', signal },
    );
  try {
    const first = await ask();
    const isInDoubt = first.response === null && first.failure !== null && isOfNoHttp1(first.failure);
    const isHttp2 = isInDoubt && (await detectHttp2(options, signal)) && versions.turnToHttp2();
    const { response, failure } = isHttp2 ? await ask() : first;
    if (response !== null) return response.status;
    return signal.aborted ? 'was not answered' : `was not answered: ${failure?.message ?? 'no response'}`;
  } finally {
    await http.close();
  }
}
