import { Blocked, NotApplicable } from '../base/verdict.ts';
import { fieldValue } from '../evidence/fields/grammar/field-lines.ts';
import { readJsonText } from '../evidence/json/text.ts';
import { type Probe, probe } from '../session/probe.ts';
import type { Received } from '../session/webhooks.ts';

/** What the service sends to a receiver that is out of order twice, and then is not. */
const ANSWERS = [503, 503, 200];
/** How long is waited for what should not come again, in ms. */
const QUIET_MS = 500;

/** All that came; empty when nothing did. */
export const deliveries: Probe<readonly Received[]> = probe(
  'webhook-deliveries',
  async ({ config, http, webhooks }) => {
    if (config.webhooks === undefined) throw new NotApplicable('no webhooks are configured (webhooks)');
    const { trigger, withinMs } = config.webhooks;
    return webhooks.receive(ANSWERS, async (receiver, url) => {
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
      if (!reply.served) {
        throw new Blocked(
          `the trigger was answered ${reply.exchange.response?.status ?? 'not at all'}, so no event can be expected`,
        );
      }
      for (let count = 1; count <= ANSWERS.length; count++) {
        if (!(await receiver.waitFor(count, withinMs))) return;
      }
      await receiver.waitFor(ANSWERS.length + 1, QUIET_MS);
    });
  },
);

const PLACE = '$' + '{WEBHOOK_URL}';

/** The same, where something came. */
export const delivered: Probe<readonly Received[]> = probe('webhook-delivered', async ({ ask }) => {
  const all = await ask(deliveries);
  if (all.length === 0) throw new Blocked('nothing was delivered, so this would prove nothing');
  return all;
});

/** What was expected of a delivery and what came in its place, where that is not JSON by POST; else null. */
export function jsonFault({ reply }: Received): string | null {
  const { method, fields, body } = reply.exchange.request;
  const type = fieldValue(fields, 'content-type') ?? 'none';
  if (method !== 'POST') return `expected POST, got ${method}`;
  if (!JSON_TYPE.test(type)) return `expected the media type application/json, got ${type}`;
  const [fault] = body?.truncated ? [] : readJsonText(body?.bytes ?? new Uint8Array()).faults;
  return fault === undefined ? null : `expected JSON, got ${fault.message}`;
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;
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

/** Between one attempt and the next, in whole ms; of the first three. */
export function pausesOf(all: readonly Received[]): readonly number[] {
  return all.slice(1, 3).map(({ atMs }, index) => Math.round(atMs - (all[index]?.atMs ?? atMs)));
}
