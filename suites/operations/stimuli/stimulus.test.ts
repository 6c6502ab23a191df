import { expect, it } from 'vitest';
import { described } from '../../../harness/config/operation/openapi/fixtures/described.ts';
import { stimulusOf } from './stimulus.ts';

it('sends a file as its octets, and a text in UTF-8', async () => {
  const { operations } = await described({
    openapi: '3.1.0',
    paths: { '/files': { post: { responses: { 204: { description: '' } } } } },
  });
  const [operation] = operations;
  if (operation === undefined) throw new Error('no operation');
  const body = { mediaType: 'image/png', text: '\x89PNG' };
  const content = (more: object) =>
    stimulusOf({
      operation,
      kind: 'call',
      method: 'POST',
      path: '/files',
      fields: [],
      body: { ...body, ...more },
      what: '',
    }).content;
  expect(Buffer.from(content({ isOctets: true }) ?? '')).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47]));
  expect(content({})).toBe('\x89PNG');
});
