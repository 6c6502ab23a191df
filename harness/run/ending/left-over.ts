import { readEvent } from '../../report/results/fold/events.ts';
import type { LeftOver } from '../engine/channel.ts';

/** What workers that ended at `endedMs` have left of these services, by what is in the journal of the run. */
export function leftOvers(
  journal: readonly unknown[],
  services: readonly string[],
  endedMs: number,
): ReadonlyMap<string, LeftOver> {
  const judged = new Map(services.map((service) => [service, new Set<string>()]));
  const evidence = new Map(services.map((service) => [service, 0]));
  for (const entry of journal) {
    const read = readEvent(entry);
    if (read.kind !== 'event') continue;
    const { event } = read;
    if (event.type === 'outcome') judged.get(event.service)?.add(event.id);
    if (event.type === 'evidence' && evidence.has(event.service)) {
      const last = evidence.get(event.service) ?? 0;
      evidence.set(event.service, Math.max(last, Number(event.id.slice(1))));
    }
  }
  return new Map(
    services.map((service) => [
      service,
      { judged: [...(judged.get(service) ?? [])], lastEvidence: evidence.get(service) ?? 0, endedMs },
    ]),
  );
}
