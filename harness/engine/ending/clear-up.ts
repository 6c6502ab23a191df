import { eventsIn, type JournalEvent, leftBehind } from '../../report/results/fold/events.ts';
import { systemClock } from '../../wire/pace/clock.ts';
import type { Journal } from '../../wire/record/journal.ts';
import type { Redaction } from '../../wire/redaction/redaction.ts';
import type { StartedService } from '../provider/providers.ts';
import type { LeftOver } from '../worker/channel.ts';

interface ClearingUp {
  readonly runId: string;
  readonly userAgent: string;
  readonly redaction: Redaction;
  readonly read: Journal['read'];
  readonly record: (event: JournalEvent) => void;
}

/** Removes what workers created if they ended before they could remove it. */
export async function clearUp(
  started: readonly StartedService[],
  { runId, userAgent, redaction, read, record }: ClearingUp,
): Promise<void> {
  const left = Map.groupBy(leftBehind(read(['created', 'removed']).entries), ({ service }) => service);
  if (left.size === 0) return;
  const { entries } = read(['evidence']);
  await Promise.all(
    started.map(async ({ config, providerUrl }) => {
      const { service } = config;
      const ours = left.get(service) ?? [];
      if (ours.length === 0 || providerUrl === null) return;
      // Most runs have nothing to remove and need not load the client.
      const { openLiveSession } = await import('../session/session.ts');
      const session = openLiveSession({
        config,
        clock: systemClock,
        providerUrl,
        runId,
        userAgent,
        redaction,
        record,
        learned: (secret) => redaction.add(secret.name, secret.reveal()),
        evidenceBefore: leftOvers(entries, [service], 0).get(service)?.lastEvidence ?? 0,
        leftBehind: ours,
      });
      await session.close();
    }),
  );
}

/** The state in which workers left these services at `endedMs`, by the journal. */
export function leftOvers(
  journal: readonly unknown[],
  services: readonly string[],
  endedMs: number,
): ReadonlyMap<string, LeftOver> {
  const left = new Map(
    services.map((service) => [service, { judged: new Set<string>(), lastEvidence: 0, requestsSent: 0 }]),
  );
  for (const event of eventsIn(journal)) {
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
