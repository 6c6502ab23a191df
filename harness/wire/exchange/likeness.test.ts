import { describe, expect, it } from 'vitest';
import type { Exchange, FieldLine, RecordedResponse } from '../exchange.ts';
import { exampleBody, exampleExchange, exampleResponse } from '../fixtures/example-evidence.ts';
import { countsDiffer, countsInTurn, isList, type Likeness, UNLIKE } from './likeness.ts';
import { Reply } from './reply.ts';

const reply = (response: Partial<RecordedResponse>, exchange: Partial<Exchange> = {}) =>
  new Reply(exampleExchange({ response: exampleResponse(response), ...exchange }));
const fields = (...lines: readonly FieldLine[]) => reply({ fields: lines });
const body = (content: string) =>
  reply({ fields: [['Content-Type', 'application/json']], body: exampleBody(content) });
const silent = reply({}, {
  response: null,
  failure: { kind: 'reset', message: 'it was reset' },
} as Partial<Exchange>);

/** Three alike, and one that is not. */
const odd = (property: Likeness, usual: Reply, other: Reply) => {
  const found = UNLIKE[property]([usual, other, usual, usual]);
  return found && `${found.usual} / ${found.odd}`;
};

describe('one of several answers', () => {
  it('has another status, or none', () => {
    expect(odd('status', reply({}), reply({ status: 503 }))).toBe('status 200 / status 503');
    expect(odd('status', reply({}), silent)).toBe('status 200 / no whole response (it was reset)');
    expect(odd('status', reply({}), reply({}))).toBeNull();
    const cut = reply({}, { failure: { kind: 'body-too-large', message: 'x' } });
    expect(odd('status', reply({}), cut)).toBeNull();
  });

  it('has another media type', () => {
    expect(odd('media type', fields(['Content-Type', 'a/b']), fields())).toBe(
      'Content-Type a/b / no Content-Type',
    );
    expect(odd('media type', fields(['Content-Type', 'a/b']), fields(['Content-Type', 'a/c']))).toBe(
      'Content-Type a/b / Content-Type a/c',
    );
    expect(odd('media type', fields(['Content-Type', 'a/b']), reply({ status: 404, fields: [] }))).toBeNull();
  });

  it('has another shape', () => {
    expect(odd('shape', body('{"a":1}'), body('{"a":"x"}'))).toContain('"string"');
    expect(odd('shape', body('{"a":1}'), body('{"a":2}'))).toBeNull();
  });

  it('has another tag for the same content', () => {
    const tagged = (tag: string | null, content = 'a') =>
      reply({ fields: tag === null ? [] : [['ETag', tag]], body: exampleBody(content) });
    expect(odd('tag', tagged('"1"'), tagged('"2"'))).toBe('"1" / "2"');
    expect(odd('tag', tagged('"1"'), tagged('"2"', 'b'))).toBeNull();
    expect(odd('tag', tagged('"1"'), tagged(null))).toBeNull();
    // Of two contents, that which most have.
    expect(
      UNLIKE.tag([tagged('"1"', 'b'), tagged('"2"', 'b'), tagged('"3"'), tagged('"3"'), tagged('"3"')]),
    ).toBeNull();
    expect(UNLIKE.tag([])).toBeNull();
  });

  it.each([
    'Cache-Control',
    'Content-Security-Policy',
    'Deprecation',
    'ETag',
    'Last-Modified',
    'Link',
    'Referrer-Policy',
    'Strict-Transport-Security',
    'Sunset',
    'Vary',
    'X-Content-Type-Options',
    'X-Frame-Options',
  ])('lacks %s, or has it alone', (name) => {
    expect(odd('fields', fields([name, 'a']), fields())).toBe(`${name} / no ${name}`);
    expect(odd('fields', fields(), fields([name, 'a']))).toBe(`no ${name} / ${name}`);
    expect(odd('fields', fields([name, 'a']), fields([name, 'b']))).toBeNull();
  });

  it('lacks a header of the moment', () => {
    expect(odd('fields', fields(['X-Cache', 'hit']), fields())).toBeNull();
  });

  describe('has another clock', () => {
    const at = (time: string, ...more: readonly FieldLine[]) =>
      fields(['Date', `Sat, 21 Nov 2026 ${time} GMT`], ...more);

    it.each([
      ['12:01:30', null],
      ['12:01:31', 'a Date 2 min ahead of the others'],
      ['11:58:30', null],
      ['11:58:29', 'a Date 2 min behind the others'],
      ['13:00:00', 'a Date 60 min ahead of the others'],
    ])('at %s: %s', (time, text) => {
      expect(odd('clock', at('12:00:00'), at(time))).toBe(text && `the time of the others / ${text}`);
    });

    it('but none that is as old as it says, nor without a Date', () => {
      expect(odd('clock', at('12:00:00'), at('11:00:00', ['Age', '3600']))).toBeNull();
      expect(odd('clock', at('12:00:00'), fields())).toBeNull();
      expect(UNLIKE.clock([])).toBeNull();
    });

    it('even if it comes first', () => {
      const [usual, other] = [at('12:00:00'), at('11:00:00')];
      expect(UNLIKE.clock([other, usual, usual])?.odd).toBe('a Date 60 min behind the others');
    });
  });
});

describe('the counts of lists', () => {
  it.each([
    ['[]', true],
    ['{"items":[]}', true],
    ['{"total":3}', true],
    ['{"count":3}', true],
    ['{"total_count":3}', true],
    ['{"totalCount":3}', true],
    ['{"total":"3"}', false],
    ['{"totals":3}', false],
    ['{}', false],
    ['1', false],
    ['null', false],
  ])('%s is a list: %s', (content, isIt) => {
    expect(isList(body(content))).toBe(isIt);
  });

  it('differ by their entries, or by what they tell', () => {
    expect(countsDiffer([body('[1]'), body('[2]')])).toBe(false);
    expect(countsDiffer([body('[1]'), body('[1,2]')])).toBe(true);
    expect(countsDiffer([body('{"a":[1],"total":1}'), body('{"a":[1],"total":2}')])).toBe(true);
    expect(countsDiffer([])).toBe(false);
  });

  it('take turns while the content is one of two', () => {
    const [one, two, three] = [body('[1]'), body('{"a":[1,2],"total":2}'), body('[1,2,3]')];
    expect(countsInTurn([one, two, one, two])).toMatchObject({
      usual: '1 entry',
      odd: '2 entries, total 2',
      of: 4,
    });
    expect(countsInTurn([one, one, two, two, one, one, two])).not.toBeNull();
    expect(countsInTurn([one, two, one])).toBeNull();
    expect(countsInTurn([one, one, one, two, two])).toBeNull();
    expect(countsInTurn([one, two, one, three])).toBeNull();
    expect(countsInTurn([body('{"a":1}'), body('{"a":2}'), body('{"a":1}'), body('{"a":2}')])).toBeNull();
    expect(countsInTurn([one, body('{"a":1}'), two, one, body('{"a":1}'), two])).not.toBeNull();
    expect(countsInTurn([body('[1]'), body('[2]'), body('[1]'), body('[2]')])).toBeNull();
  });
});
