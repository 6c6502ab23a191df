import { isJsonObject } from '../../../harness/base/json-text.ts';
import { isLoopback } from '../../../harness/base/loopback.ts';
import { NotApplicable } from '../../../harness/base/verdict.ts';
import { derived, probe } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { pathOf } from '../../../harness/wire/request.ts';
import { withoutCredential } from './credential.ts';

/** The address of its metadata that a service tells whoever lacks a credential (RFC 9728 §5.1). */
export const metadataAddress = derived('metadata-address', [withoutCredential], async ({ ask }) => {
  const { challenges } = (await ask(withoutCredential)).response.challenges;
  const told = challenges.find(({ parameters }) => parameters.has('resource_metadata'));
  const address = told?.parameters.get('resource_metadata');
  if (address === undefined) throw new NotApplicable('no challenge names resource_metadata');
  return address;
});

/** Why an address is none of metadata (RFC 9728 §3: an https URL); null when it is one. Plain http does on this machine. */
export function addressFault(address: string): string | null {
  const url = URL.parse(address);
  if (url === null) return `${address}, which is no absolute URL`;
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  return isSafe ? null : `${address}, which is not https`;
}

/** What stands there, where the service itself has it: nobody else is asked. */
export const resourceMetadata = probe(
  'resource-metadata',
  { needs: [metadataAddress, withoutCredential] },
  async ({ ask, http, documented }) => {
    const address = URL.parse(await ask(metadataAddress));
    const here = new URL((await ask(withoutCredential)).exchange.request.url);
    if (address?.origin !== here.origin) throw new NotApplicable('its metadata lie at another origin');
    const base = here.pathname.slice(0, -pathOf(documented.path).length);
    if (!address.pathname.startsWith(base))
      throw new NotApplicable('its metadata lie above the base address');
    return http.send({
      purpose: 'for the metadata that its challenge names',
      target: () => `${address.pathname.slice(base.length)}${address.search}`,
      withoutSampleFields: true,
      fields: [['Accept', 'application/json']],
      credential: 'none',
    });
  },
);

/**
 * What is wrong with metadata about the resource that was asked for (RFC 9728 §3.2 and §3.3); null when nothing is. A
 * service may call all of itself one resource: one that holds the address is taken for it.
 */
export function metadataFault({ response }: Reply): string | null {
  if (response.status !== 200) return `status ${response.status}`;
  const { value } = response.json;
  if (!isJsonObject(value)) return 'no JSON object';
  const { resource } = value;
  if (typeof resource !== 'string') return 'no resource in it';
  const named = URL.parse(resource);
  return named?.origin === new URL(response.request.url).origin ? null : `the resource ${resource}`;
}
