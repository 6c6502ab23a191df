/** RFC 9110 §15.5.9: an idle connection may be told that it is about to be closed. */
const IDLE_TIMEOUT = /^HTTP\/1\.[01] 408[ \r]/;

/**
 * Whether octets that follow a whole response, while nothing is asked, are something that a server must not send there
 * (RFC 9112 §9.2): anything but empty lines and the news that the connection was idle for too long.
 */
export function isUnasked(octets: Uint8Array): boolean {
  const text = Buffer.from(octets)
    .toString('latin1')
    .replace(/^[\r\n]+/, '');
  return text !== '' && !IDLE_TIMEOUT.test(text);
}
