import type { Ground } from '../../../harness/base/authority.ts';
import type { Mismatch } from '../../../harness/base/finding.ts';
import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import type { WebhookSignature, WebhooksConfig } from '../../../harness/config/blocks/webhooks.ts';
import { eventScheme, TIME_GROUNDS } from '../../../harness/config/credential/signing/event-signature.ts';
import { isJsonType } from '../../../harness/config/operation/call/call.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import { derived, type Port, probe } from '../../../harness/engine/session/probe.ts';
import type { Received } from '../../../harness/engine/session/webhooks.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { fieldValue } from '../../../harness/wire/fields/grammar/field-grammar.ts';
import { readJsonText } from '../../../harness/wire/json/text.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';

export type { Received } from '../../../harness/engine/session/webhooks.ts';
export { TIME_GROUNDS };

const UNAVAILABLE = { status: 503, fields: [] };
const ACCEPTED = { status: 200, fields: [] };
/** RFC 9110 §15.5.11: it will not come back. */
const GONE = { status: 410, fields: [] };
/** Longer than a service waits before its first attempts, in s. */
const RETRY_AFTER = 3;
const LATER = { status: 503, fields: [['Retry-After', String(RETRY_AFTER)]] } as const;
/** What the service sends to a receiver that is out of order twice, and then is not. */
const ANSWERS = [UNAVAILABLE, LATER, ACCEPTED] as const;
/** How long is waited for what should not come again, in ms. */
const QUIET_MS = 500;

/** All that came; empty when nothing did. */
export const deliveries = probe<readonly Received[]>(
  'webhook-deliveries',
  { cost: webhookCost, risks: ['change'] },
  async ({ config, http, webhooks }) => {
    const { withinMs } = configured(config);
    return webhooks.receive(ANSWERS, async (receiver, url) => {
      await trigger({ config, http }, url);
      for (let count = 1; count <= ANSWERS.length; count++) {
        const askedToWaitMs = count === ANSWERS.length ? 1_000 * RETRY_AFTER : 0;
        if (!(await receiver.waitFor(count, askedToWaitMs + withinMs))) return;
      }
      await receiver.waitFor(ANSWERS.length + 1, QUIET_MS);
    });
  },
);

/** Deliveries to a receiver that answers 410 at once; the first was refused in another way. */
export const afterGone = probe<readonly Received[]>(
  'webhook-gone',
  { needs: () => [delivered], cost: webhookCost, risks: ['change'] },
  async ({ ask, config, http, webhooks }) => {
    const { withinMs } = configured(config);
    const [repeated] = pausesOf(attemptsAmong(await ask(delivered)));
    if (repeated === undefined) throw new NotApplicable('no attempt was repeated');
    const all = await webhooks.receive([GONE], async (receiver, url) => {
      await trigger({ config, http }, url);
      if (await receiver.waitFor(1, withinMs)) await receiver.waitFor(2, 1.5 * repeated.pauseMs + QUIET_MS);
    });
    if (all.length === 0) throw new Blocked('no second event was delivered, so this would prove nothing');
    return all;
  },
);

/** Deliveries of which one was accepted: of a further event if no attempt at the first one was. */
export const accepted = probe<readonly Received[]>(
  'webhook-accepted',
  { needs: () => [delivered], cost: webhookCost, usualCost: 0, risks: ['change'] },
  async ({ ask, config, http, webhooks }) => {
    const first = await ask(delivered);
    if (first.some(isAccepted)) return first;
    const { withinMs } = configured(config);
    const all = await webhooks.receive([ACCEPTED], async (receiver, url) => {
      await trigger({ config, http }, url);
      if (await receiver.waitFor(1, withinMs)) await receiver.waitFor(2, QUIET_MS);
    });
    if (all.length === 0) throw new Blocked('no second event was delivered, so this would prove nothing');
    return all;
  },
);

/** Deliveries after the first accepted one that are not known for another event. */
export function afterAccepted(
  all: readonly Received[],
): readonly (Received & { readonly isSame: boolean })[] {
  const [first, ...further] = all.slice(all.findIndex(isAccepted));
  return further
    .filter(({ id }) => id === null || id === first?.id)
    .map((each) => ({ ...each, isSame: each.id !== null || hasContentOf(first, each) }));
}

/** Whether both have the same body, as repetitions do, apart from their ids in it. */
function hasContentOf(one: Received | undefined, other: Received): boolean {
  const [first, second] = [one, other].map((each) =>
    [one?.id, other.id].reduce<string>(
      (text, id) => (id ? text.replaceAll(id, '') : text),
      Buffer.from(each?.reply.exchange.request.body?.bytes ?? []).toString('latin1'),
    ),
  );
  return first === second;
}

/**
 * The attempts at the first event, without other events that the trigger brings about: those have another id and another
 * body. @throws Blocked if others may be the only further attempts.
 */
export function attemptsAmong(all: readonly Received[]): readonly Received[] {
  const [first, ...further] = all;
  const isAgain = (each: Received) =>
    (each.id !== null && each.id === first?.id) || hasContentOf(first, each);
  const again = further.filter(isAgain);
  const isUnknown = further.some(({ id }) => id === null || first?.id === null);
  if (again.length === 0 && isUnknown) throw new Blocked(UNKNOWN_EVENT);
  return all.filter((each, at) => at === 0 || again.includes(each));
}

export const UNKNOWN_EVENT = 'nothing shows whether a further delivery is of the same event';

/** So many came that no further one was waited for. */
export function isFull({ length }: readonly Received[]): boolean {
  return length >= ANSWERS.length;
}

function isAccepted({ reply }: Received): boolean {
  return reply.status === ACCEPTED.status;
}

function webhookCost({ webhooks }: ServiceConfig): number {
  return webhooks === undefined ? 0 : 1;
}

function configured({ webhooks }: ServiceConfig): WebhooksConfig {
  if (webhooks === undefined) throw new NotApplicable('no webhooks are configured (webhooks)');
  return webhooks;
}

/** @throws Blocked where the service refuses. */
async function trigger({ config, http }: Pick<Port, 'config' | 'http'>, url: string): Promise<void> {
  const { trigger } = configured(config);
  const withUrl = (text: string) => text.replaceAll(PLACE, url);
  const reply = await http.send({
    purpose: 'to have the service send an event',
    method: trigger.method,
    target: () => withUrl(trigger.path),
    ...(trigger.body !== null && {
      content: withUrl(trigger.body),
      fields: [['Content-Type', 'application/json']],
    }),
  });
  if (!reply.served)
    throw new Blocked(
      `the trigger was answered ${reply.exchange.response?.status ?? 'not at all'}, so no event can be expected`,
    );
}

const PLACE = '$' + '{WEBHOOK_URL}';

/** The same, where something came. */
export const delivered = derived<readonly Received[]>('webhook-delivered', [deliveries], async ({ ask }) => {
  const all = await ask(deliveries);
  if (all.length === 0) throw new Blocked('nothing was delivered, so this would prove nothing');
  return all;
});

/** Whether its body is longer than is kept. */
export function isCut({ reply }: Received): boolean {
  return reply.exchange.request.body?.truncated ?? false;
}

/** The mismatch of a delivery that is not JSON by POST; null if none, as far as its body is kept. */
export function jsonFault(delivery: Received): Mismatch | null {
  const { method, fields, body } = delivery.reply.exchange.request;
  const type = fieldValue(fields, 'content-type') ?? 'none';
  if (method !== 'POST') return { expected: 'POST', got: method };
  if (!isJsonType(type)) return { expected: 'the media type application/json', got: type };
  if (isCut(delivery)) return null;
  const [fault] = readJsonText(body?.bytes ?? new Uint8Array()).faults;
  return fault === undefined ? null : { expected: 'JSON', got: fault.message };
}

const IDENTIFIER = /id$|key$/i;

/** Names, in lower case and as they come, of fields by which the second attempt is known for the first event again. */
export function identifiersOf([first, second]: readonly Received[]): readonly string[] {
  const again = second?.reply.exchange.request.fields ?? [];
  return (first?.reply.exchange.request.fields ?? [])
    .filter(
      ([name, value]) =>
        IDENTIFIER.test(name) && again.some((field) => field[0] === name && field[1] === value),
    )
    .map(([name]) => name.toLowerCase());
}

interface RepeatedAttempt {
  /** Whole milliseconds after the attempt before. */
  readonly pauseMs: number;
  readonly reply: Reply;
}

/** The second and the third attempt. */
export function pausesOf(all: readonly Received[]): readonly RepeatedAttempt[] {
  return all
    .slice(1, 3)
    .map(({ atMs, reply }, index) => ({ pauseMs: Math.round(atMs - (all[index]?.atMs ?? atMs)), reply }));
}

/** The first attempt after a Retry-After, with its value and the actual wait in ms; null if none. */
export function afterRetryAfter(
  all: readonly Received[],
): { readonly askedMs: number; readonly waitedMs: number; readonly reply: Reply } | null {
  for (const [index, { reply, atMs }] of all.entries()) {
    const askedMs = reply.response.retryAfterMs;
    const next = all[index + 1];
    if (askedMs !== null && next) return { askedMs, waitedMs: next.atMs - atMs, reply: next.reply };
  }
  return null;
}

/** Ground of the time of an attempt in the signature scheme; null if the scheme has no time. */
export function timeGround({ scheme }: Pick<WebhookSignature, 'scheme'>): Ground | null {
  return eventScheme(scheme).time?.ground ?? null;
}

/** The second and the third attempt, of which the second need not wait in some schemes. */
export function duePausesOf(
  all: readonly Received[],
  signature: Pick<WebhookSignature, 'scheme'> | null,
): readonly RepeatedAttempt[] {
  const isFree = signature !== null && eventScheme(signature.scheme).repeatsAtOnce;
  return pausesOf(all).slice(isFree ? 1 : 0);
}

/** Milliseconds from their own time beyond which receivers refuse an event. */
const FRESH_MS = 5 * 60_000;
/** Attempts so far apart have differing times, though these are whole seconds. In ms. */
const APART_MS = 2_000;

/** The fault of the time in an attempt; null if none. `all`: it, those before it, and perhaps others. */
export function timeFault(
  { time, atMs, reply }: Received,
  all: readonly Received[],
  { scheme }: Pick<WebhookSignature, 'scheme'>,
): string | null {
  if (time === null) return 'none';
  if (!/^\d{1,16}$/.test(time)) return `"${visible(time, 40)}", which is no number of seconds`;
  const arrivedMs = Date.parse(reply.exchange.timing.startedAt);
  if (Math.abs(1_000 * Number(time) - arrivedMs) > FRESH_MS) return 'one that is more than 5 minutes off';
  if (eventScheme(scheme).time?.mayBeOfFirst) return null;
  const isOld = all.some((each) => each.time === time && atMs - each.atMs >= APART_MS);
  return isOld ? 'that of an earlier attempt' : null;
}
