import type { ClauseValue } from '../../base/clause.ts';
import { HarnessError } from '../../base/exit.ts';
import type { Secret } from '../../base/secret.ts';
import type { ClauseKey } from '../../base/vocabulary.ts';
import type { Exchange, FieldLine } from '../../wire/exchange.ts';
import type { Carrier } from './carrier.ts';
import type { AppCredentials, KEYED, Key, RefusedKey, SchemeKeys, Values } from './keys.ts';

export interface FirstUse {
  readonly asks: readonly Question[];
  /** Lines below `scheme:`, of the answers by their options. */
  lines(answers: Answers): readonly string[];
  /** Lines beside `credentials:`; `path` makes a path as the file has it of one that was answered. */
  beside?(answers: Answers, path: (answered: string) => string): readonly string[];
}

export interface Question {
  readonly option: string;
  readonly question: string;
  /** Suggested; `SERVICE` stands for the name of the service in capitals. */
  readonly fallback: string;
  /** The answer is the name of an environment variable. */
  readonly variable: boolean;
}

export type Answers = Readonly<Record<string, string>>;

/** A question whose answer stands in the config. */
export function question(option: string, text: string, fallback: string): Question {
  return { option, question: text, fallback, variable: false };
}

/** A question for the name of an environment variable. */
export function variable(option: string, text: string, fallback: string): Question {
  return { option, question: text, fallback, variable: true };
}

const KEY_VARIABLE = variable('key-env', 'Environment variable with the key', 'SERVICE_API_KEY');

/** The lines of a scheme that rests on one secret, of the name of the variable that holds it. */
export function ofOneVariable(lines: (variable: string) => readonly string[]): FirstUse {
  return { asks: [KEY_VARIABLE], lines: (answers) => lines(answers[KEY_VARIABLE.option] ?? '') };
}

/** The lines of a scheme whose key stands under a name of the service's own. */
export function ofNamedKey(text: string, fallback: string): FirstUse {
  return {
    asks: [question('key-name', text, fallback), KEY_VARIABLE],
    lines: (answers) => [
      `name: ${JSON.stringify(answers['key-name'])} # ${text.toLowerCase()}`,
      ...keyLines(answers[KEY_VARIABLE.option] ?? ''),
    ],
  };
}

export function keyLines(variable: string): readonly string[] {
  return [
    `key: \${env:${variable}} # read when a run starts, never stored`,
    `secondKey: \${env:${variable}_2:-} # optional: shows whether a limit counts for each key`,
  ];
}

/** One way of letting a client in: all that the house knows of it. */
export interface Scheme<K extends SchemeKeys = SchemeKeys> extends Declaration<K> {
  /** A credential of this scheme with these values; optional ones may be left out. */
  of(given: SchemeValues<K>): Credentials;
}

/** Credentials of a client. Other rooms ask here for their properties, never by the scheme's name. */
export interface Credentials extends Use {
  readonly scheme: Scheme;
  /** Values of the config: texts, secrets, an application; null if left out. */
  readonly values: Readonly<Record<string, unknown>>;
  /** A second working key, for per-key limits and isolation. */
  readonly second: Secret | null;
  readonly refused: readonly RefusedKey[];
  /** Signs requests and subscriptions: in place of a key, or beside it. */
  readonly app: AppCredentials | null;
  /** Obtains the secret; null where it stands in the config. */
  readonly obtain: ((port: ObtainingPort) => Promise<Obtained>) | null;
  readonly lender: Lender | null;
  /** Requests for a key that the issuer must refuse, or answer truly; null if none are known. */
  readonly trials: (() => Readonly<Record<KeyTrialName, KeyRequest>>) | null;
  /** It is issued by a server other than the service. */
  readonly isLentElsewhere: boolean;
  /** What the user gave, and where: `key in SEARCH_API_KEY`; null if no credential is needed. */
  readonly given: string | null;
  /** A shell command that prints an obtained key, for a service at this URL; `shown` makes a word of a secret. */
  readonly command: ((url: string, shown: (secret: Secret) => string) => string) | null;
}

interface Use {
  /** Where it is sent; null if no credential is needed. */
  readonly carrier: Carrier | null;
  /** What travels there, or signs; null when there is none, and while it is yet to be obtained. */
  readonly secret: Secret | null;
}

interface Declaration<K extends SchemeKeys> {
  readonly name: string;
  /** How a credential of it is used, for the schema: `Authorization: Bearer KEY`. */
  readonly summary: string;
  /** Its keys below `credentials:`, beside `scheme`. `key`, `secondKey`, `refused` and `app` mean the same in every scheme. */
  readonly keys: K;
  readonly open?: true;
  /** What lets a client in is the certificate of its connections. */
  readonly byCertificate?: true;
  /** What cannot be said of one key's shape; asked before any secret is read. */
  fault?(texts: TextValues<K>): KeyFault | null;
  /** `key` in its carrier, where nothing is said of a secret. */
  use(values: Values<K>): Partial<Use>;
  /** What opens the service, and what a user calls it. The key, when left out. */
  opener?(values: Values<K>): { readonly called: string; readonly secret: Secret };
  /** Where its secrets are sent beside the service; null for nowhere. */
  sentTo?(texts: TextValues<K>): string | null;
  obtain?(values: Values<K>, port: ObtainingPort): Promise<Obtained>;
  /** Clauses that it settles beside the scheme, the placement and the name. */
  readonly facts?: Readonly<Partial<Record<ClauseKey, ClauseValue>>>;
  /** Whether it is what a security scheme of an OpenAPI document asks for. */
  opens(demand: SecurityScheme, written: WrittenPlaces): boolean;
  /** Whether such a document asks for it first, where others open what it demands as well. */
  isMeant?(demand: SecurityScheme): boolean;
  readonly first: FirstUse;
  trials?(values: Values<K>): Readonly<Record<KeyTrialName, KeyRequest>>;
  /** How the reference provider issues the credentials. */
  lender?(values: Values<K>): Lender;
  command?(values: Values<K>, url: string, shown: (secret: Secret) => string): string;
  readonly proof: ProofSetting<K>;
}

/** Values of the config that say where the key travels; undefined if not written. */
export interface WrittenPlaces {
  readonly name?: string | undefined;
  readonly take?: string | undefined;
  readonly send?: string | null | undefined;
}

/** A fault of a value below `credentials:`, and its remedy. */
export interface KeyFault {
  readonly key: string;
  readonly problem: string;
  readonly remedy: string;
}

export type TextValues<K extends SchemeKeys> = {
  readonly [Name in keyof K as K[Name] extends Key<string | null> ? Name : never]: Values<K>[Name];
};

type SchemeValues<K extends SchemeKeys> = {
  readonly [Name in keyof K as null extends Values<K>[Name] ? never : Name]: Values<K>[Name];
} & { readonly [Name in keyof K as null extends Values<K>[Name] ? Name : never]?: Values<K>[Name] };

/** A security scheme object of an OpenAPI document (OpenAPI 3.1 §4.8.27); '' for what it does not say. */
export interface SecurityScheme {
  readonly type: string;
  /** In lower case. */
  readonly scheme: string;
  readonly in: string;
  readonly name: string;
  /** Of the flow for the client itself (client credentials). */
  readonly tokenUrl: string;
  readonly openIdConnectUrl: string;
}

export interface Obtained {
  readonly key: Secret;
  /** Milliseconds of validity, counted from the request for it; null if unknown. */
  readonly forMs: number | null;
}

/** What is wrong with a request for a key. */
export type KeyTrialName = 'wrong-secret' | 'wrong-client' | 'unknown-scope' | 'unknown-grant' | 'by-get';

/** A scope of no service. */
export const UNKNOWN_SCOPE = 'conform:no-such-scope';

export interface KeyRequest {
  /** Default: POST. */
  readonly method?: 'GET';
  /** Absolute, or a path below the base address of the service. */
  readonly url: string;
  readonly fields: readonly FieldLine[];
  readonly body: string;
  /** For the evidence: `for an access token`. */
  readonly purpose: string;
}

export interface ObtainingPort {
  /** Posts and records. `secretsIn` names secrets in the response first; null: its content is not recorded. */
  post(
    request: KeyRequest,
    secretsIn: (content: string, fields: readonly FieldLine[]) => readonly Secret[] | null,
  ): Promise<Exchange>;
}

/** An address of the reference provider where keys are given out. */
export interface Lender {
  readonly path: string;
  lend(request: { readonly method: string; readonly fields: readonly FieldLine[]; readonly body: string }): {
    readonly status: number;
    readonly fields: readonly FieldLine[];
    readonly content: object;
    /** The issued key and the milliseconds for which it is valid; null if the request was refused. */
    readonly key: { readonly value: string; readonly forMs: number } | null;
  };
}

/** The config under which the proof judges services that are called so. */
interface ProofSetting<K extends SchemeKeys> {
  readonly setting: string;
  /** What it says otherwise than the shipped configs; null where it says the same. */
  readonly words: string | null;
  /** The reference services that conform under it. */
  readonly conforming: readonly ('search' | 'realtime')[];
  /** Number of further requests, such as those with forged tokens; absent for none. */
  readonly moreRequests?: number;
  /** A refusal comes otherwise under it, so that defects of the way in trip something else. */
  readonly isRefusedOtherwise?: true;
  /** Made of the credentials of the shipped config, which is for a bearer key. */
  values(shipped: Credentials): SchemeValues<K>;
}

/** A scheme as it is declared, with what follows from that. */
export function scheme<K extends SchemeKeys>(declaration: Declaration<K>): Scheme<K> {
  const made: Scheme<K> = {
    ...declaration,
    of(given) {
      const left = Object.fromEntries(Object.keys(declaration.keys).map((name) => [name, null]));
      const values: Readonly<Record<string, unknown>> & CommonValues = { ...left, ...given };
      const { key: secret = null, secondKey: second = null, refused, app = null } = values;
      const known = values as Values<K>;
      const { obtain, trials, lender, command } = declaration;
      const opener = declaration.opener?.(known) ?? (secret && { called: 'key', secret });
      return {
        scheme: made,
        values,
        carrier: null,
        secret,
        second,
        refused: refused ?? [],
        app,
        given: opener && `${opener.called} in ${opener.secret.place}`,
        obtain: obtain ? (port) => obtain(known, port) : null,
        lender: lender?.(known) ?? null,
        trials: trials ? () => trials(known) : null,
        isLentElsewhere: (declaration.sentTo?.(known as unknown as TextValues<K>) ?? null) !== null,
        command: command ? (url, shown) => command(known, url, shown) : null,
        ...made.use(known),
      };
    },
  };
  return made;
}

interface CommonValues {
  readonly key?: Secret | null;
  readonly secondKey?: Secret | null;
  readonly refused?: readonly RefusedKey[] | null;
  readonly app?: AppCredentials | null;
}

/** The key of the shipped config, with the keys next to it. */
export function shippedKey({ secret, second, refused, app }: Credentials): Values<typeof KEYED> {
  if (secret === null) throw new HarnessError('the shipped config has no key');
  return { key: secret, secondKey: second, refused, app };
}

export function shippedApp({ app }: Credentials): AppCredentials {
  if (app === null) throw new HarnessError('the shipped config has no application');
  return app;
}

/** How credentials in Authorization were written before OpenAPI had a word for them. */
export function isAuthorizationKey({ type, in: place, name }: SecurityScheme): boolean {
  return type === 'apiKey' && place === 'header' && name.toLowerCase() === 'authorization';
}

/** OAuth 2.0 access tokens are bearer tokens (RFC 6750). */
export function asksForBearer(demand: SecurityScheme): boolean {
  const { type, scheme: word } = demand;
  if (type === 'http') return word === 'bearer';
  return /^(?:oauth2|openIdConnect)$/.test(type) || isAuthorizationKey(demand);
}
