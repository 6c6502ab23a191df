import { describe, expect, it } from 'vitest';
import type { DocumentedMessage } from '../../../harness/config/asyncapi/documented-messages.ts';
import type { Message } from '../../../harness/wire/conversation/message.ts';
import { EndpointBook } from './endpoint-book.ts';
import { messageOf } from './fixtures/documented.ts';

const DEFINITIONS = {
  'x:named': {
    type: 'object',
    required: ['type', 'size'],
    properties: { type: { const: 'named' }, size: { type: 'number' } },
  },
  'x:other': { type: 'object', required: ['type'], properties: { type: { const: 'other' } } },
  'x:open': { type: 'object', required: ['open'] },
  'x:word': { type: 'string' },
  'x:nothing': { type: 'null' },
  'x:endless': { allOf: [{ $ref: 'x:endless' }] },
};

const schema = (name: keyof typeof DEFINITIONS) => ({ schema: { $ref: name } });
const kind = (value: string) => ({ kind: { member: 'type', values: [value] } });
const NAMED = messageOf('named', { ...schema('x:named'), ...kind('named') });
const OTHER = messageOf('other', { ...schema('x:other'), ...kind('other') });
const OPEN = messageOf('open', schema('x:open'));
const ANY = messageOf('any');
const WORD = messageOf('word', { ...schema('x:word'), contentType: 'text/plain' });
const NOTHING = messageOf('nothing', schema('x:nothing'));
const TEXT = { contentType: 'text/plain' };

const came = (text: string, more: Partial<Message> = {}): Message => ({
  ...{ atMs: 0, kind: 'text', length: text.length, payload: Buffer.from(text), text },
  ...{ truncated: false, digest: null, frames: 1, isHeartbeat: false },
  ...more,
});
const binary = (text: string) => came(text, { kind: 'binary', text: null });

const judged = (messages: readonly DocumentedMessage[], message: Message) =>
  new EndpointBook({ messages }, DEFINITIONS).judge(message);

describe('a message of an endpoint', () => {
  it.each<readonly [string, readonly DocumentedMessage[], Message, object]>([
    ['that fits', [NAMED], came('{"type":"named","size":1}'), { is: 'documented', message: NAMED }],
    ['in binary', [NAMED], binary('{"type":"named","size":1}'), { is: 'documented', message: NAMED }],
    ['that fits the second', [NAMED, OTHER], came('{"type":"other"}'), { is: 'documented', message: OTHER }],
    ['that fits one without a schema', [ANY], came('1'), { is: 'documented', message: ANY, value: 1 }],
    ['that fits one with a schema too', [ANY, OPEN], came('{"open":1}'), { is: 'documented', message: OPEN }],
    ['that is null', [NOTHING], came('null'), { is: 'documented', message: NOTHING, value: null }],
    ['that is null, and no word', [messageOf('w', schema('x:word'))], came('null'), { is: 'misfit' }],
    ['that was cut', [ANY], came('1', { truncated: true }), { is: 'unread' }],
    [
      'with a secret',
      [ANY],
      came('"[redacted:KEY]"'),
      { is: 'unjudged', reason: 'a message holds a secret' },
    ],
    ['with an endless schema', [messageOf('e', schema('x:endless'))], came('1'), { is: 'unjudged' }],
    ['that is no JSON', [ANY], came('{'), { is: 'malformed', got: 'a text that is not JSON' }],
    [
      'that is no JSON, in binary',
      [ANY],
      binary('{'),
      { is: 'malformed', got: 'a binary message that is not JSON' },
    ],
    ['that says what it is', [NAMED, OTHER], came('{"type":"named"}'), { is: 'misfit', message: NAMED }],
    ['that says the second', [OTHER, NAMED], came('{"type":"named"}'), { is: 'misfit', message: NAMED }],
    ['beside one of no kind', [OPEN, OTHER], came('{}'), { is: 'misfit', message: OPEN }],
    [
      'beside two of no kind',
      [OPEN, messageOf('again', schema('x:open'))],
      came('{}'),
      { is: 'undocumented', got: 'a message of another form' },
    ],
    [
      'of another type',
      [NAMED],
      came('{"type":"x"}'),
      { is: 'undocumented', got: 'a message with type "x"' },
    ],
    [
      'of a kind of its own',
      [messageOf('k', { ...schema('x:other'), kind: { member: 'op', values: ['a'] } })],
      came('{"type":"t","op":"b"}'),
      { is: 'undocumented', got: 'a message with op "b"' },
    ],
    [
      'of an event',
      [NAMED],
      came('{"type":1,"event":"e"}'),
      { is: 'undocumented', got: 'a message with event "e"' },
    ],
    [
      'with a long name',
      [NAMED],
      came(`{"type":"${'x'.repeat(61)}"}`),
      { is: 'undocumented', got: expect.stringMatching(/^a message with type "x{59,60}…?"$/) },
    ],
    ['that is an array', [NAMED], came('[]'), { is: 'undocumented', got: 'a message that is an array' }],
    ['that is a number', [NAMED], came('1'), { is: 'undocumented', got: 'a message that is a number' }],
    [
      'that is an inherited name',
      [NAMED],
      came('{}'),
      { is: 'undocumented', got: 'a message of another form' },
    ],
    [
      'that is an undocumented null',
      [NAMED],
      came('null'),
      { is: 'undocumented', got: 'a message that is null' },
    ],
    [
      'in text, which is no JSON',
      [ANY, messageOf('t', { ...TEXT, ...schema('x:open') })],
      came('hello'),
      { is: 'misfit', message: { name: 't' } },
    ],
    ['in text', [WORD], came('hello'), { is: 'documented', value: 'hello' }],
    ['in text that could be JSON', [WORD], came('42'), { is: 'documented', value: '42' }],
    [
      'in octets',
      [messageOf('o', { ...schema('x:word'), contentType: 'application/octet-stream' })],
      binary('\u0001'),
      { is: 'documented' },
    ],
    [
      'of JSON in text',
      [messageOf('t', { ...TEXT, ...schema('x:open') })],
      came('{"open":1}'),
      { is: 'documented', value: { open: 1 } },
    ],
    [
      'of no such JSON in text',
      [messageOf('t', { ...TEXT, ...schema('x:open') })],
      came('{}'),
      { is: 'misfit' },
    ],
    [
      'in text beside JSON',
      [NAMED, messageOf('t', TEXT)],
      came('hello'),
      { is: 'documented', message: { name: 't' } },
    ],
    [
      'in text, and of no JSON that is documented',
      [NAMED, messageOf('t', { ...TEXT, ...schema('x:open'), ...kind('t') })],
      came('hello'),
      { is: 'undocumented', got: 'a message that is a string' },
    ],
  ])('%s', (_, messages, message, verdict) => {
    expect(judged(messages, message)).toMatchObject(verdict);
  });
});
