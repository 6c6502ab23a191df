import { requestOfCall } from '../../../harness/config/operation/call/call.ts';
import type { Lifecycle } from '../../../harness/config/operation/lifecycle.ts';
import type { Stimulus } from '../../../harness/engine/session/http/stimulus.ts';
import { idOf, itemOf } from './item.ts';
import { orderOf, stimulusOf } from './stimulus.ts';
import type { OperationReply } from './trials.ts';

/** The item that a creation has made, and the request that removes it. */
interface Removal {
  readonly id: string;
  readonly stimulus: Stimulus;
}

/** null where nothing was created, or nobody knows how to remove it. */
export function removalOf(created: OperationReply, lifecycle: Lifecycle | null): Removal | null {
  if (lifecycle === null || !created.served) return null;
  const { remove, parameter } = lifecycle;
  const id = idOf(itemOf(created), lifecycle) ?? lastSegment(created.response.location);
  if (id === null) return null;
  const inputs = remove.call.inputs.map((input) =>
    input.in === 'path' && input.name === parameter ? { ...input, value: id } : input,
  );
  const request = requestOfCall({ ...remove.call, inputs });
  return { id, stimulus: stimulusOf(orderOf(remove, request, 'to leave nothing behind')) };
}

function lastSegment(place: URL | null): string | null {
  const last = place?.pathname.split('/').filter(Boolean).at(-1);
  if (last === undefined) return null;
  try {
    return decodeURIComponent(last);
  } catch {
    return null;
  }
}
