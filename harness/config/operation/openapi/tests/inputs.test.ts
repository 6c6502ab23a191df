import { describe, expect, it } from 'vitest';
import { described, OK, oneOperation, onlyOperation } from '../fixtures/described.ts';

const get = (parameters: readonly object[], path = '/things', root: object = {}) => ({
  openapi: '3.1.0',
  paths: { [path]: { get: { parameters, responses: { 200: OK } } } },
  ...root,
});
const query = (more: object) => ({ name: 'q', in: 'query', required: true, ...more });

describe('the value of a required parameter', () => {
  it.each<[string, object, string]>([
    ['its example', { example: 'a b', schema: { default: 'c' } }, '/things?q=a%20b'],
    ['its first example', { examples: { first: { value: 'x' }, second: { value: 'y' } } }, '/things?q=x'],
    ['the example of its schema', { schema: { type: 'string', example: 's' } }, '/things?q=s'],
    ['an example of its schema', { schema: { type: 'string', examples: ['s', 't'] } }, '/things?q=s'],
    ['its default', { schema: { type: 'integer', default: 20, enum: [10, 20] } }, '/things?q=20'],
    ['its constant', { schema: { const: 'only' } }, '/things?q=only'],
    ['its first enumerated value', { schema: { enum: ['e', 'f'] } }, '/things?q=e'],
    ['made up from its schema', { schema: { type: 'boolean' } }, '/things?q=false'],
    [
      'JSON where its content is',
      { content: { 'application/json': { example: { a: 1 } } } },
      '/things?q=%7B%22a%22%3A1%7D',
    ],
    ['repeated for a list', { example: [1, 2], schema: { type: 'array' } }, '/things?q=1&q=2'],
    [
      'one list without explode',
      { example: [1, 2], explode: false, schema: { type: 'array' } },
      '/things?q=1,2',
    ],
    ['separated by pipes', { example: [1, 2], style: 'pipeDelimited', explode: false }, '/things?q=1%7C2'],
    [
      'a deep object',
      { example: { a: 1, b: 'c' }, style: 'deepObject', explode: true },
      '/things?q%5Ba%5D=1&q%5Bb%5D=c',
    ],
  ])('is %s', async (_, parameter, path) => {
    const operation = await onlyOperation(get([query(parameter)]));
    expect([operation.uncallable, operation.path]).toEqual([null, path]);
  });

  it.each([
    ['label', false, [1, 2], '/things/.1,2'],
    ['label', true, [1, 2], '/things/.1.2'],
    ['matrix', false, 'a b', '/things/;id=a%20b'],
    ['matrix', true, [1, 2], '/things/;id=1;id=2'],
    ['simple', true, { x: 1, y: 2 }, '/things/x=1,y=2'],
  ])('has the style %s in a path, explode %s', async (style, explode, example, path) => {
    const document = get(
      [{ name: 'id', in: 'path', required: true, style, explode, example }],
      '/things/{id}',
    );
    expect((await onlyOperation(document)).path).toBe(path);
  });

  it('keeps its reserved characters where it may', async () => {
    const document = get([query({ example: 'a/b?c&d', allowReserved: true })]);
    expect((await onlyOperation(document)).path).toBe('/things?q=a/b?c%26d');
  });

  it('is the same each time it is made up', async () => {
    const document = get([query({ schema: { type: 'string', format: 'uuid' } })]);
    expect((await onlyOperation(document)).path).toBe((await onlyOperation(document)).path);
  });

  it('is short where much longer texts are admitted', async () => {
    const document = get([query({ schema: { type: 'string', maxLength: 1_000_000 } })]);
    expect((await onlyOperation(document)).path.length).toBeLessThan(1_100);
  });

  it('goes where it belongs', async () => {
    const parameters = [
      { name: 'id', in: 'path', required: true, example: 'a/b' },
      { name: 'X-Tenant', in: 'header', required: true, example: 'one' },
      { name: 'session', in: 'cookie', required: true, example: 's 1' },
      { name: 'optional', in: 'query', example: 'not sent' },
    ];
    const { path, template, fields } = await onlyOperation(get(parameters, '/things/{id}'));
    expect([path, template]).toEqual(['/things/a%2Fb', '/things/{id}']);
    expect(fields.join(' ')).toBe('X-Tenant,one Cookie,session=s%201');
  });

  it('is overridden by the operation where its path has one too', async () => {
    const document = get([query({ example: 'own' })]);
    const [item] = Object.values(document.paths);
    Object.assign(item ?? {}, { parameters: [query({ example: 'general' })] });
    expect((await onlyOperation(document)).path).toBe('/things?q=own');
  });
});

describe('an operation cannot be called', () => {
  const withId = (more: object) => get([{ name: 'id', in: 'path', required: true, ...more }], '/things/{id}');

  it.each<[string, object, string]>([
    [
      'without an identifier',
      withId({ schema: { type: 'string' } }),
      'the required path parameter "id" has no example, default or enumerated value',
    ],
    ['by an identifier that changes the path', withId({ example: '..' }), 'no path segment'],
    [
      'when nothing describes its path',
      get([], '/things/{id}'),
      'its path has {id}, which no parameter describes',
    ],
    ['in a style that is not spoken', withId({ style: 'own', example: 1 }), 'style'],
    [
      'by a field that no message can carry',
      get([{ name: 'X', in: 'header', required: true, example: 'a\nb' }]),
      'no field can carry',
    ],
    [
      'with a value that cannot be',
      get([query({ schema: { type: 'integer', minimum: 2, maximum: 1 } })]),
      'no value can be made up',
    ],
    [
      'with a value that is too large',
      get([query({ schema: { type: 'string', minLength: 1_000_000 } })]),
      'demands minLength 1000000',
    ],
    [
      'with a value that repeats too often',
      get([query({ schema: { type: 'string', pattern: 'a{99999}' } })]),
      'a very long text',
    ],
    [
      'when no success is documented',
      oneOperation({ responses: { 404: { description: 'none' } } }),
      'no success is documented',
    ],
  ])('%s', async (_, document, reason) => {
    expect((await onlyOperation(document)).uncallable).toContain(reason);
  });
});

describe('an operation that answers with a stream', () => {
  const answering = (...types: readonly string[]) => {
    const content = Object.fromEntries(types.map((type) => [type, {}]));
    return onlyOperation(oneOperation({ responses: { 200: { description: 'ok', content } } }));
  };

  it('of items is called, and listened to', async () => {
    const { uncallable, stream, fields } = await answering('text/event-stream', 'application/x-ndjson');
    expect({ uncallable, stream, fields }).toEqual({
      uncallable: null,
      stream: { listenMs: 10_000, firstWithinMs: null, heartbeatMs: null, resumes: false },
      fields: [['Accept', 'text/event-stream, application/x-ndjson']],
    });
  });

  it('or with something else is asked for the other', async () => {
    const { stream, fields } = await answering('application/json', 'text/event-stream');
    expect({ stream, fields }).toEqual({ stream: undefined, fields: [['Accept', 'application/json']] });
  });

  it('of pictures is not called: its answer would not end', async () => {
    expect((await answering('multipart/x-mixed-replace')).uncallable).toContain('a stream');
  });
});

describe('the credential among the parameters', () => {
  it('is left to the config', async () => {
    const named = [{ name: 'Authorization', in: 'header', required: true }];
    expect((await onlyOperation(get(named))).uncallable).toBeNull();
  });
});

const post = (content: object, more: object = {}) => {
  const operation = { requestBody: { required: true, content, ...more }, responses: { 201: OK } };
  return { openapi: '3.1.0', paths: { '/things': { post: operation } } };
};

describe('the body of a request', () => {
  const schema = {
    type: 'object',
    required: ['name', 'size'],
    properties: { name: { type: 'string', example: 'a' }, size: { enum: [3] }, note: { type: 'string' } },
  };

  const JSON_TYPE = 'application/json';
  const FORM = 'application/x-www-form-urlencoded';
  const PATCH = 'application/merge-patch+json';
  it.each<[string, string, object, string]>([
    [
      'its example',
      JSON_TYPE,
      { [JSON_TYPE]: { example: { name: 'b', size: 3 }, schema } },
      '{"name":"b","size":3}',
    ],
    ['its first example', JSON_TYPE, { [JSON_TYPE]: { examples: { one: { value: [1] } } } }, '[1]'],
    ['made up, what is required only', JSON_TYPE, { [JSON_TYPE]: { schema } }, '{"name":"a","size":3}'],
    ['JSON before other forms', PATCH, { 'text/plain': { example: 'x' }, [PATCH]: { example: {} } }, '{}'],
    ['a form', FORM, { [FORM]: { example: { a: 'b c', d: [1, 2] } } }, 'a=b+c&d=1&d=2'],
    ['text', 'text/csv', { 'text/csv': { example: 'a,b' } }, 'a,b'],
  ])('is %s', async (_, mediaType, content, text) => {
    const operation = await onlyOperation(post(content));
    expect([operation.uncallable, operation.body]).toEqual([null, { mediaType, text }]);
  });

  it('is a form of parts, in which files have a name', async () => {
    const file = { type: 'string', format: 'binary', example: 'abc' };
    const form = { type: 'object', required: ['note', 'file'], properties: { note: { enum: ['n'] }, file } };
    const operation = await onlyOperation(post({ 'multipart/form-data': { schema: form } }));
    expect(operation.body).toEqual({
      mediaType: 'multipart/form-data; boundary=conform-boundary',
      text: [
        '--conform-boundary',
        'Content-Disposition: form-data; name="note"',
        '',
        'n',
        '--conform-boundary',
        'Content-Disposition: form-data; name="file"; filename="conform.txt"',
        'Content-Type: text/plain',
        '',
        'abc',
        '--conform-boundary--',
        '',
      ].join('\r\n'),
    });
  });

  it('is a file of its media type, in a form too, where the document shows none', async () => {
    const sent = async (content: object) => (await onlyOperation(post(content))).body;
    expect(await sent({ 'application/pdf': {} })).toMatchObject({
      mediaType: 'application/pdf',
      text: expect.stringMatching(/^%PDF-1\.4\n/),
      isOctets: true,
    });
    const properties = {
      names: { type: 'string', format: 'binary' },
      picture: { type: 'string', contentMediaType: 'image/jpeg' },
      über: { const: 'ö' },
    };
    const form = { type: 'object', required: Object.keys(properties), properties };
    const encoding = { names: { contentType: 'text/csv' } };
    const { text, isOctets } = (await sent({ 'multipart/form-data': { schema: form, encoding } })) ?? {};
    const file = (name: string, type: string) =>
      `filename="conform.${name}"\r\nContent-Type: ${type}\r\n\r\n`;
    expect(isOctets).toBe(true);
    expect(text).toContain(`${file('csv', 'text/csv')}id,name\r\n`);
    expect(text).toContain(`${file('jpg', 'image/jpeg')}\xff\xd8\xff`);
    const written = Buffer.from(text ?? '', 'latin1').toString('utf8');
    expect(written).toContain('name="über"\r\n\r\nö\r\n');
  });

  it('is a few octets where it has no form, and another form as the document shows it', async () => {
    const octets = { 'application/octet-stream': {} };
    const xml = { 'application/xml': { example: '<a/>' } };
    const sent = async (content: object) => (await onlyOperation(post(content))).body;
    expect(await sent(octets)).toEqual({ mediaType: 'application/octet-stream', text: 'conform' });
    expect(await sent(xml)).toEqual({ mediaType: 'application/xml', text: '<a/>' });
  });

  it('that cannot be made up stops the call only where it is required', async () => {
    const content = { 'application/xml': { schema } };
    expect((await onlyOperation(post(content))).uncallable).toContain('application/xml');
    const optional = await onlyOperation(post(content, { required: false }));
    expect([optional.uncallable, optional.body]).toEqual([null, null]);
  });

  it('without end is not made up', async () => {
    const next = { $ref: '#/components/schemas/E' };
    const endless = { type: 'object', required: ['next'], properties: { next } };
    const document = {
      ...post({ 'application/json': { schema: next } }),
      components: { schemas: { E: endless } },
    };
    expect((await onlyOperation(document)).uncallable).toContain('no value can be made up');
  });
});

it('sends no parameter that the path does not have', async () => {
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' }, example: 1 }];
  const { operations, documentRemarks } = await described(get(parameters));
  expect(operations[0]?.call.inputs).toEqual([]);
  expect(documentRemarks?.map(({ text }) => text)).toEqual([
    '"get" its path has no {id}; this parameter is not sent',
  ]);
});
