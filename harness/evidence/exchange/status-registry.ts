/** An entry of the IANA HTTP Status Code Registry. */
export interface StatusCode {
  readonly code: number;
  readonly name: string;
  /** Where it is defined, e.g. `RFC 9110 §15.5.2`. */
  readonly reference: string;
}

/** https://www.iana.org/assignments/http-status-codes; 306 and 418 are reserved there, not assigned. */
export const STATUS_CODES: readonly StatusCode[] = [
  { code: 100, name: 'Continue', reference: 'RFC 9110 §15.2.1' },
  { code: 101, name: 'Switching Protocols', reference: 'RFC 9110 §15.2.2' },
  { code: 102, name: 'Processing', reference: 'RFC 2518' },
  { code: 103, name: 'Early Hints', reference: 'RFC 8297' },
  { code: 104, name: 'Upload Resumption Supported', reference: 'draft-ietf-httpbis-resumable-upload' },
  { code: 200, name: 'OK', reference: 'RFC 9110 §15.3.1' },
  { code: 201, name: 'Created', reference: 'RFC 9110 §15.3.2' },
  { code: 202, name: 'Accepted', reference: 'RFC 9110 §15.3.3' },
  { code: 203, name: 'Non-Authoritative Information', reference: 'RFC 9110 §15.3.4' },
  { code: 204, name: 'No Content', reference: 'RFC 9110 §15.3.5' },
  { code: 205, name: 'Reset Content', reference: 'RFC 9110 §15.3.6' },
  { code: 206, name: 'Partial Content', reference: 'RFC 9110 §15.3.7' },
  { code: 207, name: 'Multi-Status', reference: 'RFC 4918 §11.1' },
  { code: 208, name: 'Already Reported', reference: 'RFC 5842 §7.1' },
  { code: 226, name: 'IM Used', reference: 'RFC 3229 §10.4.1' },
  { code: 300, name: 'Multiple Choices', reference: 'RFC 9110 §15.4.1' },
  { code: 301, name: 'Moved Permanently', reference: 'RFC 9110 §15.4.2' },
  { code: 302, name: 'Found', reference: 'RFC 9110 §15.4.3' },
  { code: 303, name: 'See Other', reference: 'RFC 9110 §15.4.4' },
  { code: 304, name: 'Not Modified', reference: 'RFC 9110 §15.4.5' },
  { code: 305, name: 'Use Proxy', reference: 'RFC 9110 §15.4.6' },
  { code: 307, name: 'Temporary Redirect', reference: 'RFC 9110 §15.4.8' },
  { code: 308, name: 'Permanent Redirect', reference: 'RFC 9110 §15.4.9' },
  { code: 400, name: 'Bad Request', reference: 'RFC 9110 §15.5.1' },
  { code: 401, name: 'Unauthorized', reference: 'RFC 9110 §15.5.2' },
  { code: 402, name: 'Payment Required', reference: 'RFC 9110 §15.5.3' },
  { code: 403, name: 'Forbidden', reference: 'RFC 9110 §15.5.4' },
  { code: 404, name: 'Not Found', reference: 'RFC 9110 §15.5.5' },
  { code: 405, name: 'Method Not Allowed', reference: 'RFC 9110 §15.5.6' },
  { code: 406, name: 'Not Acceptable', reference: 'RFC 9110 §15.5.7' },
  { code: 407, name: 'Proxy Authentication Required', reference: 'RFC 9110 §15.5.8' },
  { code: 408, name: 'Request Timeout', reference: 'RFC 9110 §15.5.9' },
  { code: 409, name: 'Conflict', reference: 'RFC 9110 §15.5.10' },
  { code: 410, name: 'Gone', reference: 'RFC 9110 §15.5.11' },
  { code: 411, name: 'Length Required', reference: 'RFC 9110 §15.5.12' },
  { code: 412, name: 'Precondition Failed', reference: 'RFC 9110 §15.5.13' },
  { code: 413, name: 'Content Too Large', reference: 'RFC 9110 §15.5.14' },
  { code: 414, name: 'URI Too Long', reference: 'RFC 9110 §15.5.15' },
  { code: 415, name: 'Unsupported Media Type', reference: 'RFC 9110 §15.5.16' },
  { code: 416, name: 'Range Not Satisfiable', reference: 'RFC 9110 §15.5.17' },
  { code: 417, name: 'Expectation Failed', reference: 'RFC 9110 §15.5.18' },
  { code: 421, name: 'Misdirected Request', reference: 'RFC 9110 §15.5.20' },
  { code: 422, name: 'Unprocessable Content', reference: 'RFC 9110 §15.5.21' },
  { code: 423, name: 'Locked', reference: 'RFC 4918 §11.3' },
  { code: 424, name: 'Failed Dependency', reference: 'RFC 4918 §11.4' },
  { code: 425, name: 'Too Early', reference: 'RFC 8470 §5.2' },
  { code: 426, name: 'Upgrade Required', reference: 'RFC 9110 §15.5.22' },
  { code: 428, name: 'Precondition Required', reference: 'RFC 6585 §3' },
  { code: 429, name: 'Too Many Requests', reference: 'RFC 6585 §4' },
  { code: 431, name: 'Request Header Fields Too Large', reference: 'RFC 6585 §5' },
  { code: 451, name: 'Unavailable For Legal Reasons', reference: 'RFC 7725 §3' },
  { code: 500, name: 'Internal Server Error', reference: 'RFC 9110 §15.6.1' },
  { code: 501, name: 'Not Implemented', reference: 'RFC 9110 §15.6.2' },
  { code: 502, name: 'Bad Gateway', reference: 'RFC 9110 §15.6.3' },
  { code: 503, name: 'Service Unavailable', reference: 'RFC 9110 §15.6.4' },
  { code: 504, name: 'Gateway Timeout', reference: 'RFC 9110 §15.6.5' },
  { code: 505, name: 'HTTP Version Not Supported', reference: 'RFC 9110 §15.6.6' },
  { code: 506, name: 'Variant Also Negotiates', reference: 'RFC 2295 §8.1' },
  { code: 507, name: 'Insufficient Storage', reference: 'RFC 4918 §11.5' },
  { code: 508, name: 'Loop Detected', reference: 'RFC 5842 §7.2' },
  { code: 510, name: 'Not Extended', reference: 'RFC 2774 §7' },
  { code: 511, name: 'Network Authentication Required', reference: 'RFC 6585 §6' },
];

const byCode = new Map(STATUS_CODES.map((entry) => [entry.code, entry]));

/** The registry's entry; undefined for codes that are not assigned. */
export function findStatusCode(code: number): StatusCode | undefined {
  return byCode.get(code);
}

/** The code is assigned in the IANA registry. */
export function isRegistered(code: number): boolean {
  return byCode.has(code);
}
