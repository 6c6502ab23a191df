import { describe, expect, it } from 'vitest';
import { configFor } from '../../../../suites/tests/fixtures/judged.ts';
import { Secret } from '../../../base/secret.ts';
import {
  type AuthorizationServer,
  CLIENT_ID,
  CLIENT_SECRET,
  RESOURCE,
  startAuthorizationServer,
} from '../../../engine/fixtures/authorization-server.ts';
import { startProtectedService } from '../../../engine/fixtures/protected-service.ts';
import { sessionAt } from '../../../engine/session/fixtures/session.ts';
import { oauth2 } from './oauth2.ts';

/** Against oidc-provider, an authorization server of others. */

async function opened(issuer: AuthorizationServer, client: Partial<Parameters<typeof oauth2.of>[0]>) {
  const service = await startProtectedService(issuer);
  const url = `http://127.0.0.1:${service.port}`;
  const { asked, journal } = sessionAt(url, {
    ...(await configFor(url)),
    credentials: oauth2.of({
      tokenUrl: `http://127.0.0.1:${issuer.port}/token`,
      clientId: CLIENT_ID,
      clientSecret: new Secret('CLIENT_SECRET', CLIENT_SECRET),
      ...client,
    }),
  });
  const ask = async (purpose: string) => {
    const answer = await asked(({ http }) => http.send({ purpose }));
    return 'value' in answer ? answer.value.exchange.response?.status : String(answer.failed);
  };
  return { service, ask, journal };
}

describe('tokens of oidc-provider', () => {
  it.each([
    ['basic', 'resource'],
    ['post', 'resource'],
    ['basic', 'audience'],
    ['post', 'audience'],
  ])('are had by %s, for the scope and the %s asked for', async (way, named) => {
    const issuer = await startAuthorizationServer();
    const { service, ask, journal } = await opened(issuer, {
      clientAuthentication: way,
      scope: 'read',
      [named]: RESOURCE,
    });
    expect(await ask('one')).toBe(200);
    expect(await ask('two')).toBe(200);
    expect(service.grants).toEqual(Array(2).fill({ scope: 'read', audience: RESOURCE }));
    expect(issuer.asked).toEqual([way]);
    for (const secret of [CLIENT_SECRET, ...service.tokens]) expect(journal()).not.toContain(secret);
  });

  it('are renewed once when they are refused before their time', async () => {
    const issuer = await startAuthorizationServer();
    const { service, ask } = await opened(issuer, {});
    expect(await ask('one')).toBe(200);
    await issuer.revoke(service.tokens[0] ?? '');
    expect(await ask('two')).toBe(200);
    expect(service.grants.map((grant) => grant !== null)).toEqual([true, false, true]);
    expect(issuer.asked).toHaveLength(2);
  });

  it.each<[string, Partial<Parameters<typeof oauth2.of>[0]>, RegExp]>([
    ['another id', { clientId: 'nobody' }, /401, invalid_client.*check credentials\.clientId/s],
    [
      'another secret',
      { clientSecret: new Secret('CLIENT_SECRET', 'not-the-secret-of-a-test') },
      /the client secret in CLIENT_SECRET is refused by .*401, invalid_client/,
    ],
    [
      'another resource',
      { resource: 'https://other.example/' },
      /400, invalid_target.*check credentials\.resource/s,
    ],
    [
      'another audience',
      { audience: 'https://other.example/' },
      /400, invalid_target.*check credentials\.resource and credentials\.audience/s,
    ],
  ])('are not had with %s, and the reason says what to check', async (_what, client, reason) => {
    const { service, ask } = await opened(await startAuthorizationServer(), client);
    expect(await ask('one')).toMatch(reason);
    expect(service.tokens).toEqual([]);
  });
});
