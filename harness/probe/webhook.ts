import type { Received } from '../session/webhooks.ts';
import { type Probe, probe } from '../session.ts';
import { Blocked, NotApplicable } from '../verdict.ts';

/** What the service sends to a receiver that is out of order twice, and then is not. */
const ANSWERS = [503, 503, 200];
/** How long is waited for what should not come again, in ms. */
const QUIET_MS = 500;

/** All that came; empty when nothing did. */
export const deliveries: Probe<readonly Received[]> = probe('webhook-deliveries', async (port) => {
  const { webhooks } = port.config;
  if (webhooks === undefined) throw new NotApplicable('no webhooks are configured (webhooks)');
  const { trigger, withinMs } = webhooks;
  return port.webhooks.receive(ANSWERS, async (receiver, url) => {
    const withUrl = (text: string) => text.replaceAll(PLACE, url);
    const reply = await port.http.send({
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
});

const PLACE = '$' + '{WEBHOOK_URL}';

/** The same, where something came. */
export const delivered: Probe<readonly Received[]> = probe('webhook-delivered', async ({ ask }) => {
  const all = await ask(deliveries);
  if (all.length === 0) throw new Blocked('nothing was delivered, so this would prove nothing');
  return all;
});
