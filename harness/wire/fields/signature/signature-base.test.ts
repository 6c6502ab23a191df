import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { FieldLine, RecordedRequest, RecordedResponse } from '../../exchange.ts';
import { readSignatures } from './message-signature.ts';
import { signatureBase } from './signature-base.ts';

const request: RecordedRequest = {
  method: 'POST',
  url: 'https://example.com/foo?param=Value&Pet=dog',
  target: '/foo?param=Value&Pet=dog',
  fields: [
    ['Host', 'example.com'],
    ['Date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
    ['Content-Type', 'application/json'],
    [
      'Content-Digest',
      'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:',
    ],
    ['Content-Length', '18'],
  ],
  body: null,
};

const answered = (status: number, fields: readonly FieldLine[]): RecordedResponse => ({
  status,
  reason: null,
  httpVersion: '1.1',
  fields: [...fields],
  trailers: [],
  body: { bytes: new Uint8Array(), received: 0, truncated: false },
  informational: [],
  framingFaults: null,
});

function only(response: RecordedResponse) {
  const [signature] = readSignatures(response.fields).signatures;
  if (signature === undefined) throw new Error('there is no signature');
  return { signature, base: signatureBase(signature, { request, response }) };
}

/** What these components come to in a message with these fields. */
function baseOf(components: string, fields: readonly FieldLine[], asked: Partial<RecordedRequest> = {}) {
  const response = answered(200, [
    ...fields,
    ['Signature-Input', `s=(${components})`],
    ['Signature', 's=:AAAA:'],
  ]);
  const [signature] = readSignatures(response.fields).signatures;
  if (signature === undefined) throw new Error('there is no signature');
  return signatureBase(signature, { request: { ...request, ...asked }, response });
}
const lineOf = (...of: Parameters<typeof baseOf>) => {
  const base = baseOf(...of);
  return base.is === 'there' ? base.text.split('\n')[0] : base;
};

// RFC 9421, appendix B.1.3.
const KEY = createPublicKey(`-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lf
w0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
-----END PUBLIC KEY-----`);

/** The responses that RFC 9421 signs in its examples, with the key above. */
const SIGNED: readonly (readonly [section: string, response: RecordedResponse])[] = [
  [
    'B.2.4',
    answered(200, [
      ['Date', 'Tue, 20 Apr 2021 02:07:56 GMT'],
      ['Content-Type', 'application/json'],
      [
        'Content-Digest',
        'sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:',
      ],
      ['Content-Length', '23'],
      [
        'Signature-Input',
        'sig-b24=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256"',
      ],
      [
        'Signature',
        'sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==:',
      ],
    ]),
  ],
  [
    '2.4',
    answered(503, [
      ['Date', 'Tue, 20 Apr 2021 02:07:56 GMT'],
      ['Content-Type', 'application/json'],
      ['Content-Length', '62'],
      [
        'Content-Digest',
        'sha-512=:0Y6iCBzGg5rZtoXS95Ijz03mslf6KAMCloESHObfwnHJDbkkWWQz6PhhU9kxsTbARtY2PTBOzq24uJFpHsMuAg==:',
      ],
      [
        'Signature-Input',
        'reqres=("@status" "content-digest" "content-type" "@authority";req "@method";req "@path";req "content-digest";req);created=1618884479;keyid="test-key-ecc-p256"',
      ],
      [
        'Signature',
        'reqres=:dMT/A/76ehrdBTD/2Xx8QuKV6FoyzEP/I9hdzKN8LQJLNgzU4W767HK05rx1i8meNQQgQPgQp8wq2ive3tV5Ag==:',
      ],
    ]),
  ],
];

describe('what a signature is made of', () => {
  it.each(SIGNED)('is that of RFC 9421 §%s', (_, response) => {
    const { signature, base } = only(response);
    const text = base.is === 'there' ? base.text : base.is;
    const key = { key: KEY, dsaEncoding: 'ieee-p1363' } as const;
    expect(verify('sha256', Buffer.from(text), key, signature.value)).toBe(true);
    expect(verify('sha256', Buffer.from(`${text} `), key, signature.value)).toBe(false);
  });

  // RFC 9421 §2.1 to §2.1.3.
  it.each([
    ['"example-dict"', '"example-dict": a=1,    b=2;x=1;y=2,   c=(a   b    c), d'],
    ['"example-dict";sf', '"example-dict";sf: a=1, b=2;x=1;y=2, c=(a b c), d'],
    ['"example-dict";key="a"', '"example-dict";key="a": 1'],
    ['"example-dict";key="d"', '"example-dict";key="d": ?1'],
    ['"example-dict";key="b"', '"example-dict";key="b": 2;x=1;y=2'],
    ['"example-dict";key="c"', '"example-dict";key="c": (a b c)'],
    ['"example-header"', '"example-header": value, with, lots, of, commas'],
    ['"example-header";bs', '"example-header";bs: :dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:'],
    ['"x-empty"', '"x-empty": '],
  ])('has fields as they are asked for: %s', (component, line) => {
    const fields: readonly FieldLine[] = [
      ['Example-Dict', ' a=1,    b=2;x=1;y=2,   c=(a   b    c), d'],
      ['Example-Header', 'value, with, lots'],
      ['Example-Header', 'of, commas'],
      ['X-Empty', ''],
    ];
    expect(lineOf(component, fields)).toBe(line);
  });

  it.each([
    ['"@method";req', 'POST'],
    ['"@target-uri";req', 'https://example.com/foo?param=Value&Pet=dog'],
    ['"@authority";req', 'example.com'],
    ['"@scheme";req', 'https'],
    ['"@request-target";req', '/foo?param=Value&Pet=dog'],
    ['"@path";req', '/foo'],
    ['"@query";req', '?param=Value&Pet=dog'],
    ['"@query-param";name="Pet";req', 'dog'],
    ['"@status"', '200'],
  ])('has what is derived from a message: %s', (component, value) => {
    expect(lineOf(component, [])).toBe(`${component}: ${value}`);
  });

  // RFC 9421 §2.2.8.
  it('has parameters of a query encoded in one way', () => {
    const target = '/parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace';
    expect(lineOf('"@query-param";name="var";req', [], { target })).toBe(
      '"@query-param";name="var";req: this%20is%20a%20big%0Amultiline%20value',
    );
    expect(lineOf('"@query-param";name="bar";req', [], { target })).toBe(
      '"@query-param";name="bar";req: with%20plus%20whitespace',
    );
    expect(lineOf('"@query";req', [], { target: '/foo' })).toBe('"@query";req: ?');
  });

  it.each([
    ['"x-lost"', 'no x-lost'],
    ['"x-lost";req', 'no "x-lost";req in the request'],
    ['"date";key="a"', 'no dictionary in date'],
    ['"priority";key="i"', 'no i in priority'],
    ['"date";sf', 'no structured field in date'],
    ['"@query-param";name="lost";req', 'no parameter lost in the query'],
  ])('lacks %s where the message does', (component, what) => {
    const fields: readonly FieldLine[] = [
      ['Date', 'Tue, 20 Apr 2021 02:07:56 GMT'],
      ['Priority', 'u=1'],
    ];
    expect(baseOf(component, fields)).toEqual({ is: 'missing', what });
  });

  it.each([
    ['"x-key"', [['X-Key', '[redacted:KEY]']]],
    ['"x-key";bs', [['X-Key', '[redacted:KEY]']]],
    ['"x-name"', [['X-Name', 'caf\xe9']]],
    ['"date";tr', []],
    ['"@brand-new"', []],
    ['"date";new', [['Date', 'now']]],
  ] as const)('is not known where %s is not', (component, fields) => {
    expect(baseOf(component, fields)).toMatchObject({ is: 'untold' });
  });

  it('has no host that the request does not name once', () => {
    const fields: readonly FieldLine[] = [
      ['Host', 'other.example'],
      ['Host', 'example.com'],
    ];
    expect(baseOf('"@authority";req', [], { fields: [...fields] })).toMatchObject({ is: 'untold' });
    expect(lineOf('"@authority";req', [], { fields: [['host', 'Example.com:443']] })).toBe(
      '"@authority";req: example.com',
    );
  });
});
