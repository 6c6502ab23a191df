import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject, parseJson, parseJsonObject } from '../../../base/json-text.ts';
import { Secret } from '../../../base/secret.ts';
import { formEncoded } from '../../../base/text.ts';
import { Blocked } from '../../../base/verdict.ts';
import type { FieldLine } from '../../../wire/exchange.ts';
import { fieldValue, fieldValues } from '../../../wire/fields/grammar/field-grammar.ts';
import { bearerField, type Carrier, cookiePair, headerField, queryParameter } from '../carrier.ts';
import { isRedactable, issuedSecrets, TOKEN_LENGTH } from '../issued-secrets.ts';
import { addressFault } from '../key-address.ts';
import { APPLICATION, optional, REFUSED, secret, text, type Values } from '../keys.ts';
import {
  asksForBearer,
  type KeyFault,
  type KeyRequest,
  type Lender,
  type Obtained,
  type ObtainingPort,
  question,
  scheme,
  type TextValues,
  variable,
} from '../scheme.ts';

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const DEFAULT_BODY = '{"username":"{username}","password":"{password}"}';

const KEYS = {
  loginUrl: text(
    'Where to log in, by POST: a URL, or a path below the base URL of the service. Plain http is refused, except for this machine or with safety.plainHttp.',
    { expected: 'a URL such as https://login.example/session, or a path such as /login' },
  ),
  username: text('The user name.'),
  password: secret('The password.'),
  body: optional(
    text(
      `The body of the login request, as JSON or as a form, with {username} and {password} in it. Default: ${DEFAULT_BODY}`,
      { examples: ['{"email":"{username}","password":"{password}"}', 'user={username}&pass={password}'] },
    ),
  ),
  take: text('Where the answer has the key: a cookie, a header, or a member of its JSON by pointer.', {
    expected: 'cookie:NAME, header:NAME or json:/POINTER',
    examples: ['json:/token', 'cookie:session', 'header:X-Auth-Token'],
    pattern: `^((cookie|header):${TOKEN}|json:/.*)$`,
  }),
  send: optional(
    text(
      'Where the requests carry the key. bearer: Authorization: Bearer KEY. Default: the cookie that it was taken from, else bearer.',
      {
        expected: 'bearer, header:NAME, query:NAME or cookie:NAME',
        examples: ['bearer', 'header:X-Auth-Token'],
        pattern: `^(bearer|(header|query|cookie):${TOKEN})$`,
      },
    ),
  ),
  refused: REFUSED,
  app: optional(APPLICATION),
};

type Login = Values<typeof KEYS>;

const ASKS = {
  url: question('login-url', 'URL of the login, or its path below the base URL', '/login'),
  take: question(
    'login-take',
    'Where its answer has the key (json:/POINTER, cookie:NAME, header:NAME)',
    'json:/token',
  ),
  user: variable('login-user-env', 'Environment variable with the user name', 'SERVICE_USER'),
  password: variable('login-password-env', 'Environment variable with the password', 'SERVICE_PASSWORD'),
};

/** A key that a service issues for a user name and a password. */
export const login = scheme({
  name: 'login',
  summary: 'a key that a login issues for a user name and a password',
  keys: KEYS,
  fault: faultIn,
  sentTo: ({ loginUrl }) => (loginUrl.startsWith('/') ? null : loginUrl),
  use: (values) => ({ carrier: carrierOf(values) }),
  opener: ({ password }) => ({ called: 'password', secret: password }),
  obtain: keyFor,
  opens(demand, { take, send }) {
    if (take === undefined) return demand.type === 'apiKey' || asksForBearer(demand);
    const { word, in: place, name } = carrierOf({ take, send: send ?? null });
    if (word !== null) return asksForBearer(demand);
    if (demand.type !== 'apiKey' || demand.in !== place) return false;
    return place === 'header' ? demand.name.toLowerCase() === name?.toLowerCase() : demand.name === name;
  },
  first: {
    asks: Object.values(ASKS),
    lines: (answers) => [
      `loginUrl: ${JSON.stringify(answers[ASKS.url.option] ?? '')}`,
      `username: \${env:${answers[ASKS.user.option]}}`,
      `password: \${env:${answers[ASKS.password.option]}} # read when a run starts, never stored`,
      `# body: '${DEFAULT_BODY}' # or a form: user={username}&pass={password}`,
      `take: ${JSON.stringify(answers[ASKS.take.option] ?? '')} # also: cookie:NAME, header:NAME`,
      '# send: header:X-Auth-Token # else bearer, or the cookie that it was taken from',
    ],
  },
  lender,
  command: printed,
  proof: {
    setting: 'login',
    words: 'credentials: { scheme: login }',
    conforming: ['search', 'realtime'],
    moreRequests: 6,
    values: ({ app }) => ({
      loginUrl: '/login',
      username: 'example-user',
      password: new Secret('EXAMPLE_PASSWORD', 'example-password-not-secret'),
      take: 'json:/session/token',
      app,
    }),
  },
});

function faultIn({ loginUrl, body, take }: TextValues<typeof KEYS>): KeyFault | null {
  const address = addressFault('loginUrl', loginUrl, '/login');
  if (address !== null) return address;
  const remedy = `write one such as ${DEFAULT_BODY}`;
  if (body !== null && !body.includes('{password}'))
    return { key: 'body', problem: 'has no {password}', remedy };
  if (body !== null && isJson(body) && parseJson(filled(body, 'u', 'p')) === undefined)
    return { key: 'body', problem: 'is no JSON', remedy };
  if (take.startsWith('json:') && /~(?![01])/.test(take))
    return { key: 'take', problem: 'is no JSON pointer', remedy: 'write ~0 for ~ and ~1 for /' };
  return null;
}

const isJson = (body: string) => /^\s*\{/.test(body);

/** The body with both values, escaped as JSON or as a form asks for. */
function filled(body: string, username: string, password: string): string {
  const escaped = isJson(body) ? (value: string) => JSON.stringify(value).slice(1, -1) : formEncoded;
  const values: Readonly<Record<string, string>> = { username, password };
  return body.replaceAll(/\{(username|password)\}/g, (_, name: string) => escaped(values[name] ?? ''));
}

function placeOf(written: string): readonly [place: string, name: string] {
  const colon = written.indexOf(':');
  return colon === -1 ? [written, ''] : [written.slice(0, colon), written.slice(colon + 1)];
}

function carrierOf({ take, send }: Pick<TextValues<typeof KEYS>, 'take' | 'send'>): Carrier {
  const [place, name] = placeOf(send ?? (take.startsWith('cookie:') ? take : 'bearer'));
  if (place === 'header') return headerField(name);
  if (place === 'query') return queryParameter(name);
  return place === 'cookie' ? cookiePair(name) : bearerField;
}

interface IssuedKey {
  readonly value: string;
  /** Seconds of validity; null if the answer does not say. */
  readonly seconds: number | null;
}

/** @throws Blocked with a sentence for the author of the config. */
async function keyFor(values: Login, port: ObtainingPort): Promise<Obtained> {
  const { loginUrl, password, take } = values;
  const read: { key: IssuedKey | null } = { key: null };
  const { response, failure } = await port.post(loginRequest(values), (content, fields) => {
    read.key = issuedKey(take, content, fields);
    const issued = issuedSecrets(content);
    return issued && [...keySecrets(read.key), ...cookieSecrets(fields), ...issued];
  });
  const unavailable = (why: string) =>
    new Blocked(`no key could be had from ${loginUrl} (credentials.loginUrl): ${why}`);
  if (failure !== null || response === null) throw unavailable(failure?.message ?? 'no response');
  const { status } = response;
  if (REFUSALS.includes(status))
    throw new Blocked(
      `the password in ${password.place} is refused by ${loginUrl} (${status}); check credentials.username and credentials.body as well`,
    );
  if (status < 200 || status >= 400) throw unavailable(`it answered ${status}`);
  if (read.key === null) throw unavailable(`its answer (${status}) has no ${take} (credentials.take)`);
  const { value, seconds } = read.key;
  if (!/^[\x21-\x7e]+$/.test(value)) throw unavailable('its key holds characters that no header can carry');
  if (!isRedactable(value))
    throw unavailable(
      `its key has ${value.length} characters; from ${TOKEN_LENGTH.least} to ${TOKEN_LENGTH.most} it could be kept out of reports`,
    );
  return { key: new Secret(KEY_NAME, value), forMs: seconds === null ? null : seconds * 1000 };
}

const KEY_NAME = 'SESSION_KEY';
/** By which a login says that it does not know the user. */
const REFUSALS: readonly number[] = [400, 401, 403, 422];

function loginRequest({ loginUrl, username, password, body }: Login): KeyRequest {
  const template = body ?? DEFAULT_BODY;
  const type = isJson(template) ? 'application/json' : 'application/x-www-form-urlencoded';
  return {
    url: loginUrl,
    purpose: 'to log in',
    fields: [
      ['Accept', 'application/json, */*;q=0.5'],
      ['Content-Type', type],
    ],
    body: filled(template, username, password.reveal()),
  };
}

function issuedKey(take: string, content: string, fields: readonly FieldLine[]): IssuedKey | null {
  const [place, name] = placeOf(take);
  if (place === 'cookie') return cookiesIn(fields).findLast((cookie) => cookie.name === name) ?? null;
  if (place === 'header') {
    const value = fieldValue(fields, name)?.replace(/^Bearer +/i, '') ?? '';
    return value === '' ? null : { value, seconds: null };
  }
  const answer = parseJsonObject(content);
  const value = answer && memberAt(answer, name);
  if (typeof value !== 'string' || value === '') return null;
  const seconds = Number(answer?.expires_in);
  return { value, seconds: seconds > 0 ? seconds : null };
}

/** RFC 6901. */
function pathOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function memberAt(answer: JsonObject, pointer: string): unknown {
  return pathOf(pointer).reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)];
    return isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }, answer);
}

/** RFC 6265 §5.2. */
function cookiesIn(fields: readonly FieldLine[]): readonly (IssuedKey & { readonly name: string })[] {
  return fieldValues(fields, 'set-cookie').flatMap((line) => {
    const [pair = '', ...attributes] = line.split(';');
    const equals = pair.indexOf('=');
    const value = pair.slice(equals + 1).trim();
    if (equals < 1 || value === '') return [];
    const age = attributes.map((each) => /^\s*max-age=(\d{1,10})\s*$/i.exec(each)?.[1]).find(Boolean);
    return [{ name: pair.slice(0, equals).trim(), value, seconds: Number(age) || null }];
  });
}

/** Shorter texts stand in too many other places. */
const SHORTEST = 4;

function keySecrets(key: IssuedKey | null): readonly Secret[] {
  return key === null || key.value.length < SHORTEST ? [] : [new Secret(KEY_NAME, key.value)];
}

/** A login may set further cookies that open the service, such as one that renews the session. */
function cookieSecrets(fields: readonly FieldLine[]): readonly Secret[] {
  return cookiesIn(fields).flatMap(({ value }) =>
    isRedactable(value) ? [new Secret('LOGIN_COOKIE', value)] : [],
  );
}

/** A command that logs in and prints the key. */
function printed(values: Login, url: string, shown: (secret: Secret) => string): string {
  const { loginUrl, username, password, body, take } = values;
  const template = body ?? DEFAULT_BODY;
  const [place, name] = placeOf(take);
  const inQuotes = (text: string) => text.replaceAll(/["\\$`]/g, '\\$&');
  const content = template
    .split('{password}')
    .map((part) => inQuotes(filled(part.replaceAll('{username}', username), '', '')))
    .join(shown(password));
  const type = isJson(template) ? ' -H "Content-Type: application/json"' : '';
  // Within single quotes of a shell.
  const literal = (text: string) => text.replaceAll(/[.*^$[\]\\/]/g, '\\$&').replaceAll("'", "'\\''");
  const printing: Readonly<Record<string, string>> = {
    cookie: `-o /dev/null -D - | sed -n 's/^[Ss]et-[Cc]ookie: ${literal(name)}=\\([^;]*\\).*/\\1/p'`,
    header: `-o /dev/null -D - | tr -d '\\r' | sed -n 's/^${literal(name)}: \\(Bearer \\)*//Ip'`,
    json: `| sed 's/.*"${literal(pathOf(name).at(-1) ?? '')}":"\\([^"]*\\)".*/\\1/'`,
  };
  const address = loginUrl.startsWith('/') ? `${url}${loginUrl}` : loginUrl;
  return `curl -s${type} -d "${content}" "${address}" ${printing[place]}`;
}

/** Validity of a key of the reference provider, in seconds: less than a proof takes. */
const LENT_S = 120;

/** A login for one user. */
function lender({ loginUrl, username, password, body, take }: Login): Lender {
  const right = filled(body ?? DEFAULT_BODY, username, password.reveal());
  const same = (given: string) =>
    isJson(right) ? JSON.stringify(parseJson(given)) === JSON.stringify(parseJson(right)) : given === right;
  const refusal = (status: number, error: string, ...fields: FieldLine[]) => {
    return { status, fields, content: { error }, key: null };
  };
  return {
    path: loginUrl.startsWith('/') ? loginUrl : new URL(loginUrl).pathname,
    lend({ method, body: given }) {
      if (method !== 'POST') return refusal(405, 'method not allowed', ['Allow', 'POST']);
      if (!same(given)) return refusal(401, 'unknown user', ['WWW-Authenticate', 'Login realm="login"']);
      const value = randomBytes(24).toString('base64url');
      const [place, name] = placeOf(take);
      const member = pathOf(place === 'json' ? name : '').reduceRight<unknown>(
        (inner, part) => ({ [part]: inner }),
        value,
      );
      const lines: Readonly<Record<string, readonly FieldLine[]>> = {
        cookie: [['Set-Cookie', `${name}=${value}; Max-Age=${LENT_S}; HttpOnly`]],
        header: [[name, value]],
      };
      return {
        status: 200,
        fields: lines[place] ?? [],
        content: { ...(isJsonObject(member) ? member : { user: username }), expires_in: LENT_S },
        key: { value, forMs: LENT_S * 1000 },
      };
    },
  };
}
