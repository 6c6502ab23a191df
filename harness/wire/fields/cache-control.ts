import { visible } from '../octets/utf8.ts';
import { FieldReader, listElements } from './grammar/field-grammar.ts';

/** The directives of Cache-Control (RFC 9111 §5.2). */
export interface CacheControl {
  /** The directive is there, with or without an argument. Names are case-insensitive. */
  has(directive: string): boolean;
  /** Its argument, unquoted; '' when it has none; undefined when it is not there. */
  get(directive: string): string | undefined;
  /** Its argument as delta-seconds (§1.2.2); null when it is not there or not such a number. */
  seconds(directive: string): number | null;
  /** Names in lower case, in order. */
  readonly directives: readonly string[];
  /** What breaks the grammar or contradicts itself, one line each. */
  readonly faults: readonly string[];
  /** Two directives of which one forbids what the other allows, such as `public and private`; null for none. */
  readonly contradiction: string | null;
  /** §3.5: lets a shared cache answer others from an answer to a request with Authorization, without asking the server. */
  readonly sharesAuthorised: boolean;
  /** The same where the request has no Authorization, and its credential is a field like any other. */
  readonly sharesUnguarded: boolean;
  /** Lets some cache reuse the response without asking: `public`, or a freshness lifetime above zero (§4.2.1). */
  readonly allowsReuse: boolean;
}

/** Their argument is a number of seconds (§5.2.1, §5.2.2, RFC 5861). */
const IN_SECONDS = ['max-age', 's-maxage', 'stale-while-revalidate', 'stale-if-error', 'min-fresh'];

/** Reads all Cache-Control field lines of a message; never throws. */
export function readCacheControl(lines: readonly string[]): CacheControl {
  const found = new Map<string, string>();
  const faults: string[] = [];
  const fault = (message: string) => {
    if (faults.length < 20) faults.push(visible(message, 200));
  };
  for (const element of listElements(lines.join(', '))) {
    const directive = readDirective(element);
    if (directive === null) {
      fault(`not a directive: "${element}"`);
    } else if (found.has(directive.name)) {
      // Said twice by two who mean the same it does no harm.
      if (found.get(directive.name) !== directive.argument) fault(`the directive ${directive.name} twice`);
    } else {
      found.set(directive.name, directive.argument);
      if (IN_SECONDS.includes(directive.name) && deltaSeconds(directive.argument) === null) {
        fault(`${directive.name} without a number of seconds: "${element}"`);
      }
    }
  }
  const has = (directive: string) => found.has(directive.toLowerCase());
  const get = (directive: string) => found.get(directive.toLowerCase());
  const seconds = (directive: string) => deltaSeconds(get(directive) ?? '');
  const lifetime = seconds('s-maxage') ?? seconds('max-age');
  // Without a lifetime caches make one up for `public` responses (§4.2.2).
  const isReused = lifetime === null ? has('public') : lifetime > 0;
  // With an argument `private` and `no-cache` are about some fields alone (§5.2.2.4, §5.2.2.7).
  const isShared = !has('no-store') && get('private') !== '' && get('no-cache') !== '' && isReused;
  const isFresh = (seconds('s-maxage') ?? 0) > 0 || (seconds('max-age') ?? 0) > 0;
  return {
    has,
    get,
    seconds,
    directives: [...found.keys()],
    faults,
    contradiction: contradictionIn(get, isFresh),
    sharesAuthorised: isShared && ['public', 's-maxage', 'must-revalidate'].some(has),
    sharesUnguarded: isShared,
    allowsReuse: !has('no-store') && !has('no-cache') && (isFresh || has('public')),
  };
}

/** With arguments `private` and `no-cache` are about some fields alone; a response that is not stored cannot be fresh. */
function contradictionIn(get: CacheControl['get'], isFresh: boolean): string | null {
  const isPublic = get('public') !== undefined;
  if (get('private') === '' && isPublic) return 'private and public';
  if (get('no-store') === undefined) return null;
  if (isPublic) return 'no-store and public';
  return isFresh ? 'no-store and a lifetime' : null;
}

function readDirective(element: string): { name: string; argument: string } | null {
  const reader = new FieldReader(element);
  const name = reader.token()?.toLowerCase();
  if (name === undefined) return null;
  if (reader.done) return { name, argument: '' };
  if (!reader.takeChar('=')) return null;
  const argument = reader.word();
  return argument === null || !reader.done ? null : { name, argument };
}

function deltaSeconds(argument: string): number | null {
  return /^[0-9]{1,15}$/.test(argument) ? Number(argument) : null;
}
