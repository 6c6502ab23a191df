import type { VerifierOptions } from '@pact-foundation/pact-core';
import { isJsonObject } from '../json-text.ts';

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
  return isJsonObject(message) && typeof message.id === 'number' && typeof message.text === 'string';
}
