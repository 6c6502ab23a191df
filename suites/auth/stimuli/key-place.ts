import { isLoopback } from '../../../harness/base/loopback.ts';
import { NotApplicable } from '../../../harness/base/verdict.ts';
import type { KeyPlace } from '../../../harness/config/credential/carrier.ts';
import { addressOf } from '../../../harness/config/provider/provider.ts';
import { type Probe, probe } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { served } from '../../stimuli/sample.ts';

/** Where the documents leave header or query open: does the key open from places that nobody configured? */

const PARAMETERS = ['api_key', 'apikey', 'api-key', 'key', 'token', 'access_token'];
const FIELDS = ['X-API-Key', 'Api-Key', 'ApiKey', 'X-Auth-Token', 'X-Access-Token'];
/** Where most services take a key, and some beside another place. */
const BEARER: KeyPlace = { in: 'authorization', name: 'Authorization' };

interface KeyPlaces {
  /** The request with the key in all of the places at once. */
  readonly reply: Reply;
  /** The places from which the key opens; empty when it opens from none. */
  readonly accepted: readonly string[];
}

export const parametersTaken = probe<KeyPlaces>(
  'parameters-taken',
  { needs: [served], cost: 1 + PARAMETERS.length, usualCost: 1 },
  placesTaken(
    'query parameters',
    PARAMETERS.map((name) => ({ in: 'query', name })),
  ),
);
export const fieldsTaken = probe<KeyPlaces>(
  'fields-taken',
  { needs: [served], cost: 2 + FIELDS.length, usualCost: 1 },
  placesTaken('header fields', [...FIELDS.map((name): KeyPlace => ({ in: 'header', name })), BEARER]),
);

/** All places in one request; only when that is served does each get a request of its own. */
function placesTaken(what: string, all: readonly KeyPlace[]): Probe<KeyPlaces>['send'] {
  return async ({ config, ask, http }) => {
    holdBack(addressOf(config.provider) ?? '');
    holdBack((await ask(served)).exchange.request.url);
    const configured = config.credentials.carrier?.name?.toLowerCase();
    const places = all.filter(({ name }) => name.toLowerCase() !== configured);
    const reply = await http.send({
      purpose: `with the key in ${what} that nobody documented (${places.map(({ name }) => name).join(', ')})`,
      credential: { placed: places },
    });
    const accepted: string[] = [];
    for (const place of reply.served ? places : []) {
      const alone = await http.send({
        purpose: `with the key in ${place.name}`,
        credential: { placed: place },
      });
      if (alone.served) accepted.push(place.name);
    }
    return { reply, accepted };
  };
}

/**
 * Whatever the config allows: what stands in the way may look for keys, and log them, in all of these places.
 * @throws NotApplicable for an address to which they would travel readable.
 */
function holdBack(address: string): void {
  const url = URL.parse(address);
  if (url?.protocol === 'http:' && !isLoopback(url.hostname))
    throw new NotApplicable('the key is sent in other places only over https, or on this machine');
}
