import type { Reply } from '../evidence/exchange/reply.ts';
import type { ResponseView } from '../evidence/exchange/response.ts';
import { Blocked, NotApplicable, Violation } from '../verdict.ts';
import { holdEach, orList } from './hold.ts';
import { IN_CONTENT, type Reading } from './reading.ts';

/**
 * Expectations in the field's words. Given several replies each must meet it, and the message names those that
 * do not. A message says what was expected and what came, in one line.
 */
export interface ReplyExpectation {
  /** One of these status codes. */
  toHaveStatus(...accepted: readonly number[]): void;
  /** A status of one of these classes: 2 for 2xx. */
  toHaveStatusClass(...classes: readonly number[]): void;
  /** A response, whatever its status: not a hang, a reset or a dropped connection. It may be longer than what is read. */
  toBeAnswered(): void;
  /** No 5xx, no hang, no dropped connection. */
  toBeHandled(): void;
  toHaveField(name: string): void;
  toLackField(name: string): void;
  /** A status code of the IANA registry. */
  toHaveRegisteredStatus(): void;
  /** Anything but 2xx. */
  toBeUnserved(): void;
  /** `application/json` or a `+json` media type. */
  toHaveJsonMediaType(): void;
  /** A JSON media type and one well-formed JSON text (RFC 8259). */
  toBeJson(): void;
  /** No `public` directive and no explicit freshness (RFC 9111 §5.2.2). */
  toBeUncacheable(): void;
  toHaveNoContent(): void;
  /**
   * For what has no matcher of its own: `wanted` and `got` complete "expected …, got …"; `got` is null when it conforms.
   *
   * @throws Blocked when nothing deviates, but not all of what the judgment needs was read.
   */
  toConform(wanted: string, got: (reply: Reply) => string | null, reading?: Reading): void;
}

export type Expect = (...replies: readonly Reply[]) => ReplyExpectation;

export const expect: Expect = (...replies) => {
  // A check that has looked at nothing is not green.
  if (replies.length === 0) throw new NotApplicable('there is no such answer to judge');
  const each = (wanted: string, got: (reply: Reply) => string | null, reading?: Reading) => {
    const unread = reading === undefined ? () => null : (reply: Reply) => unreadOf(reply, reading);
    const judged = reading?.partly ? replies : replies.filter((reply) => unread(reply) === null);
    holdEach(judged, wanted, (reply) => gotOrNoResponse(reply, got));
    for (const reply of replies) {
      const reason = unread(reply);
      if (reason !== null) throw new Blocked(`${reply.to} cannot be judged for ${wanted}: ${reason}`);
    }
  };

  return {
    toHaveStatus: (...accepted) =>
      each(`status ${orList(accepted)}`, ({ response }) =>
        accepted.includes(response.status) ? null : statusText(response.status),
      ),
    toHaveStatusClass: (...classes) =>
      each(`status ${orList(classes.map((digit) => `${digit}xx`))}`, ({ response }) =>
        classes.includes(response.statusClass) ? null : statusText(response.status),
      ),
    toHaveRegisteredStatus: () =>
      each('a registered status code', ({ response }) =>
        response.isRegistered ? null : statusText(response.status),
      ),
    toBeUnserved: () =>
      each('a refusal, no 2xx', ({ response }) =>
        response.statusClass === 2 ? statusText(response.status) : null,
      ),
    toBeAnswered: () => each('a whole response', (reply) => failureText(reply)),
    toBeHandled: () =>
      each('an answer that is no server error', (reply) => {
        const { status } = reply.response;
        return failureText(reply) ?? (status >= 500 && status !== 501 ? statusText(status) : null);
      }),
    toHaveField: (name) =>
      each(`${article(name)} ${name} field`, ({ response }) =>
        response.has(name) ? null : `none (${statusText(response.status)})`,
      ),
    toLackField: (name) =>
      each(`no ${name} field`, ({ response }) => (response.has(name) ? `"${response.field(name)}"` : null)),
    toHaveJsonMediaType: () => each('a JSON media type', ({ response }) => foreignMediaType(response)),
    toBeJson: () => {
      each('a JSON body', ({ response }) => foreignMediaType(response));
      each('a JSON body', ({ response }) => response.json.faults[0]?.message ?? null, IN_CONTENT);
    },
    toBeUncacheable: () =>
      each('no public directive and no freshness', ({ response }) => {
        return response.cacheControl.allowsReuse ? `Cache-Control: ${response.field('cache-control')}` : null;
      }),
    toHaveNoContent: () =>
      each('no content', ({ response }) =>
        response.bodyLength === 0 ? null : `${response.bodyLength} octets`,
      ),
    toConform: each,
  };
};

/** A reply whose response never came violates any expectation of it, in its own words. */
function gotOrNoResponse(reply: Reply, got: (reply: Reply) => string | null): string | null {
  try {
    return got(reply);
  } catch (thrown) {
    if (thrown instanceof Violation) return failureText(reply) ?? thrown.message;
    throw thrown;
  }
}

function unreadOf(reply: Reply, { unread }: Reading): string | null {
  return reply.exchange.response === null ? null : unread(reply.response);
}

function failureText(reply: Reply): string | null {
  return reply.answered || reply.cut
    ? null
    : `no whole response (${reply.exchange.failure?.message ?? 'unknown'})`;
}

function statusText(status: number): string {
  return `status ${status}`;
}

function foreignMediaType(response: ResponseView): string | null {
  if (response.isJson) return null;
  const value = response.field('content-type');
  return value === undefined ? 'no Content-Type' : `Content-Type ${value}`;
}

/** As it is spoken: `an Allow field`, `an X-Frame-Options field`. */
function article(name: string): string {
  return /^(?:[AEIO]|X-)/i.test(name) ? 'an' : 'a';
}
