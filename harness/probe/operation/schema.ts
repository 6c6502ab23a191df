import type { ServiceConfig } from '../../config/service.ts';
import { EndlessSchema, SchemaBook, type SchemaJudge } from '../../evidence/json/schema.ts';
import type { OperationReply, ReasonAgainst } from './trials.ts';

/** Octets of content that are held against a schema; patterns may take long over more. */
const MAX_JUDGED = 512 * 1024;

/** Each schema is compiled once for a config. */
const judges = new WeakMap<ServiceConfig, ResponseSchemas>();

export function responseSchemas(config: ServiceConfig): ResponseSchemas {
  const known = judges.get(config);
  if (known !== undefined) return known;
  const made = new ResponseSchemas(config);
  judges.set(config, made);
  return made;
}

/** The documented schemas of a service's responses. */
export class ResponseSchemas {
  readonly #book: SchemaBook;
  readonly #compiled = new Map<unknown, SchemaJudge>();

  constructor({ definitions }: ServiceConfig) {
    this.#book = new SchemaBook(definitions);
  }

  /** Why a reply cannot be held against its schema; null when `fault` can tell. */
  whyNotJudged({ expected, response }: OperationReply): ReasonAgainst | null {
    const schema = expected?.schema ?? null;
    if (schema === null) return { reason: 'no schema is documented for its response', why: 'open' };
    if (response.unreadJson !== null) return { reason: response.unreadJson, why: 'left' };
    const octets = response.content.length;
    if (octets > MAX_JUDGED) {
      return {
        reason: `its content of ${octets} octets is too large to be held against a schema`,
        why: 'left',
      };
    }
    try {
      this.#judge(schema)(response.json.value);
      return null;
    } catch (error) {
      // The document's fault, and no word about the service.
      if (error instanceof EndlessSchema) return { reason: error.message, why: 'left' };
      throw error;
    }
  }

  /** The first thing in the body that its schema refuses, in one line; null when it fits. */
  fault({ expected, response }: OperationReply): string | null {
    const { value, faults } = response.json;
    if (value === undefined) return faults[0]?.message ?? 'no JSON';
    const fault = this.#judge(expected?.schema ?? true)(value);
    return fault === null ? null : `one in which ${fault.message}`;
  }

  #judge(schema: unknown): SchemaJudge {
    const known = this.#compiled.get(schema);
    if (known !== undefined) return known;
    const judge = this.#book.compile(schema);
    this.#compiled.set(schema, judge);
    return judge;
  }
}
