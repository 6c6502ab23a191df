import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { DECODINGS, type OctetView, viewOctets, viewText } from './octet-view.ts';

const viewOf = (text: string) => viewOctets(new Uint8Array(Buffer.from(text)));
const textOf = (view: OctetView) => Buffer.from(view.octets).toString();

const placesOf = ({ octets, start, end }: OctetView) =>
  Array.from(octets, (_, at) => `${start(at)}-${end(at)}`);

/** What some decoding makes of the text. */
const readings = (text: string) => DECODINGS.flatMap((decoding) => decoding(viewOf(text)) ?? []).map(textOf);

describe('octet views', () => {
  it.each([
    ['%41%4a%4J', 'AJ%4J'],
    ['caf%c3%A9', 'café'],
    ['a\\u0041\\"\\/\\n\\q', 'aA"/\n\\q'],
    ['\\ud83d\\ude00 \\x41', '😀 A'],
    ['&lt;&#65;&#x42;&#67 &amp;lt; &nope;', '<ABC &lt; &nope;'],
    ['&lt;&constructor;', '<&constructor;'],
    ['&#128512;', '😀'],
    ['ab\r\n \tcd\nef', 'abcdef'],
  ])('reads %j as %j', (written, read) => {
    expect(readings(written)).toContain(read);
  });

  it('has no reading of what holds no escape', () => {
    expect(readings('100 % \\ & plain')).toEqual([]);
  });

  it('knows where each octet was read from', () => {
    const [view] = DECODINGS.flatMap((decoding) => decoding(viewOf('a%41b')) ?? []);
    expect(view && placesOf(view)).toEqual(['0-1', '1-4', '4-5']);
  });

  it('knows it through line breaks that are gone, and through encodings one in the other', () => {
    const [unwrapped] = DECODINGS.flatMap((decoding) => decoding(viewOf('a\n\n b%0Ac')) ?? []).filter(
      (view) => textOf(view) === 'ab%0Ac',
    );
    expect(unwrapped && placesOf(unwrapped)).toEqual(['0-1', '4-5', '5-6', '6-7', '7-8', '8-9']);
    const twice = DECODINGS.flatMap((decoding) => (unwrapped && decoding(unwrapped)) ?? []);
    expect(twice.map(placesOf)).toEqual([['0-1', '4-5', '5-8', '8-9']]);
  });

  it('counts places in text in UTF-16 code units', () => {
    const view = viewText('a😀b');
    expect(textOf(view)).toBe('a😀b');
    expect(placesOf(view)).toEqual(['0-1', '1-3', '1-3', '1-3', '1-3', '3-4']);
  });

  it('never reads more octets than were written, so nesting stays linear', () => {
    const piece = fc.constantFrom('%', '4', '1', '\\', 'u', '0', 'x', '&', '#', ';', 'amp;', '\n', ' ', 'é');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
        (text) => {
          const view = viewOf(text);
          for (const decoding of DECODINGS) {
            expect(decoding(view)?.octets.length ?? 0).toBeLessThan(view.octets.length + 1);
          }
        },
      ),
    );
  });
});
