import { describe, expect, it } from 'vitest';
import { thingsDocument } from '../../../harness/config/operation/fixtures/things.ts';
import { described } from '../../../harness/config/operation/openapi/fixtures/described.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import {
  exampleExchange,
  exampleRequest,
  exampleResponse,
} from '../../../harness/wire/fixtures/example-evidence.ts';
import { createdId, textLossIn, unusualBody } from './item.ts';
import { lifecyclesIn } from './own-operations.ts';

const [lifecycle] = lifecyclesIn(await described(thingsDocument(), 'safety: { unsafeMethods: true }\n'));
if (lifecycle === undefined) throw new Error('the document has a lifecycle');

const written = unusualBody({ name: 'a name' }, lifecycle);
const NAME = String(written.name);

/** The loss if a service does this to the name that was written. */
const lossBy = (change: (text: string) => string) =>
  textLossIn(written, { id: '1', name: change(NAME) }, lifecycle);

describe('a text beyond ASCII', () => {
  it.each<[string, (text: string) => string]>([
    ['cut before an emoji', (text) => text.split(/\p{Emoji_Presentation}/u, 1).join('')],
    ['without the second half of an emoji', (text) => text.replace(/[\u{1f000}-\u{1ffff}]/gu, '\ud83d')],
    ['with a question mark for an emoji', (text) => text.replaceAll(/[\u{1f000}-\u{1ffff}]/gu, '?')],
    ['without the color of an emoji', (text) => text.replaceAll('\u{1f3fd}', '')],
    ['without combining characters', (text) => text.replaceAll(/\p{M}/gu, '')],
    ['cut within a combining sequence', (text) => text.slice(0, text.indexOf('\u0301'))],
    ['without accents', (text) => text.normalize('NFD').replaceAll(/\p{M}/gu, '')],
    ['with a question mark for letters beyond ASCII', (text) => text.replaceAll(/[öß漢字]/g, '?')],
    ['read as Latin-1', (text) => Buffer.from(text).toString('latin1')],
    ['in ASCII alone', (text) => text.replaceAll(/[^ -~]/g, '')],
  ])('is not kept %s', (_, change) => {
    expect(change(NAME)).not.toBe(NAME);
    expect(lossBy(change)).toContain('"name"');
  });

  it.each<[string, (text: string) => string]>([
    ['as it is', (text) => text],
    ['in normal form C', (text) => text.normalize('NFC')],
    ['in normal form D', (text) => text.normalize('NFD')],
    ['with spaces around it', (text) => ` ${text} `],
  ])('is kept %s', (_, change) => {
    expect(lossBy(change)).toBeNull();
  });
});

it.each([
  ['/items/8', '8'],
  ['https://example.test/v1/items/8/', '8'],
  ['/items/a%20b?version=3', 'a b'],
  ['/items?id=eq.8', '8'],
  ['/items?id=8&select=id', '8'],
  ['items?id=eq.a%20b', 'a b'],
  ['/items', null],
  ['/items/?select=id', null],
  ['/items/%ff', null],
])('an item that was created at %s is %s', (location, id) => {
  const request = exampleRequest({ method: 'POST', url: 'https://example.test/items' });
  const response = exampleResponse({ status: 201, fields: [['Location', location]] });
  expect(createdId(new Reply(exampleExchange({ request, response })), { idMember: 'id' })).toBe(id);
});
