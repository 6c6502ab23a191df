import type { Secret } from '../../base/secret.ts';
import { derivedSecrets } from '../../config/credential/placing.ts';
import { ReadyCredentials } from '../../config/credential/ready-credentials.ts';
import type { ObtainingPort } from '../../config/credential/scheme.ts';
import { formOf } from '../../config/credential/stand-in.ts';
import { addressOf } from '../../wire/socket/address.ts';
import { transportTo } from '../../wire/socket/options.ts';
import { blockedByBudget, type SessionContext } from './turn/session-context.ts';

/** Largest token response in octets. */
const MOST_OCTETS = 64 * 1024;

/** Credentials that are obtained are requested over the same transport. */
export function openCredentials(
  context: Omit<SessionContext, 'credentials'>,
  learned: (secret: Secret) => void = () => undefined,
): ReadyCredentials {
  const { config, transport, wire, budget, log, outage, record } = context;
  const port: ObtainingPort = {
    async post({ url, fields, body, purpose }, secretsIn) {
      const isPath = url.startsWith('/');
      const { origin, pathname, search } = new URL(url, transport.baseUrl);
      const isOwn = origin === new URL(transport.baseUrl).origin;
      const request = {
        method: 'POST',
        target: isPath ? `${addressOf(transport.baseUrl).prefix}${url}` : `${pathname}${search}`,
        fields,
        body: Buffer.from(body),
      };
      if (isOwn) {
        try {
          budget.count();
        } catch (error) {
          blockedByBudget(error);
        }
      }
      const limits = { ...transport.limits, bodyBytes: MOST_OCTETS };
      const http = wire.openHttp({ ...transportTo(origin, transport), limits });
      try {
        // It is secret like a key of the service, but costs no quota.
        const done = await http.send(request, {
          id: log.nextId(),
          purpose,
          credential: 'right',
          secretsIn(content) {
            const found = secretsIn(content);
            if (found) record({ type: 'secrets', service: config.service, forms: found.map(formOf) });
            const secrets = found?.flatMap((secret) => [secret, ...derivedSecrets(secret)]) ?? null;
            secrets?.forEach(learned);
            return secrets;
          },
        });
        return log.keep({ ...done, credential: 'none' }, isOwn ? 1 : 0, 'token');
      } finally {
        await http.close();
      }
    },
  };
  return new ReadyCredentials(config.credentials, port, transport.clock, (reason) => outage.giveUp(reason));
}
