import type { Secret } from '../../base/secret.ts';
import { derivedSecrets } from '../../config/credential/placing.ts';
import { ReadyCredentials } from '../../config/credential/ready-credentials.ts';
import type { ObtainingPort } from '../../config/credential/scheme.ts';
import { formOf } from '../../config/credential/stand-in.ts';
import { addressOf } from '../../wire/socket/address.ts';
import { transportTo } from '../../wire/socket/options.ts';
import { blockedByBudget, type SessionContext } from './turn/session-context.ts';

/** What answers with a key has no more to say than this, in octets. */
const MOST_OCTETS = 64 * 1024;

/** The credentials of the service: those that are obtained are asked for over the same transport as everything. */
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
        // As secret as a key of the service, and none of its quota.
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
