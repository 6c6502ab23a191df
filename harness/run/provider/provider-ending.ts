import { type JournalEvent, readEvent } from '../../report/results/events.ts';
import type { Providers } from './providers.ts';

/**
 * Adds to a journal what has become of the providers that ended while they were judged, or of that of one service. A
 * worker sees only that nobody answers any more; the checks that were blocked for it then say why.
 */
export async function recordEndings(
  providers: Providers,
  entries: readonly unknown[],
  record: (event: JournalEvent) => void,
  only?: string,
): Promise<void> {
  const events = entries.flatMap((entry) => {
    const read = readEvent(entry);
    return read.kind === 'event' ? [read.event] : [];
  });
  const troubled = events.flatMap((event) => (event.type === 'service-trouble' ? [event.service] : []));
  for (const [service, ending] of await providers.endings(new Set(troubled), only)) {
    for (const event of endingEvents(events, service, ending)) record(event);
  }
}

export function endingEvents(
  journal: readonly JournalEvent[],
  service: string,
  ending: string,
): readonly JournalEvent[] {
  const events = journal.filter((event) => 'service' in event && event.service === service);
  const seen = events.findLast((event) => event.type === 'service-trouble')?.reason;
  const reason =
    seen === undefined ? `its provider ended while it was judged: ${ending}` : `${seen}: ${ending}`;
  const explained = events.flatMap((event) => {
    if (event.type !== 'outcome' || event.outcome !== 'blocked') return [];
    if (seen === undefined || !event.message.includes(seen)) return [];
    return [{ ...event, message: event.message.replace(seen, () => reason) }];
  });
  return [{ type: 'service-trouble', service, reason }, ...explained];
}
