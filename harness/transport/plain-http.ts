import { isLoopback } from '../config/blocks/loopback.ts';
import type { CredentialUse, ExchangeFailure } from '../evidence/exchange.ts';
import type { Address } from './address.ts';
import type { TransportOptions } from './transport.ts';

/**
 * A credential does not travel readable: over plain http or ws to another machine it is sent only where the
 * config allows it (`safety.plainHttp`). Wrong credentials count as well, since many are cut from the right one.
 *
 * @returns the failure to record in place of sending, or null when nothing speaks against it.
 */
export function refusePlainHttp(
  address: Address,
  credential: CredentialUse,
  { plainHttp = false }: Pick<TransportOptions, 'plainHttp'>,
): ExchangeFailure | null {
  if (address.secure || plainHttp || credential === 'none' || isLoopback(address.host)) return null;
  return {
    kind: 'not-sent',
    message: `a credential is not sent over plain http to ${address.authority}; use https, or allow it with safety.plainHttp`,
  };
}
