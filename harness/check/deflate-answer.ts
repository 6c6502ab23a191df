import type { ConversationView } from '../evidence/conversation/view.ts';
import { deflateFault, readExtensions } from '../evidence/fields/extension.ts';

/** What of the answer to an offer of permessage-deflate does not fit that offer (RFC 7692 §7.1); null for nothing. */
export function deflateAnswer(talk: ConversationView): string | null {
  const { extensions } = talk;
  if (extensions.fault !== null) return extensions.fault;
  const [selected, ...more] = extensions.extensions;
  if (selected === undefined) return null;
  if (more.length > 0 || selected.name !== 'permessage-deflate') {
    return extensions.extensions.map(({ name }) => name).join(', ');
  }
  const offers = talk
    .offered('sec-websocket-extensions')
    .flatMap((offer) => readExtensions(offer).extensions);
  const faults = offers.map((offer) => deflateFault(selected, offer));
  return faults.includes(null) ? null : (faults.at(-1) ?? 'permessage-deflate, which was not offered');
}
