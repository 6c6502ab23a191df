import { Ajv, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type core from 'ajv/dist/core.js';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import { default as ajvDraft04 } from 'ajv-draft-04';

/** An ajv of some dialect. */
export type Engine = core.default;

/** A draft of JSON Schema, which a schema names by `$schema`. */
export interface Dialect {
  /** As people call it: `draft-07`. */
  readonly name: string;
  /** What `$schema` holds. */
  readonly uri: string;
  /** What stands beside `$ref` is not looked at (up to draft-07). */
  readonly lonelyRef: boolean;
  readonly engine: (options: Options) => Engine;
}

export const LATEST: Dialect = {
  name: '2020-12',
  uri: 'https://json-schema.org/draft/2020-12/schema',
  lonelyRef: false,
  engine: (options) => new Ajv2020(options),
};

export const DIALECTS: readonly Dialect[] = [
  {
    name: 'draft-04',
    uri: 'http://json-schema.org/draft-04/schema#',
    lonelyRef: true,
    engine: (options) => new ajvDraft04.default({ ...options, ignoreKeywordsWithRef: true }),
  },
  {
    name: 'draft-06',
    uri: 'http://json-schema.org/draft-06/schema#',
    lonelyRef: true,
    engine: (options) => {
      const engine = new Ajv({ ...options, ignoreKeywordsWithRef: true });
      for (const later of ['if', 'then', 'else']) engine.removeKeyword(later);
      return engine.addMetaSchema(draft06);
    },
  },
  {
    name: 'draft-07',
    uri: 'http://json-schema.org/draft-07/schema#',
    lonelyRef: true,
    engine: (options) => new Ajv({ ...options, ignoreKeywordsWithRef: true }),
  },
  {
    name: '2019-09',
    uri: 'https://json-schema.org/draft/2019-09/schema',
    lonelyRef: false,
    engine: (options) => new Ajv2019(options),
  },
  LATEST,
];

/** The dialects of OpenAPI 3.1 and later are 2020-12 with annotations of their own. */
const OPENAPI = /^spec\.openapis\.org\/oas\/3\.\d+\/dialect\//;

/** The dialect that a `$schema` names, with http or https, with or without `#`; undefined where it is none of them. */
export function dialectNamed($schema: unknown): Dialect | undefined {
  if (typeof $schema !== 'string') return undefined;
  const plain = plainUri($schema);
  return OPENAPI.test(plain) ? LATEST : DIALECTS.find(({ uri }) => plainUri(uri) === plain);
}

function plainUri(uri: string): string {
  return uri.replace(/^https?:\/\//, '').replace(/#$/, '');
}
