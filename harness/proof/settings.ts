import { fileURLToPath } from 'node:url';
import type { HandshakeKeyPlace } from '../config/blocks/websocket.ts';
import { type AppCredentials, appOf, type Credentials, type ServiceConfig } from '../config/service.ts';
import { Secret } from '../credential/secret.ts';

/** The config under which a case is judged; what concerns one way of calling is seen only by those who call so. */
export type Setting = keyof typeof SETTINGS;

type Adapt = (config: ServiceConfig) => ServiceConfig;

const withCredentials =
  (change: (credentials: Exclude<Credentials, { scheme: 'none' }>) => Credentials): Adapt =>
  (config) =>
    config.credentials.scheme === 'none' ? config : { ...config, credentials: change(config.credentials) };

const keyIn =
  (scheme: 'header' | 'query', name: string): Adapt =>
  (config) =>
    withCredentials((credentials) =>
      credentials.scheme === 'bearer' ? { ...credentials, scheme, name } : credentials,
    )(config);

function applicationOf({ service, credentials }: ServiceConfig): AppCredentials {
  const app = appOf(credentials);
  if (app === null) throw new Error(`${service} has no application`);
  return app;
}

function pusher(config: ServiceConfig): ServiceConfig {
  const { websocket } = config;
  if (websocket === null) throw new Error(`${config.service} has no WebSocket`);
  const url = `/app/${applicationOf(config).key}?protocol=7`;
  const { exchange: _, ...endpoint } = websocket;
  const established = { required: ['socket_id', 'activity_timeout'] };
  const messages = { 'pusher:connection_established': established };
  return { ...config, websocket: { ...endpoint, url, dialect: 'pusher', echo: false, messages } };
}

const inHandshake =
  (credential: HandshakeKeyPlace): Adapt =>
  ({ websocket, ...config }) => ({
    ...config,
    websocket: websocket && { ...websocket, credential, subprotocols: ['echo.v1'] },
  });

export const SETTINGS = {
  /** As the shipped config has it: a bearer key. */
  bearer: (config: ServiceConfig) => config,
  header: keyIn('header', 'X-API-Key'),
  query: keyIn('query', 'api_key'),
  basic: withCredentials(({ app }) => ({
    scheme: 'basic',
    username: 'example-user',
    password: new Secret('EXAMPLE_PASSWORD', 'example-password-not-secret'),
    secondKey: null,
    app,
  })),
  /** Nobody has to say who he is. */
  open: (config: ServiceConfig): ServiceConfig => ({ ...config, credentials: { scheme: 'none' } }),
  /** Each request signed by the application, whose WebSocket speaks the Pusher protocol. */
  signed: (config: ServiceConfig): ServiceConfig => {
    const app = applicationOf(config);
    return { ...pusher(config), credentials: { scheme: 'signed', secondKey: null, app } };
  },
  pusher,
  /** The same, as if it were a dialect of the user's. */
  own: (config: ServiceConfig): ServiceConfig => {
    const { websocket, ...rest } = pusher(config);
    const adapter = fileURLToPath(new URL('fixtures/own-dialect.ts', import.meta.url));
    return {
      ...rest,
      websocket: websocket && { ...websocket, dialect: 'own', adapter, credential: { in: 'none' } },
    };
  },
  /** The handshake carries the key elsewhere than other requests do. */
  'key in subprotocol': inHandshake({ in: 'subprotocol', prefix: 'bearer.', encoding: 'base64url' }),
  'key in token': inHandshake({ in: 'query', name: 'token' }),
  /** Signed handshakes at an address that echoes. */
  'signed socket': (config: ServiceConfig): ServiceConfig => ({
    ...config,
    credentials: { scheme: 'signed', secondKey: null, app: applicationOf(config) },
  }),
  /** A bad credential has a close code of its own. */
  'close code': ({ websocket, ...config }: ServiceConfig): ServiceConfig => ({
    ...config,
    websocket: websocket && { ...websocket, refusalCode: 4401 },
  }),
  /** A silent connection must last. */
  idle: ({ websocket, ...config }: ServiceConfig): ServiceConfig => ({
    ...config,
    websocket: websocket && { ...websocket, keepsIdleMs: 1_200 },
  }),
  /** Pages of one origin alone may connect. */
  origin: ({ websocket, ...config }: ServiceConfig): ServiceConfig => ({
    ...config,
    websocket: websocket && { ...websocket, origin: 'https://app.example' },
  }),
} satisfies Record<string, Adapt>;

/** What a service config says otherwise than the shipped one; null where it says the same. */
export const SETTING_IN_WORDS: Readonly<Record<Setting, string | null>> = {
  bearer: null,
  header: 'credentials: { scheme: header, name: X-API-Key }',
  query: 'credentials: { scheme: query, name: api_key }',
  basic: 'credentials: { scheme: basic }',
  open: 'credentials: { scheme: none }',
  signed: 'credentials: { scheme: signed } and websocket: { dialect: pusher }',
  pusher: 'websocket: { dialect: pusher }',
  own: 'websocket: { dialect: a module of your own }',
  'key in subprotocol': 'websocket: { credential: { in: subprotocol, prefix: bearer. } }',
  'key in token': 'websocket: { credential: { in: query, name: token } }',
  'signed socket': 'credentials: { scheme: signed }',
  'close code': 'websocket: { refusalCode: 4401 }',
  idle: 'websocket: { keepsIdle: 1.2s }',
  origin: 'websocket: { origin: https://app.example }',
};

/** Deviations that are not seen under the shipped config, by their names. */
const SEEN_UNDER: readonly { readonly names: RegExp; readonly setting: Setting }[] = [
  { names: /^api-key-header$/, setting: 'header' },
  { names: /^query-key$/, setting: 'query' },
  { names: /^key-field-answer-cacheable$/, setting: 'header' },
  { names: /signature|^accepts-stale-timestamp$|^ignores-body-digest$/, setting: 'signed' },
  { names: /^pusher-/, setting: 'pusher' },
  { names: /^own-/, setting: 'own' },
  { names: /^ws-(takes-key-in|selects-key-as)-subprotocol$/, setting: 'key in subprotocol' },
  { names: /^ws-(takes-key-in-token|key-in-query-only)$/, setting: 'key in token' },
  { names: /^ws-closes-idle$/, setting: 'idle' },
  { names: /^ws-closes-(4401|with-other-code)$/, setting: 'close code' },
  { names: /^ws-accepts-any-origin$/, setting: 'origin' },
];

/** The setting for a deviation, or for several joined with `+`: that of the first one which has its own. */
export function settingFor(name: string): Setting {
  const parts = name.split('+');
  return SEEN_UNDER.find(({ names }) => parts.some((part) => names.test(part)))?.setting ?? 'bearer';
}
