import { formatPlace, UsageError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { DIALECTS, LATEST } from '../../wire/json/dialect.ts';
import { type Definitions, EndlessSchema } from '../../wire/json/schema.ts';
import { pointerMembers } from '../../wire/json/shape.ts';
import { visible } from '../../wire/octets/utf8.ts';
import type { SourceFiles } from '../document/files.ts';
import type { Remarks } from '../document/remarks.ts';
import { child, children, type DocumentNode, pointerText } from '../document/source.ts';
import { isJsonType } from '../operation/call/call.ts';
import { Examples } from '../operation/call/example.ts';
import { type Direction, OpenApiSchemas } from '../operation/openapi/schemas.ts';
import type { DocumentedMessage, MessageText } from './documented-messages.ts';
import { idIn, kindOf, withIdIn } from './kind.ts';
import { withTraits } from './outline.ts';

/** A message of the document, before it belongs to an endpoint. */
export interface FoundMessage {
  /** The same for every reference to it. */
  readonly key: string;
  readonly name: string;
  readonly at: DocumentNode;
  readonly contentType: string;
  readonly correlation: readonly string[] | null;
}

/** What a schema is written in: a draft of JSON Schema, or the schemas of an OpenAPI version. */
interface Form {
  readonly space: string;
  readonly version: '3.0' | '3.1';
  readonly dialect: string;
}

/** AsyncAPI 3.0, "Schema Object": a superset of draft-07. */
const OWN_FORM: Form = { space: 'draft-07', version: '3.1', dialect: 'draft-07' };

/** Reads messages and their schemas, each once. */
export class MessageReader {
  readonly #files: SourceFiles;
  readonly #remarks: Remarks;
  readonly #defaultType: string;
  readonly #books = new Map<string, { readonly schemas: OpenApiSchemas; readonly examples: Examples }>();

  constructor(files: SourceFiles, remarks: Remarks) {
    this.#files = files;
    this.#remarks = remarks;
    const { value } = child(files.root, 'defaultContentType');
    this.#defaultType = typeof value === 'string' ? value : 'application/json';
  }

  get definitions(): Definitions {
    return Object.assign({}, ...[...this.#books.values()].map(({ schemas }) => schemas.definitions));
  }

  /** null for one that cannot be read, which is remarked on. */
  find(given: DocumentNode): FoundMessage | null {
    const found = this.#remarks.attempt(() => {
      const own = this.#files.dereferenced(given);
      const at = withTraits(own, this.#files);
      const text = (key: string) => {
        const { value } = child(at, key);
        return typeof value === 'string' && value !== '' ? value : undefined;
      };
      return {
        key: `${own.file.path}${pointerText(own.pointer)}`,
        name: text('name') ?? text('messageId') ?? nameOf(own, given),
        at,
        contentType: text('contentType') ?? this.#defaultType,
        correlation: this.#correlationOf(at),
      };
    }, 'the message is left out');
    return found instanceof UsageError ? null : found;
  }

  /** As a client gets it. `name`: in its endpoint. */
  received(found: FoundMessage, name: string): DocumentedMessage {
    const { at, contentType, correlation } = found;
    const schema = this.#schemaOf(at, 'response');
    return {
      ...{ name, contentType, correlation, schema },
      kind: schema && kindOf(schema, this.definitions),
      place: formatPlace(at.file.placeOf(at.pointer)),
    };
  }

  /** A text of it, as a client sends it, or why there is none. */
  sent(found: FoundMessage): Pick<MessageText, 'text' | 'id' | 'unfitText'> | { readonly lacks: string } {
    const { at, contentType, correlation } = found;
    const isJson = isJsonType(contentType);
    if (!isJson && !/^text\//i.test(contentType))
      return { lacks: `its content type ${visible(contentType, 60)} is not sent` };
    const format = this.#formOf(at);
    if (format === null) return { lacks: 'the format of its schema is not read' };
    const schema = this.#schemaOf(at, 'request');
    const made = this.#valueOf(at, schema, format);
    if ('lacks' in made) return made;
    const fits = (value: unknown) => this.#faultOf(value, schema, format) === null;
    const value = correlation === null ? made.value : withId(made.value, correlation, fits);
    const textOf = (each: unknown) =>
      isJson ? JSON.stringify(each) : typeof each === 'string' ? each : null;
    const text = textOf(value);
    if (text === null) return { lacks: 'its payload is no text' };
    const unfit = schema === null ? undefined : unfitOf(value, fits);
    const id = correlation === null ? undefined : idIn(value, correlation);
    return { text, ...(id !== undefined && { id }), unfitText: unfit === undefined ? null : textOf(unfit) };
  }

  #valueOf(
    at: DocumentNode,
    schema: { readonly $ref: string } | null,
    form: Form,
  ): { readonly value: unknown } | { readonly lacks: string } {
    const shown = children(child(at, 'examples'))
      .map(([, example]) => child(this.#files.dereferenced(example), 'payload'))
      .filter(({ value }) => value !== undefined);
    for (const each of shown) {
      const fault = this.#faultOf(each.value, schema, form);
      if (fault === null) return { value: each.value };
      this.#remarks.at(each, `does not fit its schema: ${fault}`, 'it is not sent');
    }
    if (schema === null) return { lacks: 'it has neither a schema nor an example' };
    const example = this.#bookOf('request', form).examples.of(schema);
    return 'value' in example ? { value: example.value } : { lacks: example.reason };
  }

  /** null where nothing is known of it. */
  #schemaOf(at: DocumentNode, direction: Direction): { readonly $ref: string } | null {
    const form = this.#formOf(at);
    const payload = payloadOf(at);
    if (form === null || payload.value === undefined) return null;
    const { schemas } = this.#bookOf(direction, form);
    const taken = this.#remarks.attempt(() => schemas.take(payload), 'the message is not held to it');
    return taken instanceof UsageError ? null : taken;
  }

  /** The form of its schema; null for one that is not read, which is remarked on. */
  #formOf(at: DocumentNode): Form | null {
    const own = child(child(at, 'payload'), 'schemaFormat');
    const named = own.value === undefined ? child(at, 'schemaFormat') : own;
    if (named.value === undefined) return OWN_FORM;
    const form = typeof named.value === 'string' ? formNamed(named.value) : null;
    if (form === null) {
      const problem = `is a format that is not read: ${visible(String(named.value), 60)}`;
      this.#remarks.at(named, problem, 'the message is not held to its schema');
    }
    return form;
  }

  #bookOf(direction: Direction, { space, version, dialect }: Form) {
    const key = `${direction}/${space}`;
    const known = this.#books.get(key);
    if (known !== undefined) return known;
    const meant = DIALECTS.find(({ name }) => name === dialect) ?? LATEST;
    const schemas = new OpenApiSchemas(this.#files, direction, version, { dialect: meant, space: key });
    const book = { schemas, examples: new Examples(schemas.definitions, schemas.book) };
    this.#books.set(key, book);
    return book;
  }

  #faultOf(value: unknown, schema: { readonly $ref: string } | null, form: Form): string | null {
    if (schema === null) return null;
    try {
      const fault = this.#bookOf('request', form).schemas.book.compile(schema)(value);
      return fault === null ? null : fault.message;
    } catch (error) {
      if (error instanceof EndlessSchema) return null;
      throw error;
    }
  }

  #correlationOf(at: DocumentNode): readonly string[] | null {
    const given = child(at, 'correlationId');
    if (given.value === undefined) return null;
    const location = child(this.#files.dereferenced(given), 'location');
    const [, part, pointer] = /^\$message\.(header|payload)#(\/.*)$/.exec(String(location.value ?? '')) ?? [];
    if (part === 'payload' && pointer !== undefined) return [...pointerMembers(pointer)];
    const problem =
      part === 'header' ? 'is in a header, which messages of a WebSocket have not' : 'is no place';
    this.#remarks.at(location, problem, 'replies are known by their form alone');
    return null;
  }
}

function nameOf(own: DocumentNode, given: DocumentNode): string {
  const last = own.pointer.at(-1) ?? '';
  const isNamed = own.pointer.at(-2) === 'messages' || !/^(?:message|x-response|\d*)$/.test(last);
  return isNamed ? last : (given.pointer.at(-3) ?? 'message');
}

/** A Multi Format Schema Object has the schema within. */
function payloadOf(at: DocumentNode): DocumentNode {
  const payload = child(at, 'payload');
  return child(payload, 'schemaFormat').value === undefined ? payload : child(payload, 'schema');
}

function formNamed(format: string): Form | null {
  const version = /;\s*version=([\w.-]+)/i.exec(format)?.[1] ?? '';
  if (/^application\/vnd\.aai\.asyncapi\b/i.test(format)) return OWN_FORM;
  if (/^application\/vnd\.oai\.openapi\b/i.test(format)) {
    const isEarly = version.startsWith('3.0');
    return {
      space: isEarly ? 'openapi-3.0' : 'openapi',
      version: isEarly ? '3.0' : '3.1',
      dialect: LATEST.name,
    };
  }
  if (!/^application\/schema\+(?:json|yaml)\b/i.test(format)) return null;
  const dialect = version === '' ? 'draft-07' : DIALECTS.find(({ name }) => name === version)?.name;
  return dialect === undefined ? null : { space: dialect, version: '3.1', dialect };
}

/** With a correlation id, where the schema admits one and the value has none. */
function withId(value: unknown, members: readonly string[], fits: (value: unknown) => boolean): unknown {
  if (idIn(value, members) !== undefined) return value;
  const candidates = ['conform-1', 1].map((id) => withIdIn(value, members, id));
  return candidates.find((each) => each !== null && fits(each)) ?? value;
}

/** A value that the schema refuses, and that differs in one member; undefined for none. */
function unfitOf(value: unknown, fits: (value: unknown) => boolean): unknown {
  if (!isJsonObject(value)) return undefined;
  const names = Object.keys(value).toReversed();
  const changed = names.flatMap((name) => [
    { ...value, [name]: typeof value[name] === 'number' ? 'conform' : 17 },
    Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)),
  ]);
  return changed.find((each) => !fits(each));
}
