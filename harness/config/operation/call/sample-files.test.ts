import { crc32, gunzipSync, inflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { sampleFile } from './sample-files.ts';

const octetsOf = (mediaType: string) => Buffer.from(sampleFile(mediaType)?.octets ?? '', 'latin1');

it('is a picture of one white pixel', () => {
  const png = octetsOf('image/*');
  const chunks: Record<string, Buffer> = {};
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) {
    const end = at + 8 + png.readUInt32BE(at);
    expect(png.readUInt32BE(end)).toBe(crc32(png.subarray(at + 4, end)));
    chunks[png.toString('latin1', at + 4, at + 8)] = png.subarray(at + 8, end);
  }
  expect(Object.keys(chunks)).toEqual(['IHDR', 'IDAT', 'IEND']);
  expect(inflateSync(chunks.IDAT ?? '')).toHaveLength(2);
  expect(octetsOf('image/jpg').subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
  expect(octetsOf('image/jpeg').subarray(-2)).toEqual(Buffer.from([0xff, 0xd9]));
});

it('is a page whose objects are where its table says', () => {
  const pdf = octetsOf('application/pdf').toString('latin1');
  const [, table] = /startxref\n(\d+)\n%%EOF/.exec(pdf) ?? [];
  expect(pdf.slice(Number(table))).toMatch(/^xref\n0 4\n/);
  const offsets = Array.from(pdf.matchAll(/^(\d{10}) 00000 n $/gm), ([, offset]) => Number(offset));
  expect(offsets.map((offset) => pdf.slice(offset, offset + 7))).toEqual(['1 0 obj', '2 0 obj', '3 0 obj']);
});

it('is an archive, or a table', () => {
  expect(gunzipSync(octetsOf('application/x-gzip')).toString()).toBe('conform');
  const zip = octetsOf('application/zip');
  const directory = zip.readUInt32LE(zip.length - 22 + 16);
  expect(zip.toString('latin1', directory, directory + 4)).toBe('PK\x01\x02');
  expect(octetsOf('Text/CSV; charset=utf-8').toString()).toBe('id,name\r\n1,conform\r\n');
  expect(sampleFile('application/msword')).toBeNull();
});
