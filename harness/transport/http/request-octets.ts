import type { FieldLine } from '../../evidence/exchange.ts';

/** A request as it can be told from its octets, however malformed: what cannot be told is empty. */
export interface DescribedRequest {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly FieldLine[];
  readonly body: Uint8Array | null;
}

/** Takes the octets of a request apart for the record, forgiving everything. */
export function describeOctets(octets: Uint8Array): DescribedRequest {
  const text = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('latin1');
  const headEnd = /\r?\n\r?\n/.exec(text);
  const head = headEnd ? text.slice(0, headEnd.index) : text;
  const [startLine = '', ...lines] = head.split(/\r?\n/);
  const [method = '', target = ''] = startLine.split(' ');
  const body = headEnd ? octets.subarray(headEnd.index + headEnd[0].length) : new Uint8Array();
  return {
    method,
    target,
    fields: lines.map((line) => {
      const colon = line.indexOf(':');
      return colon === -1 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
    body: body.length > 0 ? body : null,
  };
}
