import { readEvent } from '../../report/results/fold/events.ts';
import type { LeftOver } from '../engine/channel.ts';

/** What workers that ended at `endedMs` have left of these services, by what is in the journal of the run. */
export function leftOvers(
  journal: readonly unknown[],
  services: readonly string[],
  endedMs: number,
): ReadonlyMap<string, LeftOver> {
  const left = new Map(
    services.map((service) => [service, { judged: new Set<string>(), lastEvidence: 0, requestsSent: 0 }]),
  );
  for (const entry of journal) {
    const read = readEvent(entry);
    if (read.kind !== 'event') continue;
    const { event } = read;
    if (event.type === 'outcome') left.get(event.service)?.judged.add(event.id);
    const its = event.type === 'evidence' ? left.get(event.service) : undefined;
    if (event.type !== 'evidence' || its === undefined) continue;
    its.lastEvidence = Math.max(its.lastEvidence, Number(event.id.slice(1)));
    its.requestsSent += event.requests;
  }
  return new Map(
    [...left].map(([service, { judged, ...rest }]) => [service, { ...rest, judged: [...judged], endedMs }]),
  );
}
