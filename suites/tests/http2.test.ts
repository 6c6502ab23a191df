import { describe, expect, it } from 'vitest';
import { shipped } from '../../harness/config/fixtures/config-folder.ts';
import type { ReferenceName, ServiceConfig } from '../../harness/config/service.ts';
import { startProvider } from '../../harness/engine/provider/start.ts';
import { simulatedClock } from '../../harness/engine/simulation/clock.ts';
import { suites } from '../catalogue.ts';
import { type Judged, judged } from './fixtures/judged.ts';

/** What all suites find of a built-in service. */
async function found(
  name: ReferenceName,
  differently: Partial<ServiceConfig> = {},
  variant: string | null = null,
): Promise<Judged> {
  const provider = { kind: 'reference', name, defects: [], variant } as const;
  const { pacts: _, ...config } = { ...(await shipped(name)), provider, ...differently };
  const clock = simulatedClock();
  const running = await startProvider(config, { clock });
  try {
    return await judged(config, suites, { url: running.url, clock });
  } finally {
    await running.stop();
    clock.stop();
  }
}

const overHttp1 = new Map<ReferenceName, Promise<Judged>>();

/** The same over HTTP/1.1 alone: several tests compare with that. */
function foundOverHttp1(name: ReferenceName): Promise<Judged> {
  const known = overHttp1.get(name) ?? found(name);
  overHttp1.set(name, known);
  return known;
}

const outcomesBut = ({ outcomes }: Judged, isLeftOut: (id: string) => boolean) =>
  Object.fromEntries(Object.entries(outcomes).filter(([id]) => !isLeftOut(id)));

const remarksOf = ({ events }: Judged) =>
  events.flatMap((event) => (event.type === 'remark' ? [event.text] : []));

const versionsOf = ({ events }: Judged) => {
  const text = JSON.stringify(events);
  return { http1: text.includes('"httpVersion":"1.1"'), http2: text.includes('"httpVersion":"2"') };
};

const isOfHttp2 = (id: string) => id.startsWith('http2.') || id === 'limits.connections-share';

describe('the same service', () => {
  it.each(['search', 'messaging', 'realtime'] as const)(
    '%s has the same verdict over HTTP/1.1 and HTTP/2',
    async (name) => {
      const over1 = await foundOverHttp1(name);
      const over2 = await found(name, { http2: true });
      expect(outcomesBut(over2, isOfHttp2)).toEqual(outcomesBut(over1, isOfHttp2));
      expect([versionsOf(over1), versionsOf(over2)]).toEqual([
        { http1: true, http2: false },
        { http1: true, http2: true },
      ]);
    },
  );

  it('is judged over HTTP/2 where it speaks nothing else', async () => {
    const name = 'search';
    const over1 = await foundOverHttp1(name);
    const alone = await found(name, {}, 'http2-alone');
    const skipped = Object.keys(alone.outcomes).filter((id) => alone.outcomes[id] === 'skipped');
    const isSkipped = (id: string) => isOfHttp2(id) || skipped.includes(id);
    expect(outcomesBut(alone, isSkipped)).toEqual(outcomesBut(over1, isSkipped));
    expect(versionsOf(alone)).toEqual({ http1: false, http2: true });
    expect(remarksOf(alone)).toEqual([expect.stringContaining('speaks HTTP/2 alone')]);
    expect(Object.entries(alone.outcomes).filter(([id]) => isOfHttp2(id))).toEqual([
      ['http2.same-answer', 'skipped'],
      ['http2.stream-reset', 'pass'],
      ['http2.websocket', 'observed'],
      ['limits.connections-share', 'pass'],
      ['http2.well-formed', 'pass'],
      ['http2.unprocessed', 'observed'],
    ]);
    // What rests on octets of HTTP/1.1 alone.
    const more = skipped.filter((id) => over1.outcomes[id] !== 'skipped');
    expect(more.map((id) => `${id}: ${alone.messages[id]}`)).toMatchSnapshot();
  });
});
