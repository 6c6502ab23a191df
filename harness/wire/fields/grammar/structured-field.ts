import { ParseError } from 'structured-headers';

// Apart from the grammar, which the command line loads for every start.
/** What `read` makes of a structured field value (RFC 9651) with the library; null where it is none. */
export function structured<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof ParseError) return null;
    throw error;
  }
}
