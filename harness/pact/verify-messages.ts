import type { VerifierOptions } from '@pact-foundation/pact-core';

/** What the child that runs Pact is told. */
export interface ChildOrder {
  readonly id: number;
  readonly options: VerifierOptions;
}

/** What it answers. */
export interface ChildReply {
  readonly id: number;
  /** Pact's JSON, or the text of a fault of configuration. */
  readonly text: string;
}

export function isChildReply(message: unknown): message is ChildReply {
  return (
    typeof message === 'object' &&
    message !== null &&
    'id' in message &&
    typeof message.id === 'number' &&
    'text' in message &&
    typeof message.text === 'string'
  );
}
