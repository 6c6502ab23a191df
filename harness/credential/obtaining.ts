import type { Exchange, FieldLine } from '../evidence/exchange.ts';
import type { Secret } from './secret.ts';

/** A key that somebody has given out for a while. */
export interface Obtained {
  readonly key: Secret;
  /** How long it is good from when it was asked for, in ms; null where nobody says. */
  readonly forMs: number | null;
}

/** A request with which a key is asked for. */
export interface KeyRequest {
  /** Absolute, or a path below the base address of the service. */
  readonly url: string;
  readonly fields: readonly FieldLine[];
  readonly body: string;
  /** For the evidence: `for an access token`. */
  readonly purpose: string;
}

/** With what a scheme obtains its key. */
export interface ObtainingPort {
  /**
   * Posts the request within the session's timeouts; whatever comes of it is evidence. `secretsIn` sees the content of
   * the response before anything of it is recorded, and names the secrets in it, which are redacted from then on. What
   * it cannot answer for (null) is not recorded.
   */
  post(request: KeyRequest, secretsIn: (content: string) => readonly Secret[] | null): Promise<Exchange>;
}
