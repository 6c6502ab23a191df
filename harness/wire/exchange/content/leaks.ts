import { BlockList, isIP } from 'node:net';
import type { FieldLine, RecordedResponse } from '../../exchange.ts';
import { latin1Text, visible } from '../../octets/utf8.ts';
import { type Trace, traces } from '../../redaction/marker.ts';

/** A secret that a response held before it was redacted. */
export interface SecretPlace extends Trace {
  /** In words: `the body`, `the field Location`, `the reason phrase` … */
  readonly place: string;
}

/** Every secret in every part of a response. `content`: its body, content codings undone. */
export function findSecretPlaces(response: RecordedResponse, content: Uint8Array): readonly SecretPlace[] {
  const found = (text: string, place: string) => traces(text).map((trace) => ({ ...trace, place }));
  const inLines = (lines: readonly FieldLine[], kind: string) =>
    lines.flatMap(([name, value]) => found(`${name}\n${value}`, `${kind} ${visible(name, 100)}`));
  return [
    ...found(response.reason ?? '', 'the reason phrase'),
    ...inLines(response.fields, 'the field'),
    ...response.informational.flatMap(({ status, fields }) => inLines(fields, `the ${status} field`)),
    ...inLines(response.trailers, 'the trailer'),
    ...found(latin1Text(content), 'the body'),
  ];
}

/** What an error body should not tell of the service's insides, and how it looks. */
const INTERNALS: Readonly<Record<string, readonly RegExp[]>> = {
  'a stack trace': [
    /\bat [\w$.<>[\] ]{1,100}\((?:[^()\s]{1,200}:\d{1,6}:\d{1,6}|[\w$]{1,100}\.(?:java|kt|scala):\d{1,6}|native)\)/,
    /\bat (?:async )?(?:file:\/\/)?\/[^\s()"]{1,200}:\d{1,6}:\d{1,6}/,
    /Traceback \(most recent call last\)|\bFile \\?"[^"\\]{1,200}\\?", line \d{1,6}/,
    /\bgoroutine \d{1,9} \[|\bpanic: |\bthread '[^']{1,60}' panicked at/,
    /Stack trace:|PHP (?:Fatal|Parse) error|\bin [A-Z]:\\{1,2}[^\s"]{1,200}:line \d{1,6}/,
    // From the beginning of a word: a long one is not tried from each of its characters.
    /(?<![\w./-])[\w./-]{1,500}\.rb:\d{1,6}:in [`']/,
  ],
  'an SQL error': [
    /SQLSTATE\[?|You have an error in your SQL syntax|syntax error at or near|\bORA-\d{5}\b|SQLITE_[A-Z]{3,20}|\bSqlException\b|Unclosed quotation mark/,
  ],
  'an SQL statement': [
    /\bSELECT\b[^;]{1,100}\bFROM\b[^;]{1,100}\bWHERE\b|\bINSERT INTO\b[^;]{1,100}\bVALUES\b/,
  ],
  'a file path': [
    // Not the path of a URL, nor a link in a page.
    /(?<![\w.:/-]|=\\?["'])\/(?:usr|var|home|app|srv|opt|etc|root|Users|workspace)\/[\w./@-]{1,200}\.(?:[cm]?[jt]s|py|rb|php|go|rs|java|conf|so)\b/,
    /\bnode_modules\/|\b[A-Z]:\\{1,2}(?:[\w .-]{1,60}\\{1,2}){1,20}/,
  ],
  'a product version': [
    /\b(?:nginx|Apache|PHP|Express|Werkzeug|Python|Jetty|Tomcat|IIS|openresty|Phusion Passenger|gunicorn|Kestrel|Rails)\/\d{1,4}(?:\.\d{1,6})+/,
  ],
};

/** Bodies are searched this far, in characters. */
export const SEARCHED = 64 * 1024;

/**
 * What a body tells of the service's insides (OWASP API8: stack traces, paths, SQL, product versions), one line with
 * an excerpt; null when nothing of the kind is found.
 */
export function findInternals(text: string): string | null {
  const searched = text.slice(0, SEARCHED);
  for (const [what, patterns] of Object.entries(INTERNALS)) {
    const found = patterns.map((pattern) => pattern.exec(searched)?.[0]).find((each) => each !== undefined);
    if (found !== undefined) return `${what}: "${visible(found, 80)}"`;
  }
  return null;
}

/** RFC 1918, RFC 3927, RFC 4193, RFC 6598 and loopback: addresses of inner networks. */
const INNER = new BlockList();
for (const [net, prefix] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
] as const) {
  INNER.addSubnet(net, prefix, 'ipv4');
}
INNER.addSubnet('fc00::', 7, 'ipv6');
INNER.addSubnet('fe80::', 10, 'ipv6');
INNER.addAddress('::1', 'ipv6');

/** RFC 6762, RFC 8375, RFC 9476 and the names that networks give themselves. */
const INNER_NAMES = /(?:^|\.)(?:internal|local|localdomain|localhost|lan|intranet|corp|home\.arpa)$/i;

/** Whether a host, as a URL has it, can be reached from its own network alone. */
export function isInnerHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const version = isIP(host);
  if (version !== 0) return INNER.check(host, version === 4 ? 'ipv4' : 'ipv6');
  return INNER_NAMES.test(host) || !host.includes('.');
}
