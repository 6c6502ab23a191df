import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { FRAMING_FAULT } from '../exchange/framing-faults.ts';
import { ResponseReader } from './http1-reader.ts';
import type { ReaderLimits } from './lines.ts';

const LIMITS: ReaderLimits = { bodyBytes: 1000, fieldBytes: 2000 };

interface Reading {
  readonly method?: string;
  readonly limits?: ReaderLimits;
  /** TCP ends after the octets. */
  readonly ended?: boolean;
}

function read(
  octets: string | readonly Uint8Array[],
  { method = 'GET', limits = LIMITS, ended = false }: Reading = {},
) {
  const reader = new ResponseReader({ method, limits });
  const pieces = typeof octets === 'string' ? [Buffer.from(octets, 'latin1')] : octets;
  for (const piece of pieces) reader.push(piece);
  if (ended) reader.end();
  return {
    complete: reader.complete,
    failure: reader.failure,
    faults: reader.faults,
    headWhole: reader.headWhole,
    leftover: Buffer.from(reader.leftover).toString('latin1'),
    response: reader.response && {
      ...reader.response,
      body: Buffer.from(reader.response.body).toString('latin1'),
    },
  };
}

describe('a well-formed response', () => {
  it('is read whole by its Content-Length, fields in order, with case and duplicates', () => {
    const result = read('HTTP/1.1 200 OK\r\nX-B: 2\r\nx-a: 1 \r\nX-B:3\r\nContent-Length: 5\r\n\r\nhello');
    expect(result).toMatchObject({ complete: true, failure: null, faults: [] });
    expect(result.response).toMatchObject({
      status: 200,
      reason: 'OK',
      httpVersion: '1.1',
      fields: [
        ['X-B', '2'],
        ['x-a', '1'],
        ['X-B', '3'],
        ['Content-Length', '5'],
      ],
      body: 'hello',
    });
  });

  it('is read chunked, extensions and trailers included', () => {
    const result = read(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nDigest: x\r\n\r\n',
    );
    expect(result).toMatchObject({ complete: true, faults: [] });
    expect(result.response).toMatchObject({ body: 'hello world', trailers: [['Digest', 'x']] });
  });

  it('lasts until the end of TCP without a length', () => {
    const open = read('HTTP/1.0 200 OK\r\n\r\nall of it');
    expect(open.complete).toBe(false);
    const closed = read('HTTP/1.0 200 OK\r\n\r\nall of it', { ended: true });
    expect(closed).toMatchObject({ complete: true, failure: null, faults: [] });
    expect(closed.response?.body).toBe('all of it');
  });

  it.each([
    ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
    ['GET', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'],
  ])('has no body after %s %s', (method, octets) => {
    expect(read(octets, { method })).toMatchObject({ complete: true, faults: [] });
  });

  it('comes after any interim ones, which are kept', () => {
    const result = read(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    );
    expect(result.response).toMatchObject({
      status: 200,
      informational: [
        { status: 100, fields: [] },
        { status: 103, fields: [['Link', '</a>']] },
      ],
    });
  });

  it('ends with the head on 101, and hands over what follows', () => {
    const result = read('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x00');
    expect(result).toMatchObject({ complete: true, faults: [], leftover: '\x81\x00' });
  });

  it('may have an empty reason phrase, after the space', () => {
    expect(read('HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n')).toMatchObject({ complete: true, faults: [] });
  });
});

describe('framing faults that leave the meaning plain', () => {
  const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n';
  it.each([
    [FRAMING_FAULT.bareLf, 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
    [FRAMING_FAULT.bareCr, `${OK}X-A: a\rb\r\n\r\n`],
    [FRAMING_FAULT.emptyLineFirst, `\r\n${OK}\r\n`],
    [FRAMING_FAULT.malformedStatusLine, 'HTTP/1.1  200  OK\r\nContent-Length: 0\r\n\r\n'],
    [FRAMING_FAULT.missingReasonSpace, 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n'],
    [FRAMING_FAULT.badReason, 'HTTP/1.1 200 O\0K\r\nContent-Length: 0\r\n\r\n'],
    [FRAMING_FAULT.statusOutOfRange, 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'],
    [FRAMING_FAULT.statusOutOfRange, 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'],
    [FRAMING_FAULT.badVersion, 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    [FRAMING_FAULT.spaceBeforeFirstField, 'HTTP/1.1 200 OK\r\n X-A: 1\r\nContent-Length: 0\r\n\r\n'],
    [FRAMING_FAULT.obsFold, `${OK}X-A: 1\r\n  more\r\n\r\n`],
    [FRAMING_FAULT.spaceBeforeColon, `${OK}X-A : 1\r\n\r\n`],
    [FRAMING_FAULT.noColon, `${OK}just text\r\n\r\n`],
    [FRAMING_FAULT.badFieldName, `${OK}X(A): 1\r\n\r\n`],
    [FRAMING_FAULT.badFieldName, `${OK}: 1\r\n\r\n`],
    [FRAMING_FAULT.badFieldValue, `${OK}X-A: \x01\r\n\r\n`],
    [FRAMING_FAULT.nul, `${OK}X-A: a\0b\r\n\r\n`],
    [FRAMING_FAULT.duplicateLength, `${OK}Content-Length: 0\r\n\r\n`],
    [FRAMING_FAULT.duplicateLength, 'HTTP/1.1 200 OK\r\nContent-Length: 0, 0\r\n\r\n'],
    [FRAMING_FAULT.lengthAndCoding, `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    [FRAMING_FAULT.codingInOldVersion, 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    [FRAMING_FAULT.lengthOnBodyless, 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n'],
    [FRAMING_FAULT.codingOnBodyless, 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n'],
    [FRAMING_FAULT.unknownCoding, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n'],
    [FRAMING_FAULT.spaceAfterChunkSize, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0 \r\n\r\n'],
    [FRAMING_FAULT.bytesAfterBody, `${OK}\r\nmore`],
    [FRAMING_FAULT.bodyOn204, 'HTTP/1.1 204 No Content\r\n\r\nmore'],
    [FRAMING_FAULT.bodyOn304, 'HTTP/1.1 304 Not Modified\r\n\r\nmore'],
  ])('%s', (fault, octets) => {
    const result = read(octets);
    expect(result.complete).toBe(true);
    expect(result.faults).toContain(fault);
  });

  it('names a body on the response to HEAD', () => {
    const octets = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
    expect(read(octets, { method: 'HEAD' })).toMatchObject({
      complete: true,
      faults: [FRAMING_FAULT.bodyOnHead],
    });
  });

  it('joins a folded value with one space', () => {
    expect(read(`${OK}X-A: 1\r\n  more\r\n\r\n`).response?.fields).toContainEqual(['X-A', '1 more']);
  });

  // RFC 9110 §15.5.9: it may arrive together with the last octets of the response.
  it.each([
    ['GET', `${OK}\r\n`],
    ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
    ['GET', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['GET', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ])('names no 408 of an idle connection, wherever it is cut (%s: %j)', (method, octets) => {
    const news = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';
    for (let length = 0; length <= news.length; length += 1) {
      expect(read(octets + news.slice(0, length), { method })).toMatchObject({ complete: true, faults: [] });
      const pieces = [octets, news.slice(0, length), news.slice(length)].map((each) => Buffer.from(each));
      expect(read(pieces, { method })).toMatchObject({ complete: true, faults: [] });
    }
  });

  it.each([
    ['another response', 'HTTP/1.1 200 OK\r\n\r\n'],
    ['an empty line', '\r\n'],
    ['a malformed 408', 'HTTP/1.1 408 Request Timeout\r\n malformed\r\n\r\n'],
    ['one that follows a 408', 'HTTP/1.1 408 No\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'],
    ['one that follows many', 'HTTP/1.1 408 \r\nContent-Length: 0\r\n\r\n'.repeat(100_000)],
  ])('names %s behind the response', (_what, behind) => {
    expect(read(`${OK}\r\n${behind}`).faults).toEqual([FRAMING_FAULT.bytesAfterBody]);
  });

  it('reads until the end of TCP when chunked is not last', () => {
    const result = read('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n??', { ended: true });
    expect(result).toMatchObject({ complete: true, faults: [FRAMING_FAULT.chunkedNotLast] });
  });
});

describe('a response that cannot be read to its end', () => {
  const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  it.each([
    ['malformed', null, 'SSH-2.0-OpenSSH'],
    ['malformed', FRAMING_FAULT.malformedStatusLine, 'HTTP/1.1 OK\r\n'],
    ['malformed', FRAMING_FAULT.badLength, 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['malformed', FRAMING_FAULT.badLength, 'HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n'],
    [
      'malformed',
      FRAMING_FAULT.conflictingLength,
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    ],
    ['malformed', FRAMING_FAULT.badChunkSize, `${CHUNKED}zz\r\n`],
    ['malformed', FRAMING_FAULT.badChunkSize, `${CHUNKED}0x5\r\nhello\r\n`],
    ['malformed', FRAMING_FAULT.badChunkSize, `${CHUNKED}ffffffffffffffff\r\n`],
    ['malformed', FRAMING_FAULT.badChunkEnd, `${CHUNKED}5\r\nhelloworld`],
  ])('%s (%s): %j', (failure, fault, octets) => {
    const result = read(octets);
    expect(result).toMatchObject({ complete: false, failure });
    expect(result.faults).toEqual(fault === null ? [] : [fault]);
  });

  it.each([
    [null, ''],
    [null, 'HTTP/1.1 20'],
    [null, 'HTTP/1.1 200 OK\r\nX-A: 1\r\n'],
    [FRAMING_FAULT.shortBody, 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell'],
    [FRAMING_FAULT.missingFinalChunk, `${CHUNKED}5\r\nhello\r\n`],
    [FRAMING_FAULT.missingFinalChunk, `${CHUNKED}5\r\nhel`],
    [FRAMING_FAULT.incompleteTrailers, `${CHUNKED}0\r\nX: 1\r\n`],
  ])('closed too early (%s): %j', (fault, octets) => {
    const result = read(octets, { ended: true });
    expect(result).toMatchObject({ complete: false, failure: 'closed' });
    expect(result.faults).toEqual(fault === null ? [] : [fault]);
  });

  it('keeps the head and the first octets of a body beyond the limit, and reads no more', () => {
    const limits = { bodyBytes: 4, fieldBytes: 200 };
    const result = read('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789', { limits });
    expect(result).toMatchObject({ failure: 'body-too-large', headWhole: true });
    expect(result.response?.body).toBe('0123');
  });

  it.each([
    ['a status line without end', `HTTP/1.1 200 ${'O'.repeat(3000)}`],
    ['a field line without end', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(3000)}`],
    ['fields without end', `HTTP/1.1 200 OK\r\n${'X: 1\r\n'.repeat(1000)}`],
    ['trailers without end', `${CHUNKED}0\r\n${'X: 1\r\n'.repeat(1000)}`],
    ['interim responses without end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(40)],
  ])('stops at %s', (_what, octets) => {
    expect(read(octets)).toMatchObject({ complete: false, failure: 'fields-too-large' });
  });

  it('stops at short field lines without end before their octets are too many', () => {
    const limits = { bodyBytes: 1000, fieldBytes: 64 * 1024 };
    const section = (lines: number) => `HTTP/1.1 204 OK\r\n${'X:\r\n'.repeat(lines)}\r\n`;
    expect(read(section(2000), { limits })).toMatchObject({ complete: true, faults: [] });
    expect(read(section(2001), { limits })).toMatchObject({ failure: 'fields-too-large' });
  });

  it('stops at chunk extensions without end, but not at many small chunks', () => {
    const small = read(`${CHUNKED}${'1\r\na\r\n'.repeat(900)}0\r\n\r\n`);
    expect(small).toMatchObject({ complete: true, faults: [] });
    expect(read(`${CHUNKED}${'1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\na\r\n'.repeat(900)}`)).toMatchObject({
      failure: 'fields-too-large',
      faults: [],
    });
  });
});

describe('pieces', () => {
  const line = fc.constantFrom(
    'X-A: 1',
    'X-A : 1',
    ' folded',
    'no colon',
    'Content-Length: 5',
    'Content-Length: 7',
    'Content-Length: x',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip',
    'X: \0\x01',
    '',
  );
  const statusLine = fc.constantFrom(
    'HTTP/1.1 200 OK',
    'HTTP/1.0 200 OK',
    'HTTP/1.1 204 ',
    'HTTP/1.1 100 Continue',
    'HTTP/1.1 101 Switching',
    'HTTP/1.1 999',
    'HTP/1.1 200',
    'http/1.1 200 ok',
    '',
    '\r\r',
  );
  const lineEnd = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n');
  const body = fc.constantFrom(
    'hello',
    '5\r\nhello\r\n0\r\n\r\n',
    '5;x=y \r\nhello\r\n0\r\nT: 1\r\n\r\nmore',
    '5\r\nhello0\r\n',
    'x'.repeat(80),
    '\r\n',
    'HTTP/1.1 200 OK\r\n\r\n',
  );
  const message = fc
    .tuple(statusLine, fc.array(line, { maxLength: 5 }), lineEnd, body, fc.string({ maxLength: 10 }))
    .map(([status, lines, end, content, rest]) => [status, ...lines, '', content].join(end) + rest);

  it('give the same result wherever they are cut', () => {
    fc.assert(
      fc.property(
        message,
        fc.array(fc.nat(200), { maxLength: 12 }),
        fc.constantFrom('GET', 'HEAD'),
        fc.constantFrom(
          LIMITS,
          { bodyBytes: 20, fieldBytes: 60 },
          { bodyBytes: 1000, fieldBytes: 1000, fieldLines: 2 },
        ),
        fc.boolean(),
        (text, cuts, method, limits, ended) => {
          const octets = Buffer.from(text, 'latin1');
          const at = [...new Set([0, ...cuts.filter((cut) => cut < octets.length), octets.length])].sort(
            (a, b) => a - b,
          );
          const pieces = at.slice(1).map((end, index) => octets.subarray(at[index], end));
          const single = Array.from(octets, (octet) => Uint8Array.of(octet));
          const whole = read(text, { method, limits, ended });
          expect(read(pieces, { method, limits, ended })).toEqual(whole);
          expect(read(single, { method, limits, ended })).toEqual(whole);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('of anything at all never make it throw', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 6 }), (pieces) => {
        read([Buffer.from('HTTP/1.1 200 OK\r\n'), ...pieces], { ended: true });
      }),
    );
  });

  it('of one octet make a body of many chunks without cost', () => {
    const reader = new ResponseReader({ method: 'GET', limits: { bodyBytes: 1 << 20, fieldBytes: 1 << 16 } });
    reader.push(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'));
    reader.push(Buffer.from('1\r\na\r\n'.repeat(100_000)));
    reader.push(Buffer.from('0\r\n\r\n'));
    expect(reader.complete).toBe(true);
    expect(reader.response?.body.length).toBe(100_000);
  });
});
