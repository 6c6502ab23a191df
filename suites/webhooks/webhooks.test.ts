import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { served } from '../../harness/base/fixtures/server.ts';
import type { WebhookSignature } from '../../harness/config/blocks/webhooks.ts';
import { shipped } from '../../harness/config/fixtures/config-folder.ts';
import type { ServiceConfig } from '../../harness/config/service.ts';
import { type Clock, systemClock } from '../../harness/wire/pace/clock.ts';
import { inTurn, type Judged, judged, saidOf } from '../tests/fixtures/judged.ts';
import { webhooks } from './webhooks.suite.ts';

const judgedAt = (url: string, config: ServiceConfig) => judged(config, [webhooks], { url });

/** The parameters of a trigger, which come as JSON. */
async function triggeredWith(request: IncomingMessage): Promise<{ readonly url: string }> {
  return JSON.parse((await request.toArray()).join(''));
}

/** Judged where the config says that events are signed in a way of which more is known. */
const BY_SCHEME = ['webhooks.timestamp', 'webhooks.same-id', 'webhooks.gone'];

const kinds = ({ outcomes }: Judged) =>
  [...new Set(Object.entries(outcomes).flatMap(([id, kind]) => (BY_SCHEME.includes(id) ? [] : kind)))].sort();

type Deliver = (body?: string) => Promise<number>;

interface Sending {
  /** Of events, from 1. */
  readonly count: number;
  /** By the time of the run. */
  readonly sleep: Clock['sleep'];
}

/** A service that sends each event in this way; `deliver` returns the status of the receiver, 0 if it has closed. */
async function judgedSending(
  send: (deliver: Deliver, sending: Sending) => Promise<void>,
  scheme: WebhookSignature['scheme'] = 'hmac-sha256-hex',
): Promise<Judged> {
  let count = 0;
  let sleep: Clock['sleep'] = systemClock.sleep;
  const service = createServer(async (request, response) => {
    expect(request.headers['content-type']).toBe('application/json');
    const { url } = await triggeredWith(request);
    response.writeHead(200).end();
    const headers = { 'Content-Type': 'application/json', 'webhook-id': String(++count) };
    const deliver: Deliver = (body = '{}') =>
      fetch(url, { method: 'POST', headers, body }).then(
        (answer) => answer.status,
        () => 0,
      );
    await send(deliver, { count, sleep });
  });
  const url = await served(service);
  const { webhooks: shippedWebhooks, ...config } = await shipped('realtime');
  if (!shippedWebhooks?.signature) throw new Error('realtime has signed webhooks');
  const signature = { ...shippedWebhooks.signature, scheme };
  const given = { ...config, webhooks: { ...shippedWebhooks, signature, withinMs: 100 } };
  return inTurn((clock) => {
    ({ sleep } = clock);
    return judged(given, [webhooks], { url, clock });
  });
}

describe('webhooks', () => {
  it('are skipped, with the reason, where none are configured', async () => {
    const { webhooks: _, ...config } = await shipped('realtime');
    const found = await judgedAt('http://127.0.0.1:9', config);
    expect(kinds(found)).toEqual(['skipped']);
    expect(found.messages['webhooks.delivered']).toContain('no webhooks are configured');
  });

  it('are not asked for where unsafe methods are not allowed', async () => {
    const config = await shipped('realtime');
    const found = await judgedAt('http://127.0.0.1:9', {
      ...config,
      safety: { ...config.safety, unsafeMethods: false },
    });
    expect(kinds(found)).toEqual(['skipped']);
  });

  it('cannot be expected of a service that refuses the trigger', async () => {
    const service = createServer((_request, response) => response.writeHead(404).end());
    const url = await served(service);
    const found = await judgedAt(url, await shipped('realtime'));
    expect(kinds(found)).toEqual(['blocked']);
    expect(found.messages['webhooks.delivered']).toContain('the trigger was answered 404');
  });

  it('that come without end, and are large, are taken up to a bound', async () => {
    let target = '';
    const service = createServer(async (request, response) => {
      target = (await triggeredWith(request)).url;
      response.writeHead(200).end();
      void flood();
    });
    const stop = new AbortController();
    const large = JSON.stringify('x'.repeat(400 * 1024));
    async function flood(): Promise<void> {
      while (!stop.signal.aborted) {
        const sent = fetch(target, { method: 'POST', body: large, signal: stop.signal });
        await sent.catch(() => setTimeout(5));
      }
    }
    onTestFinished(() => stop.abort());
    const url = await served(service);
    const found = await judgedAt(url, await shipped('realtime'));
    expect(kinds(found)).not.toContain('error');
    expect(found.outcomes['webhooks.signature']).toBe('fail');
    const received = found.events.filter(
      (event) => event.type === 'evidence' && event.purpose.includes('receiver'),
    );
    expect(received.length).toBeLessThanOrEqual(50);
  });

  it('are not green where no more than the beginning of an event is kept', async () => {
    const service = createServer(async (request, response) => {
      const { url } = await triggeredWith(request);
      response.writeHead(200).end();
      const fields = { 'Content-Type': 'application/json' };
      const body = `no JSON${' '.repeat(300 * 1024)}`;
      await fetch(url, { method: 'POST', headers: fields, body }).catch(() => undefined);
    });
    const url = await served(service);
    const config = await shipped('realtime');
    const webhooks = config.webhooks && { ...config.webhooks, signature: null, withinMs: 50 };
    const found = await judgedAt(url, { ...config, ...(webhooks && { webhooks }) });
    expect(found.outcomes['webhooks.json']).toBe('blocked');
  });

  it('are judged each, whatever is too large of another', async () => {
    const found = await judgedSending(async (deliver) => {
      for (const body of [`{}${' '.repeat(300 * 1024)}`, 'no JSON']) await deliver(body);
    });
    expect(saidOf(found, 'webhooks.json')).toMatch(/^fail: expected JSON/);
  });

  it('are refused twice, the second time for 3 s, and then accepted', async () => {
    const statuses: number[] = [];
    const found = await judgedSending(async (deliver, { sleep }) => {
      statuses.push(await deliver(), await deliver());
      // Later than an attempt may come that has nothing to wait for.
      await sleep(200);
      statuses.push(await deliver());
      await sleep(20);
      await deliver();
    });
    expect(statuses.slice(0, 3)).toEqual([503, 503, 200]);
    expect(saidOf(found, 'webhooks.retry-after')).toMatch(/expected a pause of 3 s|: after/);
    expect(saidOf(found, 'webhooks.no-duplicates')).toMatch(/^warning: .*another delivery/);
  });

  it('are not asked for again once one was accepted', async () => {
    const counts: number[] = [];
    const found = await judgedSending(async (deliver, { count }) => {
      counts.push(count);
      while ((await deliver()) === 503);
    });
    expect(counts).toEqual([1]);
    expect(found.outcomes['webhooks.no-duplicates']).toBe('pass');
  });

  it.each([
    ['webhooks.no-duplicates', 'hmac-sha256-hex', 1],
    ['webhooks.gone', 'standard-webhooks', 2],
  ] as const)('prove nothing where no second event comes: %s', async (id, scheme, attempts) => {
    const found = await judgedSending(async (deliver, { count }) => {
      for (let attempt = 0; count === 1 && attempt < attempts; attempt += 1) await deliver();
    }, scheme);
    expect(saidOf(found, id)).toMatch(/^blocked: no second event was delivered/);
  });

  it('are gone after 410', async () => {
    const statuses: number[] = [];
    const found = await judgedSending(async (deliver, { count, sleep }) => {
      statuses.push(await deliver());
      if (count === 1) await sleep(20);
      statuses.push(await deliver());
    }, 'standard-webhooks');
    expect(statuses.slice(0, 3)).toEqual([503, 503, 410]);
    expect(saidOf(found, 'webhooks.gone')).toMatch(/^(?:fail|warning): expected nothing after 410/);
  });

  it.for([
    ['pass', ['{"id":1}']],
    ['warning', ['{"id":1}', '{"id":1}']],
    ['blocked', ['{"id":1}', '{"id":2}']],
  ] as const)('are judged, %s, once accepted though never retried: %j', async ([outcome, bodies]) => {
    const found = await judgedSending(async (deliver) => {
      for (const body of bodies) if ((await deliver(body)) !== 200) break;
    });
    expect(found.outcomes['webhooks.no-duplicates']).toBe(outcome);
  });

  it('may be sent again at once, and once, by the scheme of Slack', async () => {
    const twice = async (deliver: (body?: string) => Promise<number>) => {
      if ((await deliver()) !== 200) await deliver();
    };
    const said = async (scheme: 'slack' | 'hmac-sha256-hex') =>
      saidOf(await judgedSending(twice, scheme), 'webhooks.backoff');
    expect(await said('slack')).toMatch(/^skipped: only the attempt that may follow at once was repeated/);
    expect(await said('hmac-sha256-hex')).toMatch(/^warning/);
  });

  it('count where nobody else can know of: what is sent elsewhere is no delivery', async () => {
    const service = createServer(async (request, response) => {
      const { origin, pathname } = new URL((await triggeredWith(request)).url);
      expect(pathname).toMatch(/^\/[0-9a-f-]{36}$/);
      for (const path of ['/', '/hooks', `${pathname}0`]) {
        expect((await fetch(`${origin}${path}`, { method: 'POST', body: '{}' })).status).toBe(404);
      }
      response.writeHead(200).end();
    });
    const url = await served(service);
    const config = await shipped('realtime');
    const webhooks = config.webhooks && { ...config.webhooks, withinMs: 50 };
    const found = await judgedAt(url, { ...config, ...(webhooks && { webhooks }) });
    expect(found.outcomes['webhooks.delivered']).toBe('fail');
  });
});
