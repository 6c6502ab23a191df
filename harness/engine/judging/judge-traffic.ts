import { NotApplicable } from '../../base/verdict.ts';
import { addressOf } from '../../config/provider/provider.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import { counted } from '../../report/results/tally.ts';
import { evidenceToJson } from '../../wire/evidence.ts';
import { Reply, unreadMessageIn } from '../../wire/exchange/reply.ts';
import type { Exchange, FieldLine, RecordedBody } from '../../wire/exchange.ts';
import { fieldValues } from '../../wire/fields/grammar/field-grammar.ts';
import { systemClock } from '../../wire/pace/clock.ts';
import { announcementOf } from '../announcement.ts';
import type { Suite } from '../check/check.ts';
import { judge } from '../check/judge.ts';
import type { Selection } from '../selection/selection.ts';
import { neededIn, type Port, type Probe, type Remembered } from '../session/probe.ts';
import type { Session } from '../session/session.ts';
import { operationOf } from '../session/turn/evidence-log.ts';
import type { RecordedService } from './recording.ts';

interface TrafficJudging {
  readonly suites: readonly Suite[];
  readonly strict: boolean;
  readonly redact: (text: string) => string;
  readonly record: (event: JournalEvent) => void;
}

/** Real milliseconds for all judging. */
const HUNG_MS = 10 * 60_000;

/** The rules that hold for each answer of an operation, whichever client brought it. */
function rulesFor(suites: readonly Suite[], config: ServiceConfig): readonly Suite[] {
  return suites
    .filter(({ name }) => name === 'operations')
    .map((suite) => ({
      ...suite,
      checks: suite.checks.filter(({ uses }) =>
        neededIn(uses, config).some(({ place }) => place === 'record'),
      ),
    }));
}

/**
 * Judges the exchanges of other clients with a service, such as a browser, by the rules for answers of its operations.
 * Other hosts and static files are left out, and undocumented operations reported.
 */
export async function judgeTraffic(
  { service, evidence }: RecordedService,
  config: ServiceConfig,
  { suites, strict, redact, record }: TrafficJudging,
): Promise<void> {
  const all = evidence.flatMap(({ evidence: each }) => (each.kind === 'exchange' ? [each] : []));
  const origin = originOf(all, config);
  const basePath = pathOf(addressOf(config.provider) ?? '');
  const own = all.filter(({ request }) => URL.parse(request.url)?.origin === origin).map(asOfClient);
  const meant = own.filter((each) => operationOf(each.request, config, basePath) !== null);
  const others = own.filter((each) => !meant.includes(each) && !isStatic(each));
  const rules = rulesFor(suites, config);
  const selection: Selection = {
    selected: () => rules,
    catalogue: () => suites.reduce((sum, { checks }) => sum + checks.length, 0),
    outside: () => 0,
  };
  const provider = { kind: config.provider.kind, url: origin ?? '' };
  record({ type: 'service-started', ...announcementOf(config, selection, redact), provider });
  for (const each of meant) {
    const { id, purpose } = each;
    record({ type: 'evidence', service, id, purpose, requests: 1, value: evidenceToJson(each) });
  }
  const session = trafficSession(meant, config, basePath, { redact, record });
  for (const { checks } of rules) {
    for (const check of checks) {
      const judgment = await judge(check, session, { strict, signal: AbortSignal.timeout(HUNG_MS) });
      record({ type: 'outcome', service, id: check.id, ...judgment });
    }
  }
  for (const text of remarksOn(all, own, others)) record({ type: 'remark', service, text: redact(text) });
  record({ type: 'service-finished', service, requestsSent: 0, durationMs: 0 });
}

/** That of the configured address, if the file has it, else the one with most entries. */
function originOf(all: readonly Exchange[], { provider }: ServiceConfig): string | null {
  const origins = Map.groupBy(all, ({ request }) => URL.parse(request.url)?.origin ?? '');
  const configured = URL.parse(addressOf(provider) ?? '')?.origin ?? '';
  if (origins.has(configured)) return configured;
  const [most] = [...origins].sort(([, a], [, b]) => b.length - a.length);
  return most?.[0] ?? null;
}

function pathOf(url: string): string {
  return (URL.parse(url)?.pathname ?? '').replace(/\/$/, '');
}

/** Without what a HAR file does not hold: codings, framing, and whose credential it was. */
function asOfClient(exchange: Exchange): Exchange {
  const { id, request, response } = exchange;
  const host: readonly FieldLine[] =
    fieldValues(request.fields, 'host').length > 0 ? [] : [['Host', new URL(request.url).host]];
  const fields = (response?.fields ?? []).filter(([name]) => !FRAMING.has(name.toLowerCase()));
  return {
    ...exchange,
    purpose: `in entry ${id.replace(/^h/, '')}`,
    credential: response?.status === 401 ? 'wrong' : 'right',
    request: {
      ...request,
      fields: [...host, ...request.fields.filter(([name]) => !FRAMING.has(name.toLowerCase()))],
    },
    response: response && { ...response, fields, body: plainBody(response.body) },
  };
}

/** The content itself, where the file has it. */
function plainBody({ withheld, ...body }: RecordedBody): RecordedBody {
  if (withheld === undefined) return body;
  return body.bytes.length > 0 ? { ...body, truncated: false } : { ...body, withheld };
}

const FRAMING: ReadonlySet<string> = new Set(['content-encoding', 'transfer-encoding', 'content-length']);

/** A file of a page, or a request that a browser makes by itself. */
function isStatic({ request, response }: Exchange): boolean {
  const [type = ''] = fieldValues(response?.fields ?? [], 'content-type');
  const isOfPage =
    /^(?:text\/(?:html|css|javascript)|image\/|font\/|audio\/|video\/|application\/(?:javascript|wasm))/i;
  const isFile = /\.(?:html?|css|m?js|map|png|jpe?g|gif|svg|ico|webp|woff2?|ttf)$/i;
  return (
    request.method === 'OPTIONS' ||
    (['GET', 'HEAD'].includes(request.method) && (isOfPage.test(type) || isFile.test(pathOf(request.url))))
  );
}

/** Operations that a remark names. */
const NAMED = 10;

function remarksOn(
  all: readonly Exchange[],
  own: readonly Exchange[],
  others: readonly Exchange[],
): readonly string[] {
  const names = Map.groupBy(others, ({ request }) => `${request.method} ${pathOf(request.url)}`);
  const named = [...names].slice(0, NAMED).map(([name, { length }]) => `${name} (${length})`);
  const more = names.size - NAMED;
  const foreign = all.length - own.length;
  return [
    ...(names.size > 0
      ? [`not documented: ${[...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')}`]
      : []),
    ...(foreign > 0 ? [`${counted(foreign, 'entry', 'entries')} of other hosts`] : []),
  ];
}

/** A session that reads these exchanges; of stimuli it has none. */
function trafficSession(
  exchanges: readonly Exchange[],
  config: ServiceConfig,
  basePath: string,
  { redact, record }: Pick<TrafficJudging, 'redact' | 'record'>,
): Session {
  const { service } = config;
  const replies = exchanges.map((each) => new Reply(each));
  const subjectOf = (reply: Reply | undefined) => {
    const operation = reply && operationOf(reply.exchange.request, config, basePath);
    return operation ? `${operation.method} ${operation.template}` : service;
  };
  let isCovered = false;
  const without = new NotApplicable('a HAR file of another client has none of the requests of a run');
  const portFor = (asker: Probe<unknown>) => ({
    config,
    recorded: { exchanges: replies, conversations: [], unreadMessage: () => unreadMessageIn(replies) },
    operationOf: ({ exchange }: Reply) => operationOf(exchange.request, config, basePath),
    coverOperations(operations: Parameters<Port['coverOperations']>[0]) {
      if (!isCovered) record({ type: 'operations', service, operations: [...operations] });
      isCovered = true;
    },
    async ask(other: Probe<unknown>) {
      if (other === asker.begunBy) return null;
      throw without;
    },
  });
  return {
    config,
    clock: systemClock,
    outage: null,
    outageSide: null,
    silentSince: null,
    waitedMs: 0,
    closeTimedOut: false,
    progress: 0,
    async ask<E>(probe: Probe<E>): Promise<Remembered<E>> {
      if (probe.place !== 'record') return { evidence: [], failed: without };
      // A selection from the record takes these parts of it only.
      const value = await probe.send(portFor(probe) as unknown as Port);
      return { evidence: replies.map(({ evidence }) => evidence), value };
    },
    hasRoomFor: async () => true,
    observe: () => undefined,
    probeOf: () => null,
    reproduce: () => null,
    subjectOf: (id) => subjectOf(replies.find(({ evidence }) => evidence === id)),
    unreadMessage: (ids) => unreadMessageIn(replies.filter(({ evidence }) => ids.includes(evidence))),
    redact,
    close: async () => ({ requestsSent: 0, durationMs: 0 }),
  };
}
