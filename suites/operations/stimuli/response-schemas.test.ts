import { describe, expect, it } from 'vitest';
import type { AnswerContent, AnswerHeader } from '../../../harness/config/operation/call/call.ts';
import { DocumentedReply } from './documented-reply.ts';
import { content, received, THINGS, thingsWith } from './fixtures/documented.ts';
import { responseSchemas } from './response-schemas.ts';

const schemas = responseSchemas(THINGS);

type Received = Parameters<typeof received>[0];

const replyOf = (contents: readonly AnswerContent[], more: Received = {}) =>
  new DocumentedReply(thingsWith({ 200: contents }), received(more), true);

/** A reply whose body has this schema. */
const withSchema = (schema: unknown, value: unknown) =>
  replyOf([content('application/json', schema)], { text: JSON.stringify(value) });

const LINES = 'application/jsonl';
type Left = 'items' | 'time' | 'octets';

/** A stream of numbers, left before its end for a reason. */
const streamOf = (
  text: string,
  left: Left | null,
  contents: readonly AnswerContent[] = [{ ...content(LINES, null), itemSchema }],
) =>
  replyOf(contents, {
    type: LINES,
    text,
    exchange: { stream: { arrivals: [], ...(left && { left }) } },
  });
const itemSchema = { type: 'number' };

describe('the header', () => {
  const faultOf = (
    headers: readonly Partial<AnswerHeader>[],
    fields: readonly (readonly [string, string])[],
  ) => {
    const operation = thingsWith({ 200: [] });
    const all = headers.map((each) => ({
      name: 'X-Limit',
      required: false,
      schema: { type: 'integer' },
      form: 'comma' as const,
      ...each,
    }));
    const answers = operation.answers.map((each) => ({ ...each, headers: all }));
    return schemas.headerFault(new DocumentedReply({ ...operation, answers }, received({ fields }), true));
  };

  it('is missed only if it is required', () => {
    expect(faultOf([{ required: true }], [])).toBe('no X-Limit');
    expect(faultOf([{}], [])).toBeNull();
    expect(faultOf([{ required: true }], [['x-limit', '5']])).toBeNull();
  });

  it('may be any value that its text stands for', () => {
    expect(faultOf([{ schema: { type: 'string' } }], [['X-Limit', '5']])).toBeNull();
    expect(
      faultOf([{ schema: { type: 'array', items: { type: 'integer' } } }], [['X-Limit', '5,6']]),
    ).toBeNull();
    expect(faultOf([{ schema: null }], [['X-Limit', 'x']])).toBeNull();
  });

  it('is wrong if none of them fits, by what they break rather than by their type', () => {
    expect(faultOf([{}], [['X-Limit', 'many']])).toMatch(/^X-Limit: many, which (?!the whole).*\(type\)$/);
    const bounded = { type: 'integer', minimum: 10 };
    expect(faultOf([{ schema: bounded }], [['X-Limit', '5']])).toMatch(/^X-Limit: 5, which .*\(minimum\)$/);
  });

  // RFC 6265 §3.
  it.each(['Set-Cookie', 'set-cookie'])('%s is not read as one value', (name) => {
    expect(faultOf([{ name }], [[name, 'a=b']])).toBeNull();
    expect(faultOf([{ name, required: true }], [])).toBe(`no ${name}`);
  });

  it('is named with two others at most', () => {
    const names = ['A', 'B', 'C', 'D'].map((name) => ({ name, required: true }));
    expect(faultOf(names, [])).toBe('no A, and no B, and no C');
    expect(faultOf(names.slice(2), [])).toBe('no C, and no D');
  });
});

describe('a body', () => {
  const things = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };

  it('is wrong if its schema refuses it', () => {
    expect(schemas.fault(withSchema(things, { id: 1 }))).toBeNull();
    expect(schemas.fault(withSchema(things, { id: 'x' }))).toMatch(/^one in which "\/id" .*\(type\)$/);
  });

  it('is wrong if it is no JSON', () => {
    expect(schemas.fault(replyOf([content('application/json', things)], { text: '{"id":' }))).not.toBeNull();
    expect(schemas.fault(replyOf([content('application/json', things)], { text: '' }))).not.toBeNull();
  });

  it('is judged if a schema is documented', () => {
    expect(schemas.whyNotJudged(withSchema(things, { id: 1 }))).toBeNull();
    expect(schemas.whyNotJudged(withSchema(null, { id: 1 }))).toEqual({
      reason: 'no schema is documented for its response',
      why: 'open',
    });
  });

  it('may be of any other form if only a range of media types is documented', () => {
    const unjudged = (...types: readonly string[]) =>
      schemas.whyNotJudged(
        replyOf(
          types.map((each) => content(each, things)),
          { type: 'text/json' },
        ),
      );
    const open = expect.objectContaining({ why: 'open' });
    expect(unjudged('*/*')).toEqual(open);
    const ofJson = (type: string) =>
      schemas.whyNotJudged(replyOf([content(type, things)], { text: '{"id":1}' }));
    expect([ofJson('*/*'), ofJson('application/*')]).toEqual([null, null]);
  });

  it('is not judged by halves', () => {
    const failure = { kind: 'closed', message: 'the connection closed' } as const;
    const cut = replyOf([content('application/json', things)], { text: '{"id', exchange: { failure } });
    expect(schemas.whyNotJudged(cut)).toEqual({ reason: 'the connection closed', why: 'unread' });
    expect(schemas.reading.unread(cut.response, cut)).toBe('the connection closed');
    const whole = withSchema(things, {});
    expect(schemas.reading.unread(whole.response, whole)).toBeNull();
  });

  it('is judged up to 512 KiB', () => {
    const ofLength = (octets: number) =>
      schemas.whyNotJudged(
        replyOf([content('application/json', {})], { text: `"${'x'.repeat(octets - 2)}"` }),
      );
    expect(ofLength(524_288)).toBeNull();
    expect(ofLength(524_289)).toEqual({
      reason: 'its content of 524289 octets is too large to be held against a schema',
      why: 'unread',
    });
  });
});

describe('a stream', () => {
  it('is judged by its items, and the first wrong one is named', () => {
    expect(schemas.fault(streamOf('1\n2\n', null))).toBeNull();
    expect(schemas.fault(streamOf('1\n"x"\n"y"\n', null))).toMatch(/^item 2, in which the whole .*\(type\)$/);
    expect(schemas.fault(streamOf('1\n"x"\n', 'items'))).toMatch(/^item 2, /);
  });

  it('is judged by the items that came whole', () => {
    expect(schemas.fault(streamOf('1\n"cut', 'octets'))).toBeNull();
    expect(schemas.whyNotJudged(streamOf('1\n"cut', 'octets'))).toBeNull();
  });

  it('is not judged without a whole item', () => {
    expect(schemas.whyNotJudged(streamOf('"cut', 'octets'))).toEqual({
      reason: 'its first item is longer than is listened to',
      why: 'unread',
    });
    expect(schemas.whyNotJudged(streamOf('', 'time'))).toEqual({
      reason: 'no item of its stream came while it was listened to',
      why: 'open',
    });
    expect(schemas.whyNotJudged(streamOf('1\n', 'time'))).toBeNull();
  });

  it('that was left has no whole body that could be judged', () => {
    const json = [content(LINES, { type: 'string' })];
    expect(schemas.whyNotJudged(streamOf('1\n', 'time', json))).toEqual({
      reason: 'no schema is documented for the items of its stream',
      why: 'open',
    });
  });
});

describe('the fault of a body', () => {
  const sideOf = (schema: unknown, value: unknown) => schemas.faultSide(withSchema(schema, value));

  it('is that of the service', () => {
    expect(sideOf({ type: 'integer' }, 'x')).toBe('service');
    expect(sideOf({ required: ['id'] }, {})).toBe('service');
    expect(sideOf({ additionalProperties: false }, { id: 1 })).toBe('service');
    expect(sideOf({ properties: { a: { required: ['id'] } } }, { a: {} })).toBe('service');
    expect(sideOf(null, 'x')).toBe('service');
  });

  it('is that of the document if several schemas of a oneOf fit', () => {
    expect(sideOf({ oneOf: [{ type: 'integer' }, { type: 'number' }] }, 1)).toBe('document');
    expect(sideOf({ oneOf: [{ type: 'integer' }, { type: 'number' }] }, 'x')).toBe('service');
  });

  it('is that of the document if it demands a member that it forbids', () => {
    const closed = { required: ['id'], additionalProperties: false };
    expect(sideOf(closed, {})).toBe('document');
    expect(sideOf(closed, { id: 1 })).toBe('document');
    expect(sideOf({ properties: { a: closed } }, { a: {} })).toBe('document');
    expect(sideOf({ properties: { a: { items: closed } } }, { a: [{ id: 1 }] })).toBe('document');
  });
});
