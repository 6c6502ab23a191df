import { codeOf } from '../../base/thrown.ts';
import type { ExchangeFailure, ExchangeFailureKind } from '../exchange.ts';
import type { Redaction } from '../redaction/redaction.ts';

/** Codes of Node's errors, and what they mean for an exchange. */
const KIND_BY_CODE: Readonly<Record<string, ExchangeFailureKind>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  EHOSTDOWN: 'refused',
  ENETUNREACH: 'refused',
  ENETDOWN: 'refused',
  ENOTFOUND: 'unresolved',
  EAI_AGAIN: 'unresolved',
  EAI_FAIL: 'unresolved',
  EAI_NODATA: 'unresolved',
  EAI_NONAME: 'unresolved',
  ETIMEDOUT: 'connect-timeout',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  // This machine has no sockets, ports, memory or permission left for it: no fault of the provider.
  EMFILE: 'not-sent',
  ENFILE: 'not-sent',
  ENOMEM: 'not-sent',
  ENOBUFS: 'not-sent',
  EADDRNOTAVAIL: 'not-sent',
  EACCES: 'not-sent',
  EPERM: 'not-sent',
};

/** OpenSSL and Node name certificate trouble in many ways; these prefixes and endings cover them. */
const TLS_CODE =
  /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/;

/** By the error's code, as Node and TLS name it; `otherwise` where it has none that is known. */
export function failureKind(error: unknown, otherwise: ExchangeFailureKind): ExchangeFailureKind {
  const code = errorCode(error);
  if (code === null) return otherwise;
  if (TLS_CODE.test(code)) return 'tls';
  return KIND_BY_CODE[code] ?? otherwise;
}

/** The `code` of an error, of its cause, or of the first of the errors that it gathers. */
function errorCode(error: unknown): string | null {
  const code = codeOf(error);
  if (code !== null || !(error instanceof Error)) return code;
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  return error.cause === undefined ? null : errorCode(error.cause);
}

interface Advice {
  readonly codes: RegExp;
  /** In place of the words of Node and OpenSSL; default: those. */
  readonly problem?: string;
  readonly remedy: string;
}

/** What to do about an error, by its code. */
const ADVICE: readonly Advice[] = [
  {
    codes: /^E[MN]FILE$/,
    remedy: 'this machine allows conform no more open files: raise the limit (ulimit -n)',
  },
  { codes: /^ECONNREFUSED$/, remedy: 'start the service, or correct host and port of the URL' },
  {
    codes: /^(?:ENOTFOUND|EAI_NONAME|EAI_NODATA)$/,
    remedy: 'correct the host name; a name of a private network may need its VPN',
  },
  {
    codes: /^(?:ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN)$/,
    remedy: 'look for a firewall, a missing VPN or a wrong address between',
  },
  {
    codes: /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNEXPECTED_MESSAGE$/,
    problem: 'there is no TLS at this port',
    remedy: 'write http:// in the URL, or the port of HTTPS',
  },
  {
    codes: /CERT_HAS_EXPIRED/,
    problem: 'its certificate has expired',
    remedy: 'renew it; on staging tls: { insecure: true } in the config of the service takes it',
  },
  {
    codes: /CERT_NOT_YET_VALID/,
    problem: 'its certificate is not valid yet',
    remedy: 'compare the clocks of the two machines',
  },
  {
    codes: /ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH/,
    remedy: 'write a host in the URL that its certificate has, or issue one for this host',
  },
  {
    codes: /SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE/,
    problem: 'a self-signed certificate, or one of an unknown authority',
    remedy:
      'if it is the right one, name the file of its authority in the config of the service: tls: { ca: PATH }',
  },
  {
    codes: /ALERT_CERTIFICATE_REQUIRED|ALERT_BAD_CERTIFICATE$|SSLV3_ALERT_HANDSHAKE_FAILURE/,
    remedy:
      'if a client certificate is asked for, name its files in the config of the service: tls: { cert: PATH, key: PATH }',
  },
];

/** One line for a person out of whatever was thrown. */
export function errorLine(error: unknown): string {
  const code = errorCode(error) ?? '';
  const advice = ADVICE.find(({ codes }) => codes.test(code));
  const line = advice?.problem === undefined ? ownWords(error) : `${advice.problem} (${code})`;
  return advice === undefined ? line : `${line}; ${advice.remedy}`;
}

/** Those of the last attempt where several addresses were tried. */
function ownWords(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0)
    return ownWords(error.errors.at(-1));
  const text = error instanceof Error ? error.message || errorCode(error) || error.name : String(error);
  return text.replace(/\s+/g, ' ').trim().slice(0, 300);
}

export function redactFailure(redaction: Redaction, failure: ExchangeFailure): ExchangeFailure {
  return { kind: failure.kind, message: redaction.text(failure.message) };
}

/** For a signal that was aborted before or while a request was on its way. */
export function abortedFailure(signal: AbortSignal | undefined, when: string): ExchangeFailure {
  const reason = signal?.reason === undefined ? 'aborted' : errorLine(signal.reason);
  return { kind: 'not-sent', message: `${when}: ${reason}` };
}
