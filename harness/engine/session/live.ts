import type { PactVerifier } from '../../providers/pact/verifier.ts';
import { liveWire } from '../../wire/wire.ts';
import { pactJudge } from './pact/verification.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';

export interface LiveSessionOptions extends Omit<SessionOptions, 'wire' | 'pacts'> {
  /** One that several sessions share; the session has one of its own when left out. */
  readonly verifier?: PactVerifier;
}

/** A session with a service that runs, over sockets. */
export function openLiveSession({ verifier, ...options }: LiveSessionOptions): Session {
  return openSession({ ...options, wire: liveWire, pacts: pactJudge(verifier) });
}
