import type { Draft } from '../draft.ts';
import type { ExpectedResponse } from '../service.ts';
import type { OperationBlock } from '../service-file.ts';
import { holdToSchema, readSchema } from '../yaml/schema-file.ts';
import { type CallBody, type Input, isJsonType } from './call.ts';

/** An operation as the config writes it, held to what can be sent; what it leaves out is null or empty. */
export interface WrittenOperation {
  readonly block: OperationBlock;
  /** With the query that is written into it. */
  readonly path: string;
  /** From `query`, `fields` and `parameters`. */
  readonly inputs: readonly Input[];
  readonly body: Pick<CallBody, 'mediaType' | 'value'> | null;
  /** null where nothing is said about it. */
  readonly schema: unknown;
  readonly mediaTypes: ExpectedResponse['mediaTypes'] | null;
}

/** Any JSON: that is what a schema is for, and no more is said. */
const ANY_JSON = ['application/json', 'application/*+json'] as const;

/** @throws UsageError for a duplicate id, an unfit path, name or value, and a schema that is missing or none. */
export async function readWritten(draft: Draft): Promise<readonly WrittenOperation[]> {
  const written: WrittenOperation[] = [];
  for (const [index, block] of (draft.blocks.operations ?? []).entries()) {
    const key = `operations.${index}`;
    const earlier = written.findIndex((each) => each.block.id === block.id);
    if (earlier !== -1) {
      throw draft.faultAt(
        `${key}.id`,
        `operation ${earlier + 1} has the id ${JSON.stringify(block.id)} already`,
        'give each its own',
      );
    }
    holdToPath(draft, `${key}.path`, block.path);
    const named = block.response?.schema;
    const schema = named === undefined ? null : await readSchema(draft, `${key}.response.schema`, named);
    const type = block.response?.type;
    written.push({
      block,
      path: block.path,
      inputs: readInputs(draft, key, block),
      body: readBody(draft, key, block),
      schema,
      mediaTypes: type === undefined ? (schema === null ? null : ANY_JSON) : [type.toLowerCase()],
    });
  }
  return written;
}

function holdToPath({ faultAt }: Draft, key: string, path: string): void {
  if (!path.startsWith('/'))
    throw faultAt(key, 'does not begin with /', 'write a path below the base address');
  if (path.startsWith('//'))
    throw faultAt(key, 'begins with //, which names another host', 'write one slash');
  if (path.includes('#')) throw faultAt(key, 'holds a fragment', 'leave it out: it is never sent');
  if (!/^[\x21-\x7e]+$/.test(path)) {
    throw faultAt(key, 'holds white space or non-ASCII characters', 'percent-encode them');
  }
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) {
    throw faultAt(key, 'holds a % that is no percent-encoding', 'write %25 for a percent sign');
  }
  if (/[{}<>]/.test(path))
    throw faultAt(key, 'holds a placeholder', 'write the path of an existing resource');
}

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Fields that are placed elsewhere, or that frame and route the message. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  authorization: 'describe the credential under `credentials:`',
  'content-type': 'write `body: { type: … }`',
  connection: 'leave it out',
  'content-length': 'leave it out',
  host: 'leave it out',
  'transfer-encoding': 'leave it out',
  'user-agent': 'leave it out: every request carries that of this harness',
};

function readInputs(draft: Draft, key: string, block: OperationBlock): readonly Input[] {
  const inputs = new Map<string, Input>();
  const put = (input: Input) => inputs.set(`${input.in} ${input.name.toLowerCase()}`, input);
  const base = { required: false, schema: null, form: 'repeated' } as const;
  for (const [name, value] of Object.entries(block.query ?? {})) put({ ...base, name, in: 'query', value });
  for (const [name, value] of Object.entries(block.fields ?? {})) {
    const at = `${key}.fields.${name}`;
    if (!TOKEN.test(name))
      throw draft.faultAt(at, 'is no name of a header field', 'use letters, digits and hyphens');
    const remedy = ELSEWHERE[name.toLowerCase()];
    if (remedy !== undefined) throw draft.faultAt(at, 'is not set here', remedy);
    if (!/^[\x20-\x7e]*$/.test(String(value))) {
      throw draft.faultAt(at, 'holds what no header field can carry', 'write printable ASCII');
    }
    put({ ...base, form: 'comma', name, in: 'header', value });
  }
  for (const [index, parameter] of (block.parameters ?? []).entries()) {
    const { name, in: place } = parameter;
    const at = `${key}.parameters.${index}`;
    const schema = parameter.schema ?? null;
    if (schema !== null) holdToSchema(draft, `${at}.schema`, schema);
    const known = inputs.get(`${place} ${name.toLowerCase()}`);
    if (known !== undefined && known.schema !== null) {
      throw draft.faultAt(`${at}.name`, 'is described twice', 'keep one of the two');
    }
    if (parameter.required && known === undefined && !hasInPath(block.path, name)) {
      throw draft.faultAt(
        at,
        'is required and has no value',
        `add it to \`${place === 'query' ? 'query' : 'fields'}:\``,
      );
    }
    const form = place === 'query' ? 'repeated' : 'comma';
    put({ value: undefined, ...known, name, in: place, required: parameter.required ?? false, schema, form });
  }
  return [...inputs.values()];
}

function hasInPath(path: string, name: string): boolean {
  return new URLSearchParams(path.split('?', 2)[1] ?? '').has(name);
}

function readBody(draft: Draft, key: string, { body }: OperationBlock): WrittenOperation['body'] {
  if (!body) return null;
  const { json, text, type } = body;
  if (json !== undefined && text !== undefined) {
    throw draft.faultAt(`${key}.body`, 'has both json and text', 'keep one of the two');
  }
  if (json === undefined && text === undefined) {
    throw draft.faultAt(`${key}.body`, 'has neither json nor text', 'write one of the two');
  }
  if (text === undefined) {
    if (type !== undefined && !isJsonType(type)) {
      throw draft.faultAt(
        `${key}.body.type`,
        'is no media type of JSON',
        'write application/json, or use `text:`',
      );
    }
    return { mediaType: type ?? 'application/json', value: json };
  }
  if (type === undefined) {
    throw draft.faultAt(`${key}.body`, 'has a text of no type', 'add `type:`, such as text/plain');
  }
  return { mediaType: type, value: text };
}
