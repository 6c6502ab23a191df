import { describe, expect, it } from 'vitest';
import { acceptSignatureFault, readSignatures } from './message-signature.ts';

const VALUE = 'sig1=:AAAA:';
const faultOf = (input: string, signature = VALUE) =>
  readSignatures([
    ['signature-input', input],
    ['Signature', signature],
  ]).fault;

describe('signatures of a message', () => {
  it('are read with what they cover, over several lines', () => {
    const { signatures, fault } = readSignatures([
      ['Signature-Input', 'sig1=("@status" "@method";req "a";key="x,sig2=");created=1618884473;keyid="k"'],
      ['Signature', VALUE],
      ['Signature-Input', 'b=()'],
      ['Signature', 'b=:AQ==:'],
    ]);
    expect(fault).toBeNull();
    expect(signatures.map(({ label }) => label)).toEqual(['sig1', 'b']);
    expect(signatures[0]?.components.map(({ identifier }) => identifier)).toEqual([
      '"@status"',
      '"@method";req',
      '"a";key="x,sig2="',
    ]);
    expect(signatures[0]?.parameters.get('created')).toBe(1_618_884_473);
    expect(signatures[1]?.value).toEqual(new Uint8Array([1]));
  });

  it.each([
    'sig1=("date" "date";req "date";bs "date";key="a" "date";key="b");alg="unheard-of";new=1',
    'sig1=("@query-param";name="a";req "@brand-new" "date";unknown)',
    'sig1=();nonce="";tag="x";expires=1',
  ])('may be %s', (input) => {
    expect(faultOf(input)).toBeNull();
  });

  it.each([
    ['sig1=', 'no dictionary'],
    ['sig1="date"', 'no list of what it covers'],
    ['sig1=(date)', 'date without quotes'],
    ['sig1=("Date")', 'not in lower case'],
    ['sig1=("a b")', 'no name of a header'],
    ['sig1=("date" "date")', 'twice'],
    ['sig1=("a";sf;req "a";req;sf)', 'twice'],
    ['sig1=("@signature-params")', 'there anyway'],
    ['sig1=("@path")', 'of a response'],
    ['sig1=("@status";req)', 'of a request'],
    ['sig1=("@query-param";req)', 'without a name'],
    ['sig1=("date";req="yes")', 'with a value of req'],
    ['sig1=("date";key=1)', 'a key that is no string'],
    ['sig1=("date";bs;key="a")', 'exclude each other'],
    ['sig1=();created="1"', 'created is no whole number'],
    ['sig1=();expires=1.5', 'expires is no whole number'],
    ['sig1=();keyid=k', 'keyid without quotes'],
    ['sig1=(), sig1=("date")', 'sig1 twice'],
    ['sig1=(), sig2=()', 'sig2: only in Signature-Input'],
    ['sig2=()', 'only in Signature'],
  ])('are malformed as %s', (input, fault) => {
    expect(faultOf(input)).toContain(fault);
  });

  it('have values between colons', () => {
    expect(faultOf('sig1=()', 'sig1="AAAA"')).toContain('no byte sequence');
    expect(faultOf('sig1=()', 'sig1=AAA=')).toContain('no dictionary');
    expect(readSignatures([['Signature-Input', 'sig1=()']]).fault).toBe('no Signature');
  });

  it('are read to a bounded number, whatever comes', () => {
    const many = Array.from({ length: 500 }, (_, at) => `s${at}=()`).join(',');
    expect(readSignatures([['Signature-Input', many]]).signatures).toEqual([]);
    expect(readSignatures([['Signature-Input', '\0"'.repeat(1_000)]]).fault).toContain('no dictionary');
  });
});

describe('a request for signatures', () => {
  it.each([
    'sig1=("@method" "@target-uri" "content-digest");keyid="a";created;expires;tag="app-123"',
    'sig1=(), sig2=("date");alg="ed25519"',
  ])('may be %s', (value) => {
    expect(acceptSignatureFault([['Accept-Signature', value]])).toBeNull();
  });

  it.each([
    ['sig1=("@status")', 'of a request'],
    ['sig1=("date";req)', 'for a request'],
    ['sig1=("date");created=1', 'created with a value'],
    ['sig1', 'no list'],
  ])('is malformed as %s', (value, fault) => {
    expect(acceptSignatureFault([['Accept-Signature', value]])).toContain(fault);
  });
});
