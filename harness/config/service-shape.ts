import { CredentialsShape } from '../credential/schemes.ts';
import type { UsageError } from '../exit.ts';
import { PLAN, SAFETY, TIMEOUTS } from './blocks/limits.ts';
import { TLS } from './blocks/tls.ts';
import { WEBHOOKS } from './blocks/webhooks.ts';
import { WEBSOCKET } from './blocks/websocket.ts';
import { OPERATIONS } from './operation/written.ts';
import { PACTS } from './pact/pacts-block.ts';
import { PROVIDER } from './provider/provider.ts';
import { jsonSchemaOf } from './shape/json-schema.ts';
import { mapping, NAMES, name, named, needed, type Traits, text } from './shape/kinds.ts';
import { compileSchema, schemaFaults } from './shape/validation.ts';
import { type LocatedMap, plainOf } from './yaml/located.ts';

const traits: Traits = {
  def: 'credentials',
  replaces: (below, above) => 'scheme' in above && above.scheme !== below.scheme,
};
const credentials = { ...CredentialsShape, '~traits': traits };

/** What an environment can change. */
const BLOCKS = {
  provider: needed(
    PROVIDER,
    'add `provider: { url: … }` or { reference: … }, or choose an environment that has one',
  ),
  credentials: needed(credentials, 'add `credentials:`, with `scheme: none` when anybody may call'),
  plan: PLAN,
  operations: OPERATIONS,
  openapi: text(
    'OpenAPI 3.0 or 3.1 document, YAML or JSON, relative to this file: its operations are added to those above, which win where both name one. Nothing is fetched; other files that it refers to lie below its folder.',
    {
      nullable: true,
      expected: 'the path of an OpenAPI document',
      examples: ['../openapi/search.yaml'],
      def: 'openapi',
    },
  ),
  websocket: WEBSOCKET,
  webhooks: WEBHOOKS,
  tls: TLS,
  pacts: PACTS,
  safety: SAFETY,
  timeouts: TIMEOUTS,
} as const;

const CONTRACT = name(
  'Name of the contract it is held to: contracts/NAME.yaml beside this config, or a shipped one.',
);

/** A service, once its environment is laid over it. */
export const SERVICE_BLOCKS = mapping(
  'One service under test: where it is, how a client is let in, what may be done to it.',
  {},
  {
    service: needed(name('Name of the service; the file carries it too: services/NAME.yaml.')),
    contract: needed(CONTRACT),
    ...BLOCKS,
  },
);

/** A service file. `config/service.schema.json` is made of it: `npm run schemas`. */
export const SERVICE = mapping(
  'One service under test: where it is, how a client is let in, what may be done to it.',
  { required: ['service', 'contract'] },
  {
    service: needed(name('Name of the service; the file carries it too: services/NAME.yaml.')),
    contract: needed(CONTRACT),
    ...BLOCKS,
    environments: named(
      'Overlays of this file, chosen with --environment. What an overlay does not name stays as above; null takes an optional value away. An overlay that names another kind of provider, or another scheme, replaces that whole block.',
      { names: NAMES },
      mapping(
        'One environment: what differs from the rest of this file.',
        { expected: 'a mapping with what differs in this environment' },
        { extends: name('Another environment that this one builds on.'), contract: CONTRACT, ...BLOCKS },
      ),
    ),
  },
);

const isServiceFile = compileSchema(jsonSchemaOf('service', SERVICE));

/** What the schema refuses in a file, or in what its environments make of it. */
export function serviceFaults(tree: LocatedMap): readonly UsageError[] {
  return isServiceFile(plainOf(tree)) ? [] : schemaFaults(isServiceFile.errors ?? [], tree);
}
