import type { FieldLine } from '../exchange.ts';
import { visible } from '../octets/utf8.ts';

/** One quota that a response tells of. */
export interface QuotaPolicy {
  /** null where the dialect has no names. */
  readonly name: string | null;
  readonly quota: number | null;
  readonly windowSeconds: number | null;
  /** The counted things: `requests` unless given otherwise. */
  readonly unit: string;
  /** Partition key, in base64; null for none. */
  readonly partition: string | null;
  readonly remaining: number | null;
  readonly resetSeconds: number | null;
}

export interface QuotaNumbers {
  /** Of the policy for the plan's window if both are known, else of the one with the least left. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Seconds from the response until the quota is renewed, may have a fraction; epochs are held against its Date. */
  readonly resetSeconds: number | null;
  readonly windowSeconds: number | null;
}

/** A policy of which nothing is known. */
export const UNKNOWN_POLICY: QuotaPolicy = {
  name: null,
  quota: null,
  windowSeconds: null,
  unit: 'requests',
  partition: null,
  remaining: null,
  resetSeconds: null,
};

/** The quota fields of one response while they are read. */
export class QuotaFields {
  readonly policies: QuotaPolicy[] = [];
  readonly faults: string[] = [];
  readonly contradictions: string[] = [];
  /** What follows the family's prefix, in lower case, to its value; several lines of one name are joined. */
  readonly members: ReadonlyMap<string, string>;
  /** By the response's Date where it has one: a clock that is wrong does no harm to times that it made. */
  readonly serverNow: Date;
  /** Of the plan: tells seconds from milliseconds and the plan's policy from others; null when it is not known. */
  readonly windowSeconds: number | null;

  constructor(members: ReadonlyMap<string, string>, serverNow: Date, windowSeconds: number | null) {
    this.members = members;
    this.serverNow = serverNow;
    this.windowSeconds = windowSeconds;
  }

  has(...members: readonly string[]): boolean {
    return members.some((member) => this.members.has(member));
  }

  get(member: string): string | undefined {
    return this.members.get(member);
  }

  /** Seconds from the response until a time in ms since 1970, which should not be over; `what` tells it. */
  secondsUntil(epochMs: number, what: string): number {
    const seconds = (epochMs - this.serverNow.getTime()) / 1000;
    if (seconds < -ROUNDING_SECONDS) {
      this.contradictions.push(`${what} lies ${Math.round(-seconds)} s before the Date of the response`);
    }
    return Math.max(0, seconds);
  }

  /** Quotes what a field has. */
  malformed(field: string, value: string, reason: string): void {
    this.faults.push(`${field} is ${reason}: "${visible(value, 60)}"`);
  }
}

/** What there is to tell of a quota. */
export interface QuotaState {
  readonly limit: number;
  readonly windowMs: number;
  readonly remaining: number;
  /** Whole seconds until more is available, rounded up: a client that waits that long never comes early. */
  readonly resetSeconds: number;
  /** The same as Unix time, in whole seconds. */
  readonly resetAt: number;
  /** Of further limits that apply as well; a dialect that tells of one quota leaves them out. */
  readonly further?: readonly QuotaState[];
}

/** One way to tell a quota in response fields. */
export interface QuotaDialect {
  /** Stable: observed as `limits.dialect`. A reset in milliseconds ends it with `-ms`. */
  readonly name: string;
  /** Asked of one dialect of the family after the other; the first one that says yes reads the fields. */
  readonly speaks: (given: QuotaFields) => boolean;
  readonly read: (given: QuotaFields) => QuotaNumbers;
  /** How the reference provider tells it; left out where it never does. */
  readonly write?: (state: QuotaState) => readonly FieldLine[];
  /** Makes a conforming variant of the reference provider that does so. */
  readonly variant?: { readonly name: string; readonly summary: string };
  /**
   * Field lines of a response at 12:00:00 UTC on 21 November 2026, for a plan with a window of a minute, set apart by
   * ` | `; behind the arrow the limit, what remains, the seconds until the reset, those of the window, `–` for none.
   */
  readonly examples: readonly string[];
}

/** Dialects whose fields have the same prefix. */
export interface QuotaFamily {
  /** For messages. */
  readonly called: string;
  /** Matches the name of a field, with what follows the prefix in its first group. */
  readonly fields: RegExp;
  readonly dialects: readonly QuotaDialect[];
}

/** The quota is whole seconds on the wire; rounding up adds at most one. */
export const ROUNDING_SECONDS = 1;

/** A sliding counter remembers two windows; no client has to wait longer than that. In seconds. */
export function longestReset(windowSeconds: number): number {
  return 2 * windowSeconds + ROUNDING_SECONDS;
}
