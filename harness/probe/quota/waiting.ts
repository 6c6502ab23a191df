import type { Stimuli } from '../../session.ts';

/** Waits on purpose until that moment of the session's clock, and tells whoever watches why. */
export async function waitUntil(
  { clock, waiting, signal }: Pick<Stimuli, 'clock' | 'waiting' | 'signal'>,
  untilMs: number,
  reason: string,
): Promise<void> {
  const forMs = untilMs - clock.now();
  if (forMs <= 0) return;
  waiting({ reason, untilMs, until: new Date(clock.wallNow().getTime() + forMs) });
  await clock.sleep(forMs, signal);
}
