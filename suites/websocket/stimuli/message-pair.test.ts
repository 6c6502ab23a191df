import { expect, it } from 'vitest';
import { OPCODE } from '../../../harness/wire/conversation/frame.ts';
import { assemble } from '../../../harness/wire/conversation/message.ts';
import { SchemaBook } from '../../../harness/wire/json/schema.ts';
import { answerFault } from './message-pair.ts';

function faultOf(text: string, schema: object): string | null {
  const payload = Buffer.from(text);
  const frame = { fin: true, rsv: 0, opcode: OPCODE.text, masked: false, length: payload.length, payload };
  const [message] = assemble([{ atMs: 0, frame: { ...frame, lengthOctets: 0, truncated: false } }]).messages;
  if (message === undefined) throw new Error('no message');
  return answerFault(message, new SchemaBook().compile(schema));
}

const OBJECT = { type: 'object', required: ['ok'] };

it.each([
  ['{"ok":1}{"ok":2}', 'several JSON texts in one message'],
  ['{"ok":1}\n[2]\n{"ok":3}', 'several JSON texts in one message'],
  ['"{\\"ok\\":1}"', 'a JSON string that holds JSON'],
  ['{"ok":1} trailing', 'one in which the whole must be object (type)'],
  ['"ok"', 'one in which the whole must be object (type)'],
  ['"1"', 'one in which the whole must be object (type)'],
])('%s is no answer: %s', (text, fault) => {
  expect(faultOf(text, OBJECT)).toBe(fault);
});

it.each([
  ['{"ok":1}', OBJECT],
  [' {"ok":1}\n', OBJECT],
  ['{"ok":"{\\"a\\":1}"}', OBJECT],
  ['"{\\"ok\\":1}"', { type: 'string' }],
  ['{"a":1}\n{"b":2}', { type: 'string' }],
  ['[{"ok":1},{"ok":2}]', { type: 'array' }],
  ['1 2', { type: 'string' }],
])('%s is an answer where the schema takes it', (text, schema) => {
  expect(faultOf(text, schema)).toBe(null);
});
