import type { SecretText } from '../base/secret.ts';
import type { FieldLine } from './exchange.ts';

/** A request as a probe describes it. Strings are latin1: one character is one octet on the wire. */
export interface HttpRequest {
  readonly method: string;
  /** In origin-form exactly as to be sent, below the base URL's path: `/v1/resources?x=1`. */
  readonly target: string;
  /** `Host`, `User-Agent` and `X-Conform-Run` are added unless they are here. */
  readonly fields: readonly FieldLine[];
  readonly body?: Uint8Array | null;
  /** Sends no User-Agent at all. */
  readonly withoutUserAgent?: boolean;
  /** Sends no X-Conform-Run. */
  readonly withoutRunId?: boolean;
}

/** A header that each request carries, whatever else is in it. */
export type FixedHeader = readonly [name: string, value: SecretText];

/** Methods that change nothing at the provider (RFC 9110 §9.2.1); QUERY is one by its own specification. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY']);

/** A parameter of a query, its name and value with percent-encoding and `+` undone. */
export type QueryParameter = readonly [name: string, value: string];

/** The path of an origin-form target, as it is written. */
export function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? '';
}

/** The parameters of an origin-form target, in order. */
export function queryOf(target: string): QueryParameter[] {
  return pieces(target).map((piece) => {
    const equals = piece.indexOf('=');
    return equals === -1
      ? [decode(piece), '']
      : [decode(piece.slice(0, equals)), decode(piece.slice(equals + 1))];
  });
}

/** The target with these parameters after its own, of which those of the same name are dropped; all others stay as written. */
export function withQuery(target: string, parameters: readonly QueryParameter[]): string {
  const names = new Set(parameters.map(([name]) => name));
  const kept = pieces(target).filter((piece) => !names.has(decode(piece.split('=', 1)[0] ?? '')));
  const added = parameters.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return join(pathOf(target), [...kept, ...added]);
}

/** The target without the parameters of that name. */
export function withoutQuery(target: string, name: string): string {
  const kept = pieces(target).filter((piece) => decode(piece.split('=', 1)[0] ?? '') !== name);
  return join(pathOf(target), kept);
}

function join(path: string, query: readonly string[]): string {
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

function pieces(target: string): string[] {
  const question = target.indexOf('?');
  return question === -1
    ? []
    : target
        .slice(question + 1)
        .split('&')
        .filter((piece) => piece !== '');
}

/** Text that is no valid percent-encoding stays as it is: hostile queries are sent on purpose. */
function decode(text: string): string {
  return percentDecoded(text.replaceAll('+', ' '));
}

/** Percent-encoding (RFC 3986 §2.1) undone; a text that is not encoded so stays as it is. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const RUN_FIELD = 'X-Conform-Run';

/** The field lines that tell a provider's operators which run a request belongs to. */
export function runFields(userAgent: string, runId: string): readonly FieldLine[] {
  return [
    ['User-Agent', `${userAgent} (run ${runId})`],
    [RUN_FIELD, runId],
  ];
}

/** Whether a field line is there for the run or for its connection, and not for the probe. */
export function isOfTheRun([name, value]: FieldLine): boolean {
  switch (name.toLowerCase()) {
    case RUN_FIELD.toLowerCase():
      return true;
    case 'user-agent':
      return /^conform\S* \(run [\w-]+\)$/.test(value);
    case 'connection':
      return /^(?:keep-alive|close)$/i.test(value);
    default:
      return false;
  }
}
