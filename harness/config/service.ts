import type { TSchema } from 'typebox';
import { type Clause, type ClauseValue, type Contract, findClause } from '../base/clause.ts';
import type { Secret } from '../base/secret.ts';
import type { ClauseKey } from '../base/vocabulary.ts';
import type { FixedHeader } from '../wire/request.ts';
import type { TlsConfig } from '../wire/socket/options.ts';
import type { Proxies } from '../wire/socket/proxies.ts';
import { DEPLOYED_VERSION, type DeployedVersion } from './blocks/deployed-version.ts';
import { CORS, type Fact } from './blocks/facts.ts';
import { HEADERS } from './blocks/headers.ts';
import { PLAN, type Plan, SAFETY, type Safety, TIMEOUTS, type Timeouts } from './blocks/limits.ts';
import { MAX_RESPONSE } from './blocks/response-time.ts';
import { RULES } from './blocks/rules.ts';
import { SIGNATURES, type SignatureKeys } from './blocks/signatures.ts';
import { HTTP2, TLS } from './blocks/tls.ts';
import { WEBHOOKS, type WebhooksConfig } from './blocks/webhooks.ts';
import { WEBSOCKET, type WebSocketConfig } from './blocks/websocket.ts';
import type { Credentials } from './credential/scheme.ts';
import { CREDENTIALS } from './credential/schemes.ts';
import type { DocumentRemark } from './document/source.ts';
import type { Operation } from './operation/call/call.ts';
import type { LeftOutOperation } from './operation/choice.ts';
import { COVERAGE_FLOOR, type CoverageFloor } from './operation/choice.ts';
import { EVENTS } from './operation/events.ts';
import { PARAMETERS } from './operation/given-values.ts';
import { OPERATIONS } from './operation/written.ts';
import { OWN_CHECKS, type OwnChecksFile } from './own/own-checks-block.ts';
import type { PactsConfig } from './pact/pacts.ts';
import { PACTS } from './pact/pacts-block.ts';
import { PROVIDER, type ProviderConfig } from './provider/provider.ts';
import { list, mapping, NAMES, name, named, needed, text } from './shape/kinds.ts';
import { faultsIn } from './shape/validation.ts';

export type { FurtherLimit, Plan, Safety } from './blocks/limits.ts';
export type { WebSocketConfig } from './blocks/websocket.ts';
export type {
  ConstraintTrial,
  DocumentedAnswer,
  ExpectedResponse,
  InputTrial,
  Operation,
  OperationRequest,
} from './operation/call/call.ts';
export type { ProviderConfig, ReferenceName } from './provider/provider.ts';

/** One deployment under test, loaded, validated and overlaid. Durations are milliseconds. */
export interface ServiceConfig {
  readonly service: string;
  readonly environment: string | null;
  readonly contract: Contract;
  readonly provider: ProviderConfig;
  readonly credentials: Credentials;
  readonly plan: Plan | null;
  readonly operations: readonly Operation[];
  /** Documented operations that this run leaves out; absent for none. */
  readonly leftOut?: readonly LeftOutOperation[];
  /** JSON Schemas that those of the operations refer to, by URI; of requests and of responses. */
  readonly definitions?: Readonly<Record<string, unknown>>;
  /** How much of the documented operations a run must exercise; absent if nothing is demanded. */
  readonly coverage?: CoverageFloor;
  /** Faults of the OpenAPI or AsyncAPI document itself; absent for none. */
  readonly documentRemarks?: readonly DocumentRemark[];
  /** Names of the requests that its document has it send; absent for none. */
  readonly documentedWebhooks?: readonly string[];
  readonly websocket: WebSocketConfig | null;
  /** Where it says which version of it is deployed; absent if unknown. */
  readonly deployedVersion?: DeployedVersion;
  /** Where the service may send events, and how one is brought about; absent where it is not known. */
  readonly webhooks?: WebhooksConfig;
  /** With which it signs its responses; absent where nothing is known of that. */
  readonly signatures?: SignatureKeys;
  /** Sent with every request to the service; absent for none. */
  readonly headers?: readonly FixedHeader[];
  /** Whom to trust, and the certificate to show; absent where nothing is said of it. */
  readonly tls?: TlsConfig;
  /** It is asked over HTTP/2; absent for HTTP/1.1, unless it speaks HTTP/2 alone. */
  readonly http2?: true;
  /** The proxies of the environment; absent for none. */
  readonly proxies?: Proxies;
  /** What its consumers expect of it; absent where no pact is known. */
  readonly pacts?: PactsConfig;
  /** Values of references in other places than secrets: kept out of all output. Absent for none. */
  readonly references?: readonly Secret[];
  readonly safety: Safety;
  readonly timeouts: Timeouts;
  /** The rule set that it is held to, with its date: `api@2026-11`. */
  readonly rules: string;
  /** Modules with checks of the user's own; absent for none. */
  readonly ownChecks?: readonly OwnChecksFile[];
  /** Clause keys whose fact this config fills in (`limits.rate` by `plan` …): authority as firm as a stated clause. */
  readonly facts: Readonly<Record<Clause['key'], Fact>>;
}

export const BLOCKS = {
  provider: needed(
    PROVIDER,
    'add `provider: { url: … }` or { reference: … }, or choose an environment that has one',
  ),
  credentials: needed(CREDENTIALS, 'add `credentials:`, with `scheme: none` if no credential is needed'),
  plan: PLAN,
  operations: OPERATIONS,
  openapi: text(
    'OpenAPI 3.0, 3.1 or 3.2 document, or Swagger 2.0 (YAML or JSON), relative to this file. Its operations are added to `operations`; if both describe one, `operations` wins. Nothing is fetched: files that it refers to must lie in its folder or below.',
    {
      nullable: true,
      expected: 'the path of an OpenAPI document',
      examples: ['../openapi/search.yaml'],
      def: 'openapi',
    },
  ),
  asyncapi: text(
    'AsyncAPI 2.0 to 2.6, 3.0 or 3.1 document (YAML or JSON) of the messages over the WebSocket, relative to this file. What `websocket` says goes before it. Nothing is fetched: files that it refers to must lie in its folder or below.',
    { nullable: true, expected: 'the path of an AsyncAPI document', examples: ['../asyncapi/chat.yaml'] },
  ),
  overlays: list(
    'Overlay documents (Overlay 1.0 or 1.1, YAML or JSON), relative to this file. They are applied to the OpenAPI document, or else to the AsyncAPI document, in this order before it is read; the file stays as it is.',
    { nullable: true, maxItems: 50, expected: 'a list of paths of overlay documents' },
    text('Path of an overlay.', { examples: ['../openapi/staging.overlay.yaml'] }),
  ),
  parameters: PARAMETERS,
  coverage: COVERAGE_FLOOR,
  websocket: WEBSOCKET,
  webhooks: WEBHOOKS,
  events: EVENTS,
  cors: CORS,
  deployedVersion: DEPLOYED_VERSION,
  signatures: SIGNATURES,
  headers: HEADERS,
  tls: TLS,
  http2: HTTP2,
  pacts: PACTS,
  safety: SAFETY,
  timeouts: TIMEOUTS,
  maxResponse: MAX_RESPONSE,
  rules: RULES,
  checks: OWN_CHECKS,
} as const;

const contract = name(
  'Name of the contract that the service must keep: contracts/NAME.yaml in this config folder, or one that ships with conform.',
);
const DESCRIPTION = 'One service: where it runs, how a client gets in, and what conform may do to it.';
const OWN = {
  service: needed(name('Name of the service. The file has the same name: services/NAME.yaml.')),
  contract: needed(contract),
  ...BLOCKS,
};

/** A service, once its environment is laid over it. */
export const SERVICE_BLOCKS = mapping(DESCRIPTION, {}, OWN);

/** Environments with these keys, and those of every service. */
export const environmentsWith = (own: Readonly<Record<string, TSchema>>) =>
  named(
    'Variants of this config, chosen with --environment. Write only what differs; the rest stays as above. null removes an optional value. Another kind of provider, or another scheme, replaces the whole block.',
    { names: NAMES },
    mapping(
      'One environment: what differs from the rest of this file.',
      { expected: 'a mapping with what differs in this environment' },
      { extends: name('Another environment that this one builds on.'), ...own, ...BLOCKS },
    ),
  );

/** A service file. `config/service.schema.json` is made of it: `npm run schemas`. */
export const SERVICE = mapping(
  DESCRIPTION,
  { required: ['service', 'contract'] },
  {
    ...OWN,
    environments: environmentsWith({ contract }),
  },
);

/** What the schema refuses in a file, or in what its environments make of it. */
export const serviceFaults = faultsIn(SERVICE);

type Documented = Pick<ServiceConfig, 'contract' | 'facts'>;

/** The value of a clause, or of the fact that the config fills in; null when neither shows it. */
export function documentedValue({ contract, facts }: Documented, key: ClauseKey): ClauseValue {
  return facts[key]?.value ?? findClause(contract, key)?.value ?? null;
}

/** Who has no credential is served as well, and the documents say so. */
export function isCredentialOptional(config: Documented): boolean {
  return documentedValue(config, 'auth.optional') === true;
}
