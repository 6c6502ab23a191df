import { FRAMING_FAULT, type FramingFault } from '../exchange/framing-faults.ts';
import type { FieldLine } from '../exchange.ts';
import { listElements } from '../fields/grammar/field-grammar.ts';
import { fieldValues } from '../fields/grammar/field-lines.ts';
import type { ResponseHead } from './lines.ts';

/** How far a response's body reaches (RFC 9112 §6.3). */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly octets: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' }
  /** The fields contradict each other or make no sense: an unrecoverable error. */
  | { readonly kind: 'unknowable' };

/** RFC 9112 §7: `x-gzip` and `x-compress` are aliases of old; `chunked` is dealt with apart. */
const CODINGS = new Set(['chunked', 'gzip', 'x-gzip', 'compress', 'x-compress', 'deflate']);

/** Decides by RFC 9112 §6.3 in its order, naming what the fields get wrong. */
export function bodyFraming(
  head: ResponseHead,
  method: string,
  fields: readonly FieldLine[],
  fault: (fault: FramingFault) => void,
): BodyFraming {
  const codings = listElements(fieldValues(fields, 'transfer-encoding').join(',')).map((coding) =>
    coding.toLowerCase(),
  );
  const lengths = fieldValues(fields, 'content-length');
  const { status } = head;

  if ((status >= 100 && status < 200) || status === 204) {
    if (lengths.length > 0) fault(FRAMING_FAULT.lengthOnBodyless);
    if (codings.length > 0) fault(FRAMING_FAULT.codingOnBodyless);
    return { kind: 'none' };
  }
  // RFC 9110 §9.3.6: what follows is the tunnel.
  if (method === 'CONNECT' && status >= 200 && status < 300) return { kind: 'none' };
  const length = contentLength(lengths, fault);
  if (codings.length > 0 && lengths.length > 0) fault(FRAMING_FAULT.lengthAndCoding);
  if (codings.length > 0 && head.httpVersion === '1.0') fault(FRAMING_FAULT.codingInOldVersion);
  if (method === 'HEAD' || status === 304) return { kind: 'none' };
  if (codings.length > 0) return codingFraming(codings, fault);
  if (length === 'unknowable') return { kind: 'unknowable' };
  return length === null ? { kind: 'until-close' } : { kind: 'length', octets: length };
}

function codingFraming(codings: readonly string[], fault: (fault: FramingFault) => void): BodyFraming {
  if (codings.some((coding) => !CODINGS.has(coding))) fault(FRAMING_FAULT.unknownCoding);
  if (codings.indexOf('chunked') !== -1 && codings.indexOf('chunked') !== codings.length - 1) {
    fault(FRAMING_FAULT.chunkedNotLast);
  }
  return { kind: codings.at(-1) === 'chunked' ? 'chunked' : 'until-close' };
}

/** RFC 9110 §8.6: one decimal number; equal repetitions may be folded into one, which is a fault all the same. */
function contentLength(
  lines: readonly string[],
  fault: (fault: FramingFault) => void,
): number | null | 'unknowable' {
  if (lines.length === 0) return null;
  const values = lines.flatMap((line) => line.split(',').map((value) => value.trim()));
  const [first = ''] = values;
  if (values.some((value) => !/^\d{1,16}$/.test(value) || !Number.isSafeInteger(Number(value)))) {
    fault(FRAMING_FAULT.badLength);
    return 'unknowable';
  }
  if (values.some((value) => Number(value) !== Number(first))) {
    fault(FRAMING_FAULT.conflictingLength);
    return 'unknowable';
  }
  if (values.length > 1) fault(FRAMING_FAULT.duplicateLength);
  return Number(first);
}
