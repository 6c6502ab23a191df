import core, { type VerifierOptions } from '@pact-foundation/pact-core';
import { reasonOf } from '../../base/thrown.ts';
import type { ChildOrder, ChildReply } from './pact-process.ts';

/**
 * The process of Pact's native verifier: it isolates Pact's output and crashes, and has no secrets. Orders come one by
 * one over the private channel; the answer is Pact's own JSON, which Pact throws as a message for a mismatch.
 */
process.on('message', (order: ChildOrder) => {
  void verified(order.options).then((text) => {
    const reply: ChildReply = { id: order.id, text };
    process.send?.(reply);
  });
});

// The parent is gone. An ordinary exit would wait for Pact's work.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

async function verified(options: VerifierOptions): Promise<string> {
  try {
    return String(await core.default.verifyPacts(options));
  } catch (error) {
    return reasonOf(error);
  }
}
