import core, { type VerifierOptions } from '@pact-foundation/pact-core';
import { reasonOf } from '../../base/thrown.ts';
import type { ChildOrder, ChildReply } from './pact-process.ts';

/**
 * The process in which Pact's native verifier runs: what it prints goes to this process's own output, what kills it
 * kills this process, and it is given nothing worth stealing. One order after the other comes over the private
 * channel; the answer is Pact's own JSON, which it throws as a message when something does not match.
 */
process.on('message', (order: ChildOrder) => {
  void verified(order.options).then((text) => {
    const reply: ChildReply = { id: order.id, text };
    process.send?.(reply);
  });
});

// Whoever gives the orders is gone. Ordinary ending would wait for what Pact is doing.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

async function verified(options: VerifierOptions): Promise<string> {
  try {
    return String(await core.default.verifyPacts(options));
  } catch (error) {
    return reasonOf(error);
  }
}
