import { randomBytes } from 'node:crypto';
import { type JsonObject, parseJsonObject } from '../../../base/json-text.ts';
import { Secret } from '../../../base/secret.ts';
import { formEncoded } from '../../../base/text.ts';
import { Blocked } from '../../../base/verdict.ts';
import type { Exchange, FieldLine } from '../../../wire/exchange.ts';
import { fieldValue } from '../../../wire/fields/grammar/field-grammar.ts';
import { visible } from '../../../wire/octets/utf8.ts';
import { bearerField } from '../carrier.ts';
import { isRedactable, issuedSecrets, TOKEN_LENGTH } from '../issued-secrets.ts';
import { writtenToken } from '../json-web-token.ts';
import { addressFault } from '../key-address.ts';
import { APPLICATION, optional, REFUSED, secret, text, type Values } from '../keys.ts';
import {
  asksForBearer,
  type KeyFault,
  type KeyRequest,
  type KeyTrialName,
  type Lender,
  type Obtained,
  type ObtainingPort,
  question,
  scheme,
  type TextValues,
  UNKNOWN_SCOPE,
  variable,
} from '../scheme.ts';

const KEYS = {
  tokenUrl: text(
    'Where to get a token: a URL, or a path below the base URL of the service. Plain http is refused, except for this machine or with safety.plainHttp.',
    { expected: 'a URL such as https://login.example/oauth/token, or a path such as /oauth/token' },
  ),
  clientId: text('The client identifier, which is public.'),
  clientSecret: secret('The client secret.'),
  clientAuthentication: optional(
    text(
      'Where the client puts its id and secret. basic: in the Authorization header. post: in the request body. Default: basic.',
      { expected: 'basic or post', examples: ['basic', 'post'], pattern: '^(basic|post)$' },
    ),
  ),
  scope: optional(text('The scopes to ask for, with a space between them.', { examples: ['read write'] })),
  audience: optional(text('The service that the token is for, if the issuer asks for an audience.')),
  resource: optional(
    text('The URL of the service that the token is for (RFC 8707).', { examples: ['https://api.example/'] }),
  ),
  refused: REFUSED,
  app: optional(APPLICATION),
};

type Client = Values<typeof KEYS>;

const URL_OF_TOKENS = 'URL of the tokens, or its path below the base URL';
const VARIABLE = 'Environment variable with the client';
const ASKS = {
  url: question('token-url', URL_OF_TOKENS, '/oauth/token'),
  id: variable('client-id-env', `${VARIABLE} id`, 'SERVICE_CLIENT_ID'),
  secret: variable('client-secret-env', `${VARIABLE} secret`, 'SERVICE_CLIENT_SECRET'),
};

/** An access token for the client itself (RFC 6749 §4.4), sent as a bearer token (RFC 6750). */
export const oauth2 = scheme({
  name: 'oauth2',
  summary: 'a token for the client, obtained with its id and secret, as Authorization: Bearer TOKEN',
  keys: KEYS,
  fault: faultIn,
  sentTo: ({ tokenUrl }) => (tokenUrl.startsWith('/') ? null : tokenUrl),
  use: () => ({ carrier: bearerField }),
  opener: ({ clientSecret }) => ({ called: 'client secret', secret: clientSecret }),
  obtain: tokenFor,
  facts: { 'auth.sample': { field: 'Authorization', value: 'Bearer <ACCESS_TOKEN>' } },
  opens: asksForBearer,
  isMeant: ({ type, tokenUrl }) => type === 'openIdConnect' || (type === 'oauth2' && tokenUrl !== ''),
  first: {
    asks: Object.values(ASKS),
    lines: (answers) => [
      `tokenUrl: ${JSON.stringify(answers[ASKS.url.option] ?? '')}`,
      `clientId: \${env:${answers[ASKS.id.option]}}`,
      `clientSecret: \${env:${answers[ASKS.secret.option]}} # read when a run starts, never stored`,
      '# scope: read write # also: audience, resource; clientAuthentication: post',
    ],
  },
  trials,
  lender,
  command: ({ tokenUrl, clientId, clientSecret }, url, shown) =>
    `curl -s -u "${clientId}:${shown(clientSecret)}" -d grant_type=client_credentials "${url}${tokenUrl}" | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'`,
  proof: {
    setting: 'oauth2',
    words: 'credentials: { scheme: oauth2 }',
    conforming: ['search', 'realtime'],
    moreRequests: 12,
    values: ({ app }) => ({
      tokenUrl: '/oauth/token',
      clientId: 'example-client',
      clientSecret: new Secret('EXAMPLE_CLIENT_SECRET', 'example-client-secret-not-secret'),
      app,
    }),
  },
});

function faultIn({ tokenUrl, clientId, scope, resource }: TextValues<typeof KEYS>): KeyFault | null {
  const fault = (key: string, problem: string, remedy: string) => ({ key, problem, remedy });
  const address = addressFault('tokenUrl', tokenUrl, '/oauth/token');
  if (address !== null) return address;
  // RFC 6749 §A.1, §3.3; RFC 8707 §2.
  if (!/^[\x20-\x7e]+$/.test(clientId))
    return fault('clientId', 'holds characters that are not ASCII', 'correct it');
  if (scope !== null && !/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(scope))
    return fault('scope', 'is no list of scopes', 'write them with one space between them: read write');
  if (resource !== null && (!URL.canParse(resource) || resource.includes('#')))
    return fault('resource', 'is no URL without a fragment', 'write a URL such as https://api.example/');
  return null;
}

/** @throws Blocked with a sentence for the author of the config. */
async function tokenFor(client: Client, port: ObtainingPort): Promise<Obtained> {
  const { tokenUrl } = client;
  const read: { token: AccessToken | string } = { token: 'its answer could not be read' };
  const exchange = await port.post(tokenRequest(client), (content) => {
    if (content !== '') read.token = readToken(content);
    return issuedSecrets(content);
  });
  const { response } = exchange;
  if (response !== null && isRefusal(response)) throw new Blocked(clientRefused(client, response));
  const token = whyNone(exchange) ?? read.token;
  if (typeof token === 'string')
    throw new Blocked(`no access token could be had from ${tokenUrl} (credentials.tokenUrl): ${token}`);
  const { value, expiresIn } = token;
  return { key: new Secret('ACCESS_TOKEN', value), forMs: expiresIn === null ? null : expiresIn * 1000 };
}

/** RFC 6749 §4.4.2, with client authentication by §2.3.1. */
function tokenRequest(client: Client): KeyRequest {
  const { tokenUrl, clientId, clientSecret, clientAuthentication, scope, audience, resource } = client;
  const posted = clientAuthentication === 'post';
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  for (const [name, value] of Object.entries({ scope, audience, resource })) {
    if (value !== null) body.set(name, value);
  }
  if (posted) {
    body.set('client_id', clientId);
    body.set('client_secret', clientSecret.reveal());
  }
  const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret.reveal())}`;
  return {
    url: tokenUrl,
    purpose: 'for an access token',
    fields: [
      ['Accept', 'application/json'],
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ...(posted ? [] : [['Authorization', `Basic ${Buffer.from(pair).toString('base64')}`] as const]),
    ],
    body: body.toString(),
  };
}

/** Of no client. */
const MADE_UP = 'conform-no-such-client';

/** The secret is made up wherever it is to be wrong. */
function trials(client: Client): Readonly<Record<KeyTrialName, KeyRequest>> {
  const request = tokenRequest(client);
  const wrong = new Secret('WRONG_SECRET', 'conform-sends-a-wrong-secret');
  const other = (name: string, value: string) => {
    const body = new URLSearchParams(request.body);
    body.set(name, value);
    return body.toString();
  };
  return {
    'wrong-secret': {
      ...tokenRequest({ ...client, clientSecret: wrong }),
      purpose: 'for an access token with a wrong client secret',
    },
    'wrong-client': {
      ...tokenRequest({ ...client, clientId: MADE_UP, clientSecret: wrong }),
      purpose: 'for an access token as an unknown client',
    },
    'unknown-scope': {
      ...request,
      body: other('scope', UNKNOWN_SCOPE),
      purpose: 'for an access token with an unknown scope',
    },
    'unknown-grant': {
      ...request,
      body: other('grant_type', 'conform_no_such_grant'),
      purpose: 'for an access token by an unknown grant type',
    },
    // Nothing secret stands in the query.
    'by-get': {
      ...tokenRequest({ ...client, clientAuthentication: null }),
      url: `${client.tokenUrl}${client.tokenUrl.includes('?') ? '&' : '?'}grant_type=client_credentials`,
      body: '',
      method: 'GET',
      purpose: 'for an access token by GET',
    },
  };
}

interface AccessToken {
  readonly value: string;
  /** In seconds; null if the issuer does not say. */
  readonly expiresIn: number | null;
}

/** RFC 6749 §5.1. If it is no token, the reason as text. */
function readToken(content: string): AccessToken | string {
  const answer = parseJsonObject(content);
  if (answer === null) return 'its answer is no JSON object';
  const { access_token: value, token_type: type, expires_in: seconds } = answer;
  if (typeof value !== 'string' || value === '') return 'its answer has no access_token';
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    return `its answer has the token_type ${visible(JSON.stringify(type) ?? 'of nothing', 40)}, and only Bearer can be sent`;
  if (!/^[\x21-\x7e]+$/.test(value)) return 'its access_token holds characters that no header can carry';
  if (!isRedactable(value))
    return `its access_token has ${value.length} characters; from ${TOKEN_LENGTH.least} to ${TOKEN_LENGTH.most} it could be kept out of reports`;
  const expiresIn = Number(seconds);
  return { value, expiresIn: expiresIn > 0 ? expiresIn : null };
}

/** What the user can do about an error of RFC 6749 §5.2. */
const REMEDIES: Readonly<Record<string, string>> = {
  unsupported_grant_type: 'credentials.tokenUrl',
  invalid_scope: 'credentials.scope',
  invalid_target: 'credentials.resource and credentials.audience',
};

/** RFC 6749 §5.2: what the client has said of itself is not taken. */
const CLIENT_REFUSED: ReadonlySet<unknown> = new Set(['invalid_client', 'unauthorized_client']);

type Response = NonNullable<Exchange['response']>;

function errorIn({ body }: Response): JsonObject {
  return parseJsonObject(Buffer.from(body.bytes).toString('utf8')) ?? {};
}

function isRefusal(response: Response): boolean {
  return response.status === 401 || (response.status === 400 && CLIENT_REFUSED.has(errorIn(response).error));
}

function clientRefused({ tokenUrl, clientSecret }: Client, response: Response): string {
  const { error } = errorIn(response);
  const answered = [response.status, ...(typeof error === 'string' ? [visible(error, 40)] : [])].join(', ');
  return `the client secret in ${clientSecret.place} is refused by ${tokenUrl} (${answered}); check credentials.clientId as well`;
}

/** Why the exchange yields no token whatever it holds; null where it may. Of the evidence, which is redacted. */
function whyNone({ response, failure }: Exchange): string | null {
  if (failure !== null || response === null) return failure?.message ?? 'no response';
  const { status, fields } = response;
  if (status >= 200 && status < 300) return null;
  const { error, error_description: description } = errorIn(response);
  const location = fieldValue(fields, 'location');
  const said = [error, description, status >= 300 && status < 400 ? location : undefined]
    .filter((part) => typeof part === 'string')
    .map((part) => visible(part, 200));
  const remedy = typeof error === 'string' && Object.hasOwn(REMEDIES, error) ? REMEDIES[error] : undefined;
  const answered = [`it answered ${status}`, ...said].join(', ');
  return remedy === undefined ? answered : `${answered}; check ${remedy}`;
}

/** For how long a token of the reference provider is good, in seconds: less than a proof takes. */
const LENT_S = 120;

/** A token endpoint for one client (RFC 6749 §3.2). Its tokens look like those that are signed (RFC 7519). */
function lender({ tokenUrl, clientId, clientSecret, scope }: Client): Lender {
  const refusal = (status: number, error: string, ...fields: FieldLine[]) => {
    return { status, fields, content: { error }, key: null };
  };
  return {
    path: tokenUrl.startsWith('/') ? tokenUrl : new URL(tokenUrl).pathname,
    lend({ method, fields, body }) {
      if (method !== 'POST') return refusal(405, 'invalid_request', ['Allow', 'POST']);
      const form = new URLSearchParams(body);
      const [, token = ''] = /^Basic +(\S+)$/i.exec(fieldValue(fields, 'authorization') ?? '') ?? [];
      const [id = '', given = ''] = Buffer.from(token, 'base64').toString().split(':', 2);
      const decoded = (text: string) => new URLSearchParams(`value=${text}`).get('value');
      const [client, password] =
        token === '' ? [form.get('client_id'), form.get('client_secret')] : [decoded(id), decoded(given)];
      if (client !== clientId || password !== clientSecret.reveal())
        return refusal(401, 'invalid_client', ['WWW-Authenticate', 'Basic realm="tokens"']);
      if (form.get('grant_type') !== 'client_credentials') return refusal(400, 'unsupported_grant_type');
      const asked = form.get('scope');
      if (asked !== null && asked !== scope) return refusal(400, 'invalid_scope');
      const claims = { sub: clientId, jti: randomBytes(9).toString('hex') };
      const value = writtenToken({ alg: 'HS256' }, claims, randomBytes(32));
      return {
        status: 200,
        fields: [],
        content: { access_token: value, token_type: 'Bearer', expires_in: LENT_S },
        key: { value, forMs: LENT_S * 1000 },
      };
    },
  };
}
