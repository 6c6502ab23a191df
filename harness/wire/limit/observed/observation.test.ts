import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../exchange.ts';
import { exampleBody, exampleResponse } from '../../fixtures/example-evidence.ts';
import { at } from '../fixtures/observed.ts';
import {
  faceOf,
  isDropped,
  isFailure,
  isLimitersRefusal,
  oneByOne,
  type RefusalFace,
} from './observation.ts';

const UNAVAILABLE: RefusalFace = { status: 503, content: '' };
const DROPPED: RefusalFace = { status: null, content: '' };

describe('the refusal of a limiter', () => {
  const face = (status: number, body: string) =>
    faceOf({ response: exampleResponse({ status, body: exampleBody(body) }) });

  it('has a content without its numbers', () => {
    expect(face(503, 'Slow down, 0x4F2A is at 17:03')).toEqual(face(503, 'Slow down, 0xab99 is at 9:59'));
    expect(face(503, 'Slow down').content).toBe('Slow down');
    expect(faceOf({ response: null })).toEqual({ status: null, content: '' });
    expect(face(503, `${'x'.repeat(2_048)}y`)).toEqual(face(503, `${'x'.repeat(2_048)}z`));
    expect(face(503, `${'x'.repeat(2_047)}y`)).not.toEqual(face(503, `${'x'.repeat(2_047)}z`));
  });

  it.each<readonly [string, number | null, string, RefusalFace | null, boolean]>([
    ['429, whatever was met', 429, 'a', null, true],
    ['another status, while none was met', 503, '', null, false],
    ['another status, where 429 is the refusal', 503, '', { status: 429, content: '' }, false],
    ['the status and the content of the refusal', 503, 'slow', { status: 503, content: 'slow' }, true],
    ['the status alone', 503, 'down', { status: 503, content: 'slow' }, false],
    ['the content alone', 500, 'slow', { status: 503, content: 'slow' }, false],
    ['no content, as for HEAD', 503, '', { status: 503, content: 'slow' }, true],
    ['another status without content', 500, '', { status: 503, content: 'slow' }, false],
    ['a content where the refusal to HEAD had none', 503, 'slow', UNAVAILABLE, true],
    ['a response, where the limiter drops', 503, '', DROPPED, false],
    ['no response, where the limiter answers', null, '', UNAVAILABLE, false],
  ])('%s: %s', (_, status, body, met, isRefusal) => {
    const response = status === null ? null : exampleResponse({ status, body: exampleBody(body) });
    const failure = status === null ? { kind: 'reset' as const, message: '' } : null;
    expect(isLimitersRefusal({ response, failure }, met)).toBe(isRefusal);
  });

  it('may be the end of the connection, without an answer', () => {
    const failure = (kind: NonNullable<Exchange['failure']>['kind']) => ({ kind, message: '' });
    expect(isDropped({ response: null, failure: failure('reset') })).toBe(true);
    expect(isDropped({ response: null, failure: failure('closed') })).toBe(true);
    expect(isDropped({ response: null, failure: failure('response-timeout') })).toBe(false);
    expect(isDropped({ response: null, failure: null })).toBe(false);
    expect(isDropped({ response: exampleResponse(), failure: failure('closed') })).toBe(false);
  });

  it.each([
    [500, true],
    [502, true],
    [503, true],
    [504, true],
    [501, false],
    [505, false],
    [429, false],
    [null, false],
  ])('a failure of the server is %s: %s', (status, isIt) => {
    expect(isFailure(status)).toBe(isIt);
  });
});

describe('requests one by one', () => {
  it('are those with an answer that were not sent together, in order', () => {
    const all = [
      at(30, 'admitted'),
      at(20, 'lost'),
      at(10, 'refused', { part: 'serial' }),
      at(5, 'admitted', { part: 'parallel' }),
    ];
    expect(oneByOne(all).map(({ sentMs }) => sentMs)).toEqual([10, 30]);
  });
});
