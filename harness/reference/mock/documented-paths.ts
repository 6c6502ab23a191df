import {
  answerFor,
  isJsonType,
  pathMatcher,
  pathValues,
  withoutEndSlash,
} from '../../config/operation/call/call.ts';
import { itemPathElsewhere } from '../../config/operation/item-path.ts';
import type { DocumentedAnswer, Operation, ServiceConfig } from '../../config/service.ts';
import type { ReceivedRequest } from '../http/message.ts';
import type { Route } from '../http/routes.ts';
import { flatSchema, typeOf } from './flat-schema.ts';
import type { ValueMaker } from './values.ts';

/** The operations of one path. */
export interface MockPath {
  readonly template: string;
  readonly match: NonNullable<Route['match']>;
  readonly operations: ReadonlyMap<string, Operation>;
}

export interface ListShape {
  /** The member that holds the items; null if the list is the whole. */
  readonly member: string | null;
  readonly items: unknown;
}

export interface DocumentedSuccess {
  readonly status: number;
  readonly answer: DocumentedAnswer;
  readonly mediaType: string | null;
  readonly schema: unknown;
}

/** The paths of a document: which of them are collections, and what they hold. */
export class DocumentedPaths {
  /** Those with the fewest parameters first. */
  readonly all: readonly MockPath[];
  readonly #byTemplate: ReadonlyMap<string, MockPath>;
  readonly #definitions: NonNullable<ServiceConfig['definitions']>;
  readonly #values: ValueMaker;

  constructor(
    { operations, definitions = {} }: Pick<ServiceConfig, 'operations' | 'definitions'>,
    values: ValueMaker,
  ) {
    this.#definitions = definitions;
    this.#values = values;
    const byTemplate = Map.groupBy(operations, ({ call }) =>
      withoutEndSlash(call.template.split('?', 1)[0] ?? ''),
    );
    this.all = [...byTemplate]
      .map(([template, each]) => ({
        template,
        match: matcher(template),
        operations: new Map(each.toReversed().map((operation) => [operation.method, operation] as const)),
      }))
      .toSorted((a, b) => a.template.split('{').length - b.template.split('{').length);
    this.#byTemplate = new Map(this.all.map((path) => [path.template, path]));
  }

  operationAt({ method, path }: ReceivedRequest): Operation | null {
    const operations = this.all.find(({ match }) => match(path) !== null)?.operations;
    return operations?.get(method) ?? (method === 'HEAD' ? operations?.get('GET') : null) ?? null;
  }

  hasCreation(template: string): boolean {
    return ['', '/create', '/new'].some(
      (verb) => this.#byTemplate.get(template + verb)?.operations.has('POST') ?? false,
    );
  }

  /** An example or an enumerated value of the document names it. */
  isDocumented(template: string, inner: string, segment: string, text: string): boolean {
    const values = [...(pathValues(segment, text) ?? [])];
    const operations = [template, inner].flatMap((each) => [
      ...(this.#byTemplate.get(each)?.operations.values() ?? []),
    ]);
    return values.every(([name, value]) =>
      operations.some(({ call }) => {
        const input = call.inputs.find((each) => each.in === 'path' && each.name === name);
        if (input === undefined) return false;
        const { keywords } = flatSchema(input.schema, this.#definitions);
        const listed = [keywords.enum, keywords.const].flat().map(String);
        return String(input.value) === value || listed.includes(value);
      }),
    );
  }

  /** Where the items of a list stand, and their schema; null if it is no list. */
  listShape(schema: unknown): ListShape | null {
    if (schema === null) return null;
    const flat = flatSchema(schema, this.#definitions);
    if (typeOf(flat) === 'array') return { member: null, items: flat.keywords.items ?? {} };
    const lists = Object.entries(flat.properties).flatMap(([member, inner]) => {
      const list = flatSchema(inner, this.#definitions);
      if (typeOf(list) !== 'array') return [];
      const items = list.keywords.items ?? {};
      const isOfObjects = typeOf(flatSchema(items, this.#definitions)) === 'object';
      return isOfObjects ? [{ member, items }] : [];
    });
    const hasOwnName = Object.keys(flat.properties).some((name) => /^(?:id|uuid|guid|sid|gid)$/i.test(name));
    return lists.length === 0 || hasOwnName ? null : (lists[0] ?? null);
  }

  /** Whether a POST at a template creates an item below it. */
  isCollection(template: string): boolean {
    if (/\{[^{}]*\}$/.test(template)) return false;
    if (withoutVerb(template) !== template) return this.itemPathBelow(withoutVerb(template)) !== undefined;
    return this.shapeAt(template) !== null || this.itemPathBelow(template) !== undefined;
  }

  /** Schema of the items below a collection, as they are read; null if none is documented. */
  itemSchemaBelow(template: string): unknown {
    const read = this.itemPathBelow(template)?.operations.get('GET');
    return (read && this.successOf(read)?.schema) ?? null;
  }

  /** The path of the items that a creation makes elsewhere; null for none. */
  itemPathElsewhere(create: Operation): string | null {
    return itemPathElsewhere(
      create,
      this.all.flatMap(({ operations }) => [...operations.values()]),
    );
  }

  itemPathBelow(template: string): MockPath | undefined {
    return this.all.find(
      (each) =>
        each.template.startsWith(`${template}/{`) && !each.template.slice(template.length + 1).includes('/'),
    );
  }

  /** Whether a text may be the name of an item below a collection. */
  isNameBelow(template: string, text: string): boolean {
    const values = /^-?\d+$/.test(text) ? [text, Number(text)] : [text];
    return this.#nameSchemas(template).every(
      (schema) =>
        this.#values.isOfFormat(text, schema) &&
        values.some((value) => this.#values.faultOf(value, schema) === null),
    );
  }

  /** Names of the parameter that stands for an item below a collection. */
  parametersBelow(template: string): readonly string[] {
    const [, name] = /\{([^{}]+)\}$/.exec(this.itemPathBelow(template)?.template ?? '') ?? [];
    return name === undefined ? [] : [name];
  }

  /** A name for an item below a collection. */
  nameBelow(template: string, serial: number): string {
    const made = this.#nameSchemas(template).map((schema) => String(this.#values.of(schema, serial)));
    return made.find((text) => this.isNameBelow(template, text)) ?? `${serial}`;
  }

  /** Schemas of the last parameter of the path below a collection, by operation. */
  #nameSchemas(template: string): readonly unknown[] {
    const operations = [...(this.itemPathBelow(template)?.operations.values() ?? [])];
    return operations.map(({ call }) => call.inputs.findLast((each) => each.in === 'path')?.schema ?? null);
  }

  shapeAt(template: string): ListShape | null {
    const list = this.#byTemplate.get(template)?.operations.get('GET');
    return this.listShape((list && this.successOf(list)?.schema) ?? null);
  }

  successOf({ response, answers }: Operation): DocumentedSuccess | null {
    const answer = answerFor(answers, response.status);
    if (answer === null) return null;
    const content = answer.contents.find(({ mediaType }) => isJsonType(mediaType)) ?? answer.contents[0];
    return {
      status: response.status,
      answer,
      mediaType: content?.mediaType ?? null,
      schema: content?.schema ?? null,
    };
  }
}

function matcher(template: string): MockPath['match'] {
  const match = pathMatcher(template);
  return (path) => {
    const values = match(withoutEndSlash(path));
    return values && Object.fromEntries(values);
  };
}

/** `POST /containers/create` creates what `/containers/{id}` names. */
export function withoutVerb(path: string): string {
  return path.replace(/\/(?:create|new)$/i, '');
}
