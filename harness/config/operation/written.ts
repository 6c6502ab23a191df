import { isToken } from '../../wire/fields/grammar/field-grammar.ts';
import type { Draft } from '../draft/draft.ts';
import { readSchema } from '../draft/schema-file.ts';
import {
  choice,
  either,
  type Fault,
  FINAL_STATUS,
  flag,
  json,
  jsonSchema,
  list,
  listOrMapping,
  mapping,
  named,
  needed,
  text,
  whole,
} from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';
import { formatOrigin } from '../yaml/origin.ts';
import { type CallBody, type ExpectedResponse, type Input, isJsonType } from './call/call.ts';

const MEDIA_TYPE = {
  pattern: '^[A-Za-z0-9!#$&^_.+*-]+/[A-Za-z0-9!#$&^_.+*-]+$',
  expected: 'a media type such as application/json',
  def: 'mediaType',
} as const;

function operationPath(path: string, fault: Fault): string {
  if (!path.startsWith('/')) throw fault('does not begin with /', 'write a path below the base address');
  if (path.startsWith('//')) throw fault('begins with //, which names another host', 'write one slash');
  if (path.includes('#')) throw fault('holds a fragment', 'leave it out: it is never sent');
  if (!/^[\x21-\x7e]+$/.test(path))
    throw fault('holds white space or non-ASCII characters', 'percent-encode them');
  if (/%(?![0-9A-Fa-f]{2})/.test(path))
    throw fault('holds a % that is no percent-encoding', 'write %25 for a percent sign');
  if (/[{}<>]/.test(path)) throw fault('holds a placeholder', 'write the path of an existing resource');
  return path;
}

type Scalar = string | number | boolean;

const OPERATION = mapping(
  '',
  { expected: 'a mapping with id, method and path' },
  {
    id: needed(
      text(
        'Name of the operation in reports. To change one of the OpenAPI document, write its operationId.',
        {
          pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$',
          expected: 'a name of letters, digits, dots, slashes, hyphens and underscores',
        },
      ),
    ),
    method: needed(
      choice('Method of the request.', ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']),
    ),
    path: needed(
      text('Path below the base URL, with its query if it has one.', {
        mayBeEmpty: true,
        expected: 'a path that begins with /',
        read: operationPath,
      }),
    ),
    query: named(
      'Query parameters, by name; a list is sent as the same parameter several times.',
      { expected: 'a mapping such as { limit: 10 }', examples: [{ limit: 10 }] },
      either<Scalar | readonly Scalar[]>(
        'Value of the parameter.',
        { expected: 'text, a number, true, false, or a list of them' },
        {
          type: ['string', 'number', 'boolean', 'array'],
          items: either<Scalar>(
            'One of its values.',
            { expected: 'text, a number, true or false' },
            { type: ['string', 'number', 'boolean'] },
          ),
        },
      ),
    ),
    fields: named(
      'Headers, by name. Not the credential; Content-Type is body.type.',
      { expected: 'a mapping such as { Accept-Language: fr }', examples: [{ 'Accept-Language': 'fr' }] },
      either<Scalar>('Value of the header.', { expected: 'text' }, { type: ['string', 'number', 'boolean'] }),
    ),
    body: mapping(
      'Body of the request: json, or text with its media type.',
      {
        nullable: true,
        expected: 'a mapping such as { json: { name: a } }, or { text: "a,b", type: text/csv }',
      },
      {
        json: json('Any value; it is sent as JSON.'),
        text: text('Text that is sent as it is.', { mayBeEmpty: true }),
        type: text('Media type. Default for json: application/json.', MEDIA_TYPE),
      },
    ),
    parameters: list(
      'Rules for query parameters and headers. conform makes bad input from them, which the service must refuse.',
      { maxItems: 100, expected: 'a list of parameters' },
      mapping(
        '',
        { expected: 'a mapping such as { name: limit, in: query, schema: { type: integer, maximum: 100 } }' },
        {
          name: needed(text('Name of the query parameter or header.')),
          in: needed(choice('Whether it is a query parameter or a header.', ['query', 'header'])),
          required: flag('The service refuses the call without it.', { default: false }),
          schema: either<object>(
            'JSON Schema of its value.',
            { expected: 'a JSON Schema', references: 'raw' },
            { type: 'object' },
          ),
        },
      ),
    ),
    response: mapping(
      'The answer to expect.',
      { expected: 'a mapping such as { status: 200, schema: schemas/x.json }' },
      {
        status: whole(
          'Status code of the answer. Default: what the OpenAPI document says, else 200.',
          FINAL_STATUS,
        ),
        type: text(
          'Media type of the body. Default: any JSON if there is a schema, else any type.',
          MEDIA_TYPE,
        ),
        schema: jsonSchema('JSON Schema of the body'),
      },
    ),
    auth: flag(
      'false: no credential is needed, and none is sent. Default: what the OpenAPI document says, else true.',
    ),
    safe: flag(
      'true: it changes nothing, whatever its method, such as a search by POST. It is called like a GET.',
      { default: false },
    ),
  },
);

const FURTHER_CALLS =
  'Further calls that your documents describe, besides the sample request of the contract.';
const CALLS = { maxItems: 500, expected: 'a list of operations' } as const;

export const OPERATIONS = listOrMapping(
  `${FURTHER_CALLS} Or a mapping: \`calls\` has them, and \`exclude\` the operations of the document that are not called.`,
  { ...CALLS, nullable: true, def: 'operations' },
  OPERATION,
  {
    calls: list(FURTHER_CALLS, CALLS, OPERATION),
    exclude: list(
      'Operations that no run calls. The verdict counts them as not exercised.',
      { maxItems: 500, expected: 'a list such as [{ match: DELETE *, because: shared data }]' },
      mapping(
        'Operations to leave out.',
        { expected: 'a mapping such as { match: DELETE *, because: shared data }' },
        {
          match: needed(
            text('Method and path, path, operationId or tag; * stands for any text: `GET /v1/orders*`.'),
          ),
          because: needed(text('The reason, for reports.')),
        },
      ),
    ),
  },
);

/** Both forms of the block; `key`: where its calls stand. */
export function operationsBlock(written: Loaded<typeof OPERATIONS> | undefined) {
  if (written === undefined || 'length' in written)
    return { calls: written ?? [], exclude: [], key: 'operations' };
  return { calls: written.calls ?? [], exclude: written.exclude ?? [], key: 'operations.calls' };
}

type OperationBlock = Loaded<typeof OPERATION>;

/** An operation as the config writes it, held to what can be sent; what it leaves out is null or empty. */
export interface WrittenOperation {
  readonly place: string;
  readonly block: OperationBlock;
  /** With the query that is written into it. */
  readonly path: string;
  /** From `query`, `fields` and `parameters`. */
  readonly inputs: readonly Input[];
  readonly body: Pick<CallBody, 'mediaType' | 'value'> | null;
  readonly schema: unknown;
  readonly mediaTypes: ExpectedResponse['mediaTypes'] | null;
}

/** Any JSON: that is what a schema is for, and no more is said. */
const ANY_JSON = ['application/json', 'application/*+json'] as const;

/** @throws UsageError for a duplicate id, an unfit path, name or value, and a schema that is missing or none. */
export async function readWritten(
  draft: Draft,
  blocks: readonly OperationBlock[],
  within: string,
): Promise<readonly WrittenOperation[]> {
  const written: WrittenOperation[] = [];
  for (const [index, block] of blocks.entries()) {
    const key = `${within}.${index}`;
    const earlier = blocks.findIndex(({ id }) => id === block.id);
    if (earlier !== index) {
      const problem = `operation ${earlier + 1} has the id ${JSON.stringify(block.id)} already`;
      draft.faults.add(draft.faultAt(`${key}.id`, problem, 'give each its own'));
    }
    const each = await draft.faults.attempt(() => readOperation(draft, key, block));
    if (each) written.push(each);
  }
  return written;
}

async function readOperation(draft: Draft, key: string, block: OperationBlock): Promise<WrittenOperation> {
  const { path, response } = block;
  const { schema: given, type } = response ?? {};
  const schema = given === undefined ? null : await readSchema(draft, `${key}.response.schema`, given);
  return {
    place: formatOrigin(draft.originOf(key)),
    block,
    path,
    inputs: await readInputs(draft, key, block),
    body: readBody(draft, key, block),
    schema,
    mediaTypes: type === undefined ? (schema === null ? null : ANY_JSON) : [type.toLowerCase()],
  };
}

/** Fields that are placed elsewhere, or that frame and route the message. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['authorization', 'describe the credential under `credentials:`'],
  ['content-type', 'write `body: { type: … }`'],
  ['user-agent', 'leave it out: every request carries that of this harness'],
  ...['connection', 'content-length', 'host', 'transfer-encoding'].map(
    (name) => [name, 'leave it out'] as const,
  ),
]);

async function readInputs(draft: Draft, key: string, block: OperationBlock): Promise<readonly Input[]> {
  const inputs = new Map<string, Input>();
  const put = (input: Input) => inputs.set(`${input.in} ${input.name.toLowerCase()}`, input);
  const base = { required: false, schema: null, form: 'repeated' } as const;
  for (const [name, value] of Object.entries(block.query ?? {})) put({ ...base, name, in: 'query', value });
  for (const [name, value] of Object.entries(block.fields ?? {})) {
    const at = `${key}.fields.${name}`;
    if (!isToken(name))
      throw draft.faultAt(at, 'is no name of a header field', 'use letters, digits and hyphens');
    const remedy = ELSEWHERE.get(name.toLowerCase());
    if (remedy !== undefined) throw draft.faultAt(at, 'is not set here', remedy);
    if (!/^[\x20-\x7e]*$/.test(String(value)))
      throw draft.faultAt(at, 'holds what no header field can carry', 'write printable ASCII');
    put({ ...base, form: 'comma', name, in: 'header', value });
  }
  for (const [index, parameter] of (block.parameters ?? []).entries()) {
    const { name, in: place } = parameter;
    const at = `${key}.parameters.${index}`;
    const written = parameter.schema;
    const schema = written === undefined ? null : await readSchema(draft, `${at}.schema`, written);
    const known = inputs.get(`${place} ${name.toLowerCase()}`);
    if (known !== undefined && known.schema !== null)
      throw draft.faultAt(`${at}.name`, 'is described twice', 'keep one of the two');
    if (parameter.required && known === undefined && !hasInPath(block.path, name)) {
      const home = place === 'query' ? 'query' : 'fields';
      throw draft.faultAt(at, 'is required and has no value', `add it to \`${home}:\``);
    }
    const form = place === 'query' ? 'repeated' : 'comma';
    put({ value: undefined, ...known, name, in: place, required: parameter.required, schema, form });
  }
  return [...inputs.values()];
}

function hasInPath(path: string, name: string): boolean {
  return new URLSearchParams(path.split('?', 2)[1] ?? '').has(name);
}

function readBody(draft: Draft, key: string, { body }: OperationBlock): WrittenOperation['body'] {
  if (!body) return null;
  const { json, text, type } = body;
  if (json !== undefined && text !== undefined)
    throw draft.faultAt(`${key}.body`, 'has both json and text', 'keep one of the two');
  if (json === undefined && text === undefined)
    throw draft.faultAt(`${key}.body`, 'has neither json nor text', 'write one of the two');
  if (text !== undefined) {
    if (type !== undefined) return { mediaType: type, value: text };
    throw draft.faultAt(`${key}.body`, 'has a text of no type', 'add `type:`, such as text/plain');
  }
  if (type === undefined || isJsonType(type)) return { mediaType: type ?? 'application/json', value: json };
  const remedy = 'write application/json, or use `text:`';
  throw draft.faultAt(`${key}.body.type`, 'is no media type of JSON', remedy);
}
