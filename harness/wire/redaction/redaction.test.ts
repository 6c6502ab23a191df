import { createHash } from 'node:crypto';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { HarnessError } from '../../base/exit.ts';
import fc from '../../base/fixtures/properties.ts';
import { traces } from './marker.ts';
import { createRedaction, SoughtSecrets } from './redaction.ts';

const KEY = 'example-key-for-tests/+Zz09';

function redactionOf(values: Readonly<Record<string, string>>) {
  const redaction = createRedaction();
  for (const [name, value] of Object.entries(values)) redaction.add(name, value);
  return redaction;
}

const octetsOf = (text: string) => new Uint8Array(Buffer.from(text));
const textOf = (octets: Uint8Array) => Buffer.from(octets).toString();

const everyPercent = (text: string) =>
  Array.from(Buffer.from(text), (octet) => `%${octet.toString(16).padStart(2, '0')}`).join('');
const everyEntity = (text: string) => Array.from(text, (char) => `&#${char.codePointAt(0)};`).join('');
const everyHexEntity = (text: string) =>
  Array.from(text, (char) => `&#x${char.codePointAt(0)?.toString(16)};`).join('');
const everyJsonEscape = (text: string) =>
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
const reversed = (text: string) => Array.from(text).reverse().join('');
const formEncoded = (text: string) => new URLSearchParams({ k: text }).toString().slice(2);
const htmlEscaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const hex = (text: string) => Buffer.from(text).toString('hex');

/** Spellings in which a secret may be met; each is searched for in the output, as written. */
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  raw: (s) => s,
  reversed,
  base64: base64,
  'base64 after one octet': (s) => base64(`u${s}`),
  'base64 after two octets': (s) => base64(`u:${s}`),
  'base64 inside': (s) => base64(`user:${s}:rest`),
  base64url: base64url,
  'base64url inside': (s) => base64url(`{"k":${s}}`),
  'base64 of the JSON form': (s) => base64(JSON.stringify({ k: s })),
  'base64 of the percent-encoded form': (s) => base64(encodeURIComponent(s)),
  'base64, percent-encoded': (s) => encodeURIComponent(base64(`x:${s}`)),
  'base64 of the reversed form': (s) => base64(`u:${reversed(s)}`),
  'base64url of the reversed form': (s) => base64url(reversed(s)),
  'base64 of the percent-encoded form, reversed': (s) => base64(reversed(encodeURIComponent(s))),
  'base64, reversed': (s) => reversed(base64(`u:${s}:rest`)),
  'base64url, reversed': (s) => reversed(base64url(s)),
  'base64, percent-encoded, reversed': (s) => reversed(encodeURIComponent(base64(s))),
  hex,
  'hex of the reversed form': (s) => hex(reversed(s)),
  'upper-case hex': (s) => hex(s).toUpperCase(),
  'percent-encoded': encodeURIComponent,
  'percent-encoded in lower case': (s) =>
    encodeURIComponent(s).replace(/%../g, (triplet) => triplet.toLowerCase()),
  'every octet percent-encoded': everyPercent,
  'every octet percent-encoded in upper case': (s) => everyPercent(s).toUpperCase(),
  'percent-encoded twice': (s) => everyPercent(everyPercent(s)),
  'form-encoded': formEncoded,
  'reversed, percent-encoded': (s) => encodeURIComponent(reversed(s)),
  'percent-encoded, reversed': (s) => reversed(encodeURIComponent(s)),
  'JSON string': (s) => JSON.stringify(s).slice(1, -1),
  'every unit a JSON escape': everyJsonEscape,
  'percent-encoded in a JSON string': (s) => JSON.stringify(encodeURIComponent(s)).replaceAll('%', '\\u0025'),
  'HTML-escaped': htmlEscaped,
  'every character a reference': everyEntity,
  'every character a hexadecimal reference': everyHexEntity,
  'JSON in HTML': (s) => htmlEscaped(JSON.stringify(s)),
  'wrapped lines': (s) => s.replace(/\S{5}(?=\S)/gu, '$&\r\n  '),
  'base64 of UTF-16': (s) => Buffer.from(`{"k":"${s}"}`, 'utf16le').toString('base64'),
  'base64 of UTF-16, the other order': (s) => Buffer.from(`: ${s}`, 'utf16le').swap16().toString('base64'),
  'base64url of UTF-16, in a path': (s) => `/v1/${Buffer.from(s, 'utf16le').toString('base64url')}`,
  'base64 of JSON that is all escapes': (s) => base64(`{"k":"${everyJsonEscape(s)}"}`),
  'base64 of it, in a path': (s) => `/v1/${base64(`{"k":"${everyJsonEscape(s)}"}`)}`,
  'base64 of it, percent-encoded': (s) => everyPercent(base64(`{"k":"${everyJsonEscape(s)}"}`)),
  'base64 of gzip': (s) => gzipSync(s).toString('base64'),
  'base64url of gzip': (s) => gzipSync(`{"k":${JSON.stringify(s)}}`).toString('base64url'),
  'base64 of zlib': (s) => deflateSync(s).toString('base64'),
  'base64 of raw deflate': (s) => `"${deflateRawSync(`some text before: ${s}`).toString('base64')}"`,
  'base64 of Brotli': (s) => `"${brotliCompressSync(`some text before: ${s}`).toString('base64')}"`,
  'base64 of gzip of base64': (s) => gzipSync(base64(`u:${s}`)).toString('base64'),
  'wrapped base64': (s) => (base64(s).match(/.{1,7}/g) ?? []).join('\n'),
};

/** A secret as people have them: ASCII that can be typed, sometimes any Unicode. */
const secret = fc
  .oneof(
    { weight: 4, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 6, maxLength: 60 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 6, maxLength: 20 }) },
    {
      weight: 1,
      arbitrary: fc.string({ unit: fc.constantFrom('a', 'b', 'A'), minLength: 6, maxLength: 30 }),
    },
  )
  // A marker's own letters, and line ends, which our wrapped form would double, are not what is tried here.
  .filter(
    (value) =>
      value.length >= 6 && !/[\r\n]/.test(value) && !'[redacted:KEY:part]'.includes(value.toLowerCase()),
  );
/** Not ending in the start of an escape, which would make another of the secret's first characters. */
const surroundings = fc
  .oneof(
    fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom('', '"', '{"k":"', 'Bearer ', '?key=', '[redacted', '='),
  )
  .filter((text) => !/(%.?|\\[^"/bfnrt]{0,10}|&[^; ]{0,20})$/s.test(text));

/** Keys that one of the forms, or one of the sinks, might take for something else. */
const UNUSUAL = [
  '%41%42%2f%25-key',
  'quoted"and\\back\\slash',
  '<key>&amp;&#75;</key>',
  'a+b/c==d+e/f==',
  'clé-ключ-鍵-🔑',
  '  spaces within a key  ',
  '1234567890123456',
  '[redacted]-like-key',
];

/** Where text goes once it is recorded, or is shown. */
const SINKS: Readonly<Record<string, (of: ReturnType<typeof redactionOf>, text: string) => string>> = {
  text: (redaction, text) => redaction.text(text),
  octets: (redaction, text) => textOf(redaction.octets(octetsOf(text))),
  'the value of a field': (redaction, text) =>
    redaction
      .fields([['X', latin1(text)]])
      .flat()
      .join(),
  'the name of a field': (redaction, text) =>
    redaction
      .fields([[latin1(text), '']])
      .flat()
      .join(),
  'a sink': (redaction, text) => redaction.sink(text),
};
const latin1 = (text: string) => Buffer.from(text).toString('latin1');

describe('an unusual key', () => {
  it.each(UNUSUAL)('is in no sink, in whatever form: %s', (value) => {
    const left = Object.entries(FORMS).flatMap(([form, encode]) =>
      Object.entries(SINKS).flatMap(([sink, show]) => {
        const said = show(redactionOf({ KEY: value }), `a ${encode(value)} b`);
        const isHidden =
          said.includes('[redacted:KEY') &&
          ![encode(value), latin1(encode(value))].some((each) => said.includes(each));
        return isHidden ? [] : [`${form} in ${sink}: ${said}`];
      }),
    );
    expect(left).toEqual([]);
  });
});

describe('redaction', () => {
  for (const [name, encode] of Object.entries(FORMS)) {
    it(`lets no secret through: ${name}`, () => {
      fc.assert(
        fc.property(secret, surroundings, surroundings, (value, before, after) => {
          const redaction = redactionOf({ KEY: value });
          const form = encode(value);
          const text = redaction.text(before + form + after);
          expect(text).toContain('[redacted:KEY');
          expect(text).not.toContain(form);
          expect(text.toLowerCase()).not.toContain(value.toLowerCase());
          const octets = textOf(redaction.octets(octetsOf(before + form + after)));
          expect(octets).toContain('[redacted:KEY');
          expect(octets).not.toContain(form);
        }),
        { numRuns: 150 },
      );
    });
  }

  it('says whole for an exact value and part for one in another letter case', () => {
    const redaction = redactionOf({ KEY });
    expect(redaction.text(`Bearer ${KEY}!`)).toBe('Bearer [redacted:KEY]!');
    expect(redaction.text(`Bearer ${KEY.toUpperCase()}!`)).toBe('Bearer [redacted:KEY:part]!');
  });

  it('takes out the password of Basic credentials and leaves the user readable', () => {
    const redaction = redactionOf({ PASSWORD: 'open sesame' });
    expect(redaction.text(`Basic ${base64('alice:open sesame')}`)).toBe('Basic YWxpY2U6[redacted:PASSWORD]');
    expect(redaction.text(`Basic ${base64('bob:open sesame')}`)).toBe('Basic Ym9iO[redacted:PASSWORD]');
    expect(redaction.text(`Basic ${base64('anna:open sesame')}.`)).toBe('Basic YW5uYT[redacted:PASSWORD].');
  });

  it('takes out fragments of 60 % and no less than eight characters, in any letter case', () => {
    const redaction = redactionOf({ KEY: 'abcdefghijklmnopqrst' });
    expect(redaction.text('x abcdefghijkl y')).toBe('x [redacted:KEY:part] y');
    expect(redaction.text('x IJKLMNOPQRST y')).toBe('x [redacted:KEY:part] y');
    expect(redaction.text('x abcdefghijk y')).toBe('x abcdefghijk y');
    const short = redactionOf({ KEY: 'abcdefghi' });
    expect(short.text('bcdefghi')).toBe('[redacted:KEY:part]');
    expect(short.text('abcdefg')).toBe('abcdefg');
  });

  it('lets no long enough fragment through, in any spelling that is decoded', () => {
    const encoders = [(s: string) => s, encodeURIComponent, everyPercent, everyEntity, everyJsonEscape];
    fc.assert(
      fc.property(
        fc
          .string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 60 })
          .filter((value) => !/\s/.test(value)),
        fc.nat(),
        fc.nat(),
        fc.constantFrom(...encoders),
        (value, extra, from, encode) => {
          const least = Math.max(8, Math.ceil(value.length * 0.6));
          const length = Math.min(value.length, least + (extra % (value.length - least + 1)));
          const start = from % (value.length - length + 1);
          const fragment = value.slice(start, start + length);
          const text = redactionOf({ KEY: value }).text(`\0${encode(fragment)}\0`);
          expect(text).toMatch(/^\0\[redacted:KEY(:part)?\]\0$/);
        },
      ),
    );
  });

  it.each([
    ['base64 of base64', base64(base64(`user:${KEY}`))],
    ['base64 of percent-encoding', base64(`next=${everyPercent(KEY)}&x=1`)],
    ['base64 of JSON', base64(JSON.stringify({ key: everyJsonEscape(KEY) }).replaceAll('\\\\', '\\'))],
    ['JSON of base64 of JSON', JSON.stringify({ a: base64(JSON.stringify({ key: KEY })) })],
    ['base64url of base64', Buffer.from(base64(`?>?>${KEY}`)).toString('base64url')],
    ['two members', JSON.stringify({ first: KEY.slice(0, 10), second: KEY.slice(10) })],
    ['two members, indented', JSON.stringify({ first: KEY.slice(0, 10), second: KEY.slice(10) }, null, 2)],
    ['items of lists', JSON.stringify([[KEY.slice(0, 7), KEY.slice(7, 14)], { a: KEY.slice(14) }])],
  ])('is not fooled by %s', (_, text) => {
    const shown = redactionOf({ KEY }).text(text);
    expect(shown).toContain('[redacted:KEY');
    const found = [...shown.matchAll(/[A-Za-z0-9+/_-]{4,}/g)].map(([run]) => run);
    for (const piece of [KEY.slice(0, 7), KEY.slice(-7)]) {
      expect([shown, ...found.map((run) => Buffer.from(run, 'base64').toString())].join(' ')).not.toContain(
        piece,
      );
    }
  });

  it('is not fooled by a secret that lies across several fields', () => {
    const fields = redactionOf({ KEY }).fields([
      ['X-A', `a ${KEY.slice(0, 10)}`],
      ['X-B', KEY.slice(10, 12)],
      ['X-C', `${KEY.slice(12)} z`],
      ['X-D', 'left alone'],
    ]);
    expect(fields.map(([, value]) => value)).toEqual([
      'a [redacted:KEY:part]',
      '[redacted:KEY:part]',
      '[redacted:KEY:part] z',
      'left alone',
    ]);
  });

  it('names each of several secrets, the longest first where they overlap', () => {
    const redaction = redactionOf({ SHORT: 'abcdefgh', LONG: 'abcdefghijklmnop', NEXT: 'mnopqrstuv' });
    expect(redaction.text('abcdefghijklmnop')).toBe('[redacted:LONG]');
    expect(redaction.text('abcdefgh')).toBe('[redacted:SHORT]');
    expect(redaction.text('abcdefghijklmnopqrstuv')).toBe('[redacted:LONG][redacted:NEXT]');
    expect(redaction.text('abcdefghabcdefgh')).toBe('[redacted:SHORT][redacted:SHORT]');
  });

  it('tells values apart that differ in letter case alone', () => {
    const redaction = redactionOf({ KEY: 'Example-Key', FLIPPED: 'eXAMPLE-kEY' });
    expect(redaction.text('Example-Key eXAMPLE-kEY')).toBe('[redacted:KEY] [redacted:FLIPPED]');
  });

  it('knows values that are added later', () => {
    const redaction = redactionOf({ KEY });
    expect(redaction.text('derived-value')).toBe('derived-value');
    redaction.add('DERIVED', 'derived-value');
    expect(redaction.text(`derived-value ${KEY}`)).toBe('[redacted:DERIVED] [redacted:KEY]');
  });

  it('shows no field as it was shown before a value was added, whoever has added it', () => {
    const sought = new SoughtSecrets();
    const [one, other] = [createRedaction([], sought), createRedaction([], sought)];
    one.add('KEY', KEY);
    const shown = () => one.fields([['X-Said', 'derived-value of another']]).join();
    expect([shown(), shown()]).toEqual(Array(2).fill('X-Said,derived-value of another'));
    one.add('DERIVED', 'derived-value');
    expect(shown()).toBe('X-Said,[redacted:DERIVED] of another');
    other.add('OTHERS', 'of another');
    expect(shown()).toBe('X-Said,[redacted:DERIVED] [redacted:secret]');
  });

  it('shows no content as it was shown before a value was added', () => {
    const redaction = redactionOf({ KEY });
    const shown = () => Buffer.from(redaction.octets(Buffer.from('derived-value'))).toString();
    expect([shown(), shown()]).toEqual(Array(2).fill('derived-value'));
    redaction.add('DERIVED', 'derived-value');
    expect([shown(), shown()]).toEqual(Array(2).fill('[redacted:DERIVED]'));
  });

  it('keeps the first name of a value that is added again', () => {
    const redaction = redactionOf({ KEY, AGAIN: KEY });
    expect(redaction.text(KEY)).toBe('[redacted:KEY]');
  });

  it('leaves the octets around a secret as they are', () => {
    const redaction = redactionOf({ KEY });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 40 }), (before, after) => {
        const received = Buffer.concat([before, Buffer.from(KEY), after]);
        const expected = Buffer.concat([before, Buffer.from('[redacted:KEY]'), after]);
        expect(Buffer.compare(redaction.octets(received), expected)).toBe(0);
      }),
    );
  });

  it('returns what holds no secret unchanged', () => {
    const redaction = redactionOf({ KEY });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary' }), (octets, text) => {
        expect(redaction.octets(octets)).toBe(octets);
        expect(redaction.text(text)).toBe(text);
      }),
    );
  });

  it('keeps valid UTF-8 valid when it cuts a fragment', () => {
    const redaction = redactionOf({ KEY: 'ключ-для-проверки' });
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ключ-для-проверки', 'ä', '€'), maxLength: 60 }),
        (text) => {
          const decoder = new TextDecoder('utf-8', { fatal: true });
          expect(() =>
            decoder.decode(redaction.octets(octetsOf(`${text}ключ-для-прове${text}`))),
          ).not.toThrow();
        },
      ),
    );
  });

  it('redacts names and values of field lines, whose characters are octets', () => {
    const redaction = redactionOf({ KEY: 'pässwört-example' });
    const latin1OfUtf8 = Buffer.from('pässwört-example').toString('latin1');
    expect(
      redaction.fields([
        ['X-Echo', `v=${latin1OfUtf8}`],
        ['X-Latin', 'pässwört-example'],
        ['pässwört-example', '\u00ff'],
      ]),
    ).toEqual([
      ['X-Echo', 'v=[redacted:KEY]'],
      ['X-Latin', '[redacted:KEY]'],
      ['[redacted:KEY]', '\u00ff'],
    ]);
  });

  it('finds UTF-16', () => {
    const redaction = redactionOf({ KEY });
    const utf16 = Buffer.from(`{"k":"${KEY}"}`, 'utf16le');
    expect(traces(redaction.octets(utf16))).toEqual([{ name: 'KEY', part: false }]);
    expect(traces(redaction.octets(utf16.swap16()))).toEqual([{ name: 'KEY', part: false }]);
  });

  it('quotes marker-like text that was received, so that it is no trace', () => {
    const redaction = redactionOf({ KEY });
    const received = `[redacted:KEY] [redacted:KEY:part] [redacted!:KEY] ${KEY}`;
    const recorded = redaction.text(received);
    expect(recorded).toBe('[redacted!:KEY] [redacted!:KEY:part] [redacted!!:KEY] [redacted:KEY]');
    expect(traces(recorded)).toEqual([{ name: 'KEY', part: false }]);
    expect(textOf(redaction.octets(octetsOf(received)))).toBe(recorded);
    expect(traces(createRedaction().text('[redacted:KEY]'))).toEqual([]);
  });

  it('keeps what was quoted distinguishable', () => {
    const redaction = createRedaction();
    const piece = fc.constantFrom('[', 'redacted', '!', ':', 'KEY', ']', '[redacted:', '[redacted!:');
    const received = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(received, received, (one, other) => {
        expect(redaction.text(one) === redaction.text(other)).toBe(one === other);
        expect(traces(redaction.text(one))).toEqual([]);
      }),
    );
  });

  it('leaves markers alone on the way to a sink, and still lets no secret through', () => {
    const redaction = redactionOf({ KEY, EXAMPLE_NAME: 'example_name' });
    const recorded = redaction.text(`at ${KEY} and example_name`);
    expect(redaction.sink(`Error: ${recorded} ${KEY}`)).toBe(
      'Error: at [redacted:KEY] and [redacted:EXAMPLE_NAME] [redacted:KEY]',
    );
  });

  it('refuses values that cannot be told from other text, without quoting them', () => {
    const redaction = createRedaction();
    expect(() => redaction.add('PIN', '12345')).toThrow(HarnessError);
    expect(() => redaction.add('PIN', '12345')).not.toThrow('12345');
    expect(() => redaction.add('BOOK', 'x'.repeat(20_000))).toThrow(HarnessError);
  });

  it('gives a marker a name that parses, whatever the secret is called', () => {
    const redaction = redactionOf({ 'file: a]b': KEY });
    expect(traces(redaction.text(KEY))).toEqual([{ name: 'file__a_b', part: false }]);
  });

  it('redacts a mebibyte that is nothing but secrets', () => {
    const redaction = redactionOf({ KEY, PERIODIC: 'abababababababababab' });
    const keys = octetsOf(KEY.repeat(Math.ceil(2 ** 20 / KEY.length)));
    expect(textOf(redaction.octets(keys))).toBe('[redacted:KEY]'.repeat(keys.length / KEY.length));
    expect(redaction.text('ab'.repeat(2 ** 19))).toBe('[redacted:PERIODIC]');
  });

  const bomb = zstdCompressSync('x'.repeat(5_000_000));
  /** Many that differ, so that none is known from before; each longer than may be unpacked. */
  const bombs = (octets: number) =>
    Array.from({ length: octets / 256 }, (_, at) => {
      const number = Buffer.alloc(3, String.fromCharCode(at % 256, at >> 8));
      return `"${Buffer.concat([bomb, number]).toString('base64')}"`.padEnd(256);
    }).join('');

  const COSTLY: Readonly<Record<string, string | ((octets: number) => string)>> = {
    copies: KEY,
    'near copies': `${KEY.slice(0, -1)}?`,
    'near copies that differ in the middle': `${KEY.slice(0, 10)}?${KEY.slice(11)}`,
    'one character': 'a',
    'base64 of copies': base64(KEY),
    'copies in every escape': everyPercent(KEY) + everyEntity(KEY) + everyJsonEscape(KEY),
    'every encoding': '%25\\u0041&amp;\n","\0QUJDREVGR0hJSktMTU5P',
    'gzip in base64': `"${gzipSync(KEY + KEY).toString('base64')}"`,
    'the same bomb': `"${gzipSync('x'.repeat(200_000)).toString('base64')}"`,
    bombs,
  };

  it.each(Object.entries(COSTLY))('takes time that grows no faster than the text: %s', (_, piece) => {
    const redaction = redactionOf({ KEY, PERIODIC: 'a'.repeat(40), NEAR: `${KEY.slice(0, -1)}!` });
    const msFor = (octets: number) => {
      const text = typeof piece === 'string' ? piece.repeat(Math.ceil(octets / piece.length)) : piece(octets);
      const before = process.cpuUsage();
      redaction.text(text);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    msFor(2 ** 15);
    // As much text in eight pieces, so that a pause of the collector weighs little; a cost by the square would be 8 times as much.
    const inPieces = Array.from({ length: 8 }, () => msFor(2 ** 15)).reduce((sum, ms) => sum + ms, 0);
    expect(Math.min(msFor(2 ** 18), msFor(2 ** 18)) / inPieces).toBeLessThan(4);
  });

  it('withholds compressed content that it cannot look into, and names no secret for it', () => {
    const redaction = redactionOf({ KEY });
    const bomb = gzipSync(`${'x'.repeat(500_000)}${KEY}`).toString('base64');
    expect(redaction.text(`{"a":"${bomb}"}`)).toMatch(/^."a":"\[redacted:compressed@unread:part\]=*".$/);
  });

  it('leaves long words, digests and identifiers alone', () => {
    const redaction = redactionOf({ KEY });
    const words = Array.from({ length: 500 }, (_, at) => createHash('sha256').update(`${at}`).digest('hex'));
    const text = JSON.stringify({
      words,
      also: words.map((word) => Buffer.from(word, 'hex').toString('base64')),
    });
    expect(redaction.text(text)).toBe(text);
  });
});
