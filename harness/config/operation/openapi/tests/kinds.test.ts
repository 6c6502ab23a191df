import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { described } from '../fixtures/described.ts';

/** Each operation of a document as it is called, or why it is not. */
async function callsOf(document: string) {
  const text = readFileSync(new URL(`../fixtures/${document}`, import.meta.url), 'utf8');
  const config = await described(text);
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
      ...[PART, file('scan'), 'Content-Type: image/png', '', expect.stringMatching(/^\w+$/)],
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
      expect.stringMatching(/^\{"kind":"","pages":\d+\}$/),
    ],
    search: ['QUERY /v2/search', 'application/json', '{"q":"a"}'],
    link: ['LINK /v2/search'],
    queryString: ['GET /v2/qs?a=x%20y'],
    lines: ['GET /v2/lines', 'Accept: application/jsonl'],
    events: 'it answers with a stream (text/event-stream)',
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
