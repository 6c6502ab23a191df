import { describe, expect, it } from 'vitest';
import { isJsonType, readMediaType } from './field-grammar.ts';

describe('readMediaType', () => {
  it('reads type, subtype, suffix and parameters', () => {
    const { mediaType, fault } = readMediaType('Application/Problem+JSON; Charset="UTF-8";q=x');
    expect(fault).toBeNull();
    expect(mediaType).toMatchObject({ type: 'application', subtype: 'problem+json', suffix: 'json' });
    expect(mediaType?.essence).toBe('application/problem+json');
    expect(mediaType?.parameters.get('charset')).toBe('UTF-8');
  });

  it.each([
    ['', 'no type'],
    ['json', 'no / after json'],
    ['application/', 'no subtype'],
    ['application/json, application/json', 'where ; or the end should be'],
    ['application/json; charset', 'the end after the parameter charset, where = should be'],
    ['application/json charset=utf-8', 'where ; or the end should be'],
    ['text/html; charset=utf-8; charset=latin1', 'the parameter charset twice'],
    ['text /html', 'no / after text'],
  ])('refuses %j and says why', (value, reason) => {
    const { mediaType, fault } = readMediaType(value);
    expect(mediaType).toBeNull();
    expect(fault).toContain(reason);
  });

  it.each([
    ['application/json', true],
    ['application/hal+json', true],
    ['application/json-rpc', true],
    ['application/jsonp', false],
    ['text/json', false],
    ['application/json+xml', false],
    ['application/x-ndjson', false],
  ])('knows whether %s is JSON', (value, isJson) => {
    const { mediaType } = readMediaType(value);
    expect(mediaType !== null && isJsonType(mediaType)).toBe(isJson);
  });
});
