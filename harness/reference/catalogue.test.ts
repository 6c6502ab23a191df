import { describe, expect, it } from 'vitest';
import { UsageError } from '../base/exit.ts';
import { findDefect, findVariant, listDefects, listVariants } from './catalogue.ts';

describe('the catalogue', () => {
  it('names every defect and variant once', () => {
    const names = [...listDefects(), ...listVariants()].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('lists what one service can have', () => {
    const search = listDefects('search').map(({ name }) => name);
    const realtime = listDefects('realtime').map(({ name }) => name);
    expect(search).toContain('prefix-redirects');
    expect(search).not.toContain('ws-no-pong');
    expect(realtime).toContain('ws-no-pong');
    expect(realtime).not.toContain('prefix-redirects');
    expect(listVariants('realtime').map(({ name }) => name)).not.toContain('bare-array-body');
  });

  it('answers an unknown name with the nearest ones', () => {
    expect(() => findDefect('accept-any-keys', 'search')).toThrow(UsageError);
    expect(() => findDefect('accept-any-keys', 'search')).toThrow(
      /no defect "accept-any-keys"\n.*did you mean accepts-any-key /,
    );
    expect(() => findVariant('gzip', 'search')).toThrow(
      /no variant "gzip"\n.*did you mean gzip-when-accepted/,
    );
  });

  it('refuses a defect that concerns another service', () => {
    expect(() => findDefect('ws-no-pong', 'search')).toThrow(
      /search cannot have the defect ws-no-pong\n.*concerns realtime/,
    );
  });
});
