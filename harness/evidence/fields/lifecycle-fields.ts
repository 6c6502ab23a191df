import { ParseError, parseItem } from 'structured-headers';
import { visible } from '../octets/visible.ts';
import { readHttpDate } from './grammar/http-date.ts';

/** Fields with which a response announces the end of what it offers. */
type LifecycleField = 'Deprecation' | 'Sunset';

/** What keeps a value from being in the form of its field. */
const FORMS: Readonly<Record<LifecycleField, (value: string, now: Date) => string | null>> = {
  /** RFC 9745 §2.1: a structured field, an Item that is a Date (RFC 9651 §3.3.7). */
  Deprecation(value) {
    const [, rest] = /^@-?[0-9]{1,15}(?=$|[ ;])(.*)$/.exec(value) ?? [];
    if (rest === undefined) return 'not a Date';
    try {
      // The library takes no parameters behind a Date; behind an Integer they are the same.
      parseItem(`0${rest}`);
      return null;
    } catch (error) {
      if (error instanceof ParseError) return 'no structured field';
      throw error;
    }
  },
  /** RFC 8594 §3: an HTTP-date. */
  Sunset(value, now) {
    const date = readHttpDate(value, now);
    return date.kind === 'date' ? null : date.reason;
  },
};

/** What is wrong with a Deprecation or Sunset field value, in one line; null when nothing is. */
export function lifecycleFault(name: LifecycleField, value: string, now: Date): string | null {
  const fault = FORMS[name](value, now);
  return fault === null ? null : `"${visible(value, 60)}", ${fault}`;
}
