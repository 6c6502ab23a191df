import type { ResponseView } from '../../wire/exchange/response.ts';

/** How much of a response a judgment needs, and what becomes of it where that was not read. */
export interface Reading {
  /** Why it cannot be judged, one line that begins with `it` or `its`; null when it can. */
  readonly unread: (response: ResponseView) => string | null;
  /** What was read is judged all the same: a fault that is there is there. */
  readonly partly: boolean;
}

/** The octets of the content, to their end. */
export const IN_CONTENT: Reading = { unread: ({ unread }) => unread, partly: false };
/** The value of a JSON text. */
export const IN_JSON: Reading = { unread: ({ unreadJson }) => unreadJson, partly: false };
/** What must stand nowhere in a response. */
export const THROUGHOUT: Reading = { unread: ({ unread }) => unread, partly: true };
/** The same, in fields or in a JSON value. */
export const THROUGHOUT_JSON: Reading = { unread: ({ unreadJson }) => unreadJson, partly: true };
/** The same, of what bodies are searched for only so far. */
export const SEARCHED: Reading = { unread: ({ unsearched }) => unsearched, partly: true };
/** The message as it was framed: what became of its content does not matter. */
export const FRAMED: Reading = {
  unread: ({ body, unread }) => (body.truncated ? unread : null),
  partly: true,
};
/** The content as it was encoded. */
export const ENCODED: Reading = {
  unread: ({ body, unread, codingLimit }) => (body.truncated ? unread : codingLimit),
  partly: true,
};
/** The octets of the body as they came, content codings and all. */
export const AS_SENT: Reading = { unread: ({ unknownOctets }) => unknownOctets, partly: false };
