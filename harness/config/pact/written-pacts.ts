import type { PactBroker, PactsConfig } from './pacts.ts';

/** The pacts of a config in the form of a service file, a broker's secret masked. */
export function writtenPacts({ provider, files, broker, states, messages }: PactsConfig): object {
  return {
    provider,
    ...(files.length === 0 ? {} : { files }),
    ...(broker === null ? {} : { broker: writtenBroker(broker) }),
    ...(states === null
      ? {}
      : { states: states.kind === 'url' ? { url: states.url } : { command: states.command } }),
    ...(messages === null ? {} : { messages }),
  };
}

function writtenBroker({ url, credentials, selectors, pending, wipSince, branch }: PactBroker): object {
  return {
    url,
    ...(credentials?.kind === 'token' ? { token: credentials.token.toString() } : {}),
    ...(credentials?.kind === 'basic'
      ? { username: credentials.username, password: credentials.password.toString() }
      : {}),
    selectors,
    pending,
    ...(wipSince === null ? {} : { wipSince }),
    ...(branch === null ? {} : { branch }),
  };
}
