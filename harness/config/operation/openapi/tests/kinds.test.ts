import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SchemaBook } from '../../../../wire/json/schema.ts';
import { sampleFile } from '../../call/sample-files.ts';
import { described } from '../fixtures/described.ts';

/** Each operation of a document as it is called, or why it is not. */
async function callsOf(document: string, files: Readonly<Record<string, string>> = {}) {
  const text = readFileSync(new URL(`../fixtures/${document}`, import.meta.url), 'utf8');
  const config = await described(text, '', files);
  const calls = config.operations.map(({ id, method, path, fields, body, uncallable, auth }) => {
    const lines = fields.map(([name, value]) => `${name}: ${value}`);
    const content = body === null ? [] : [body.mediaType, ...body.text.split('\r\n')];
    const open = auth === 'required' ? [] : [`credential: ${auth}`];
    return [id, uncallable ?? [`${method} ${path}`, ...open, ...lines, ...content]] as const;
  });
  return { config, calls: Object.fromEntries(calls) };
}

const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=conform-boundary';
const PART = '--conform-boundary';
const part = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const file = (name: string) => `${part(name)}; filename="conform.txt"`;

it('calls or names each kind of operation of OpenAPI 3.2', async () => {
  const { config, calls } = await callsOf('bookshop-3.2.yaml');
  expect(calls).toEqual({
    deep: ['GET /v2/deep?filter%5Bfrom%5D=1&filter%5Bto%5D=a%20b'],
    pipes: ['GET /v2/pipes?ids=a%7Cb'],
    spaces: ['GET /v2/spaces?ids=a%20b'],
    reserved: ['GET /v2/reserved?at=/a?b=c:d'],
    contentParameter: ['GET /v2/content?filter=%7B%22a%22%3A%5B1%5D%7D'],
    cookies: ['GET /v2/cookies', 'X-Ids: 1,2', 'Cookie: lang=de%20AT'],
    matrix: ['GET /v2/matrix/;ids=1;ids=2/label.txt'],
    form: ['POST /v2/form', FORM, 'name=a%26b+c&tags=x&tags=y'],
    formEncoding: ['POST /v2/formencoded', FORM, 'tags=x,y&where=%7B%22a%22%3A1%7D'],
    upload: [
      'POST /v2/upload',
      MULTIPART,
      ...[PART, part('title'), '', 'T'],
      ...[PART, `${part('scan')}; filename="conform.png"`, 'Content-Type: image/png', ''],
      ...(sampleFile('image/png')?.octets.split('\r\n') ?? []),
      ...[PART, part('about'), 'Content-Type: application/json', '', '{"a":1}'],
      `${PART}--`,
      '',
    ],
    octets: ['PUT /v2/octets', 'application/octet-stream', 'conform'],
    xmlOnly: 'its body is taken as application/xml, which is not made up here',
    xmlAnswer: ['GET /v2/xml', 'Accept: application/xml'],
    xmlShown: ['POST /v2/xmlshown', 'application/xml', '<a>1</a>'],
    elsewhere: 'it is served at another address, https://uploads.example',
    pathServer: ['GET /v3/below'],
    open: ['GET /v2/open', 'credential: none'],
    either: ['GET /v2/either'],
    optional: ['GET /v2/optional', 'credential: optional'],
    unmet: 'demands a key in the query "token", and the config has the scheme bearer',
    addBook: [
      'POST /v2/books',
      'Accept: application/json',
      'application/json',
      expect.stringMatching(/^\{"kind":"novel","pages":\d+\}$/),
    ],
    search: ['QUERY /v2/search', 'application/json', '{"q":"a"}'],
    link: ['LINK /v2/search'],
    queryString: ['GET /v2/qs?a=x%20y'],
    lines: ['GET /v2/lines', 'Accept: application/jsonl'],
    events: ['GET /v2/events', 'Accept: text/event-stream'],
  });
  expect(config.documentedWebhooks).toEqual(['sold', 'printed']);
});

it('calls or names each kind of operation of Swagger 2.0', async () => {
  const { config, calls } = await callsOf('bookshop-2.0.yaml');
  expect(calls).toEqual({
    noSchema: ['GET /v1/plain'],
    multi: [
      'GET /v1/multi?a=1&a=2&b=q%20r&c=q%7Cr&d=q%09r&e=q,r',
      'Accept: application/json, application/xml',
    ],
    form: ['POST /v1/form', FORM, 'a=x+y'],
    file: [
      'POST /v1/file',
      MULTIPART,
      ...[PART, file('f'), 'Content-Type: text/plain', '', 'conform'],
      ...[PART, part('t'), '', 'x'],
      `${PART}--`,
      '',
    ],
    bodyXml: 'its body is taken as application/xml, which is not made up here',
  });
  expect(config.documentRemarks).toBeUndefined();
});

// FastAPI, NestJS, springdoc, Swashbuckle, tsoa, drf-spectacular, goa, Kong, Azure and converted Google documents.
it('reads what generators make, loses nothing and blames the document for its own faults alone', async () => {
  const thing = 'Thing: { type: object, properties: { self: { $ref: "#/Thing" } } }';
  const schema = 'schema: { $ref: "#/Thing" }';
  const ok = `{ '200': { description: ok, content: { application/json: { ${schema} } } } }`;
  const other = `item: { get: { operationId: external, responses: ${ok} } }\n${thing}\n`;
  const { config, calls } = await callsOf('makes-3.0.yaml', { 'openapi/other.yaml': other });
  const json = 'Accept: application/json';
  expect(calls).toEqual({
    list: ['GET /nodes/', json],
    'POST /nodes/': [
      'POST /nodes/',
      'application/json',
      expect.stringMatching(/^\{"id":\d+,"size":5,"score":[\d.]+,"when":"2024-05-01"\}$/),
    ],
    read: ['GET /nodes/a1?since=2024-05-01&at=2024-05-01T10%3A00%3A00Z&maybe=', json],
    twice: ['GET /nodes/a1/copy/a1'],
    json: ['GET /nodes/a1.json'],
    range: ['GET /range/1-2'],
    viaRef: ['GET /item'],
    external: ['GET /other', json],
    google: ['GET /google/projects/p'],
    odata: ['GET /odata/Books(a1)'],
    custom: ['POST /act/a1:cancel'],
    long: 'the required path parameter "no" has no example, default or enumerated value',
  });
  expect(config.documentRemarks?.map(({ text }) => text)).toEqual([
    '"operationId" is that of another operation; POST /nodes/ stands for it',
    '"example" is an integer beyond 2^53, of which the last digits are lost; it is not sent',
  ]);
  expect(config.operations.map(({ answers }) => answers.map(({ code }) => code).join()).slice(0, 3)).toEqual([
    '200,default',
    '2XX,4XX',
    'default',
  ]);
  const [list] = config.operations;
  const judge = new SchemaBook(config.definitions ?? {}).compile(list?.response.schema);
  const node = { id: 2 ** 60, size: 1, when: '2024-05-01', score: 9.9 };
  const full = {
    ...node,
    kind: null,
    parent: null,
    owner: null,
    next: { name: null },
    children: [node],
    more: 1,
  };
  expect(judge([node, full])).toBeNull();
  expect(judge([{ ...node, size: 0 }])?.keyword).toBe('exclusiveMinimum');
  expect(judge([{ ...node, children: [{ ...node, score: 10 }] }])?.keyword).toBe('exclusiveMaximum');
});
