import type { Admission, LimiterAlgorithm } from './limiter.ts';

/**
 * Requests wait in a queue that is served evenly, one window for the plan's number; who finds it full is refused.
 * One after the other nobody is ever refused: each waits for its turn.
 */
export const leakyQueue =
  (room: number): LimiterAlgorithm =>
  (plan) => {
    const turns = new Map<string, number>();
    const slotMs = plan.windowMs / plan.requests;

    const waitOf = (key: string, nowMs: number): number => Math.max(0, (turns.get(key) ?? nowMs) - nowMs);
    const admission = (waitMs: number, admitted: boolean): Admission => {
      const waiting = Math.ceil(waitMs / slotMs);
      return {
        admitted,
        remaining: Math.max(0, room - waiting),
        renewsInMs: waitMs === 0 ? 0 : waitMs % slotMs || slotMs,
      };
    };

    return {
      take(key, nowMs) {
        const waitMs = waitOf(key, nowMs);
        const admitted = waitMs <= room * slotMs;
        if (admitted) turns.set(key, nowMs + waitMs + slotMs);
        return { ...admission(waitOf(key, nowMs), admitted), delayMs: admitted ? waitMs : 0 };
      },
      peek(key, nowMs) {
        const waitMs = waitOf(key, nowMs);
        return admission(waitMs, waitMs <= room * slotMs);
      },
    };
  };
