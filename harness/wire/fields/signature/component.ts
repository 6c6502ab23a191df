import { type BareItem, type Item, serializeItem } from 'structured-headers';
import { visible } from '../../octets/visible.ts';
import { isToken } from '../grammar/field-grammar.ts';

/** A piece of a message that a signature covers (RFC 9421 §2): a field, or what is derived from the message. */
export interface Component {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, BareItem>;
  /** As it stands in the signature base: `"content-type"`, `"@method";req`. */
  readonly identifier: string;
}

/** The kind of message that is signed. */
export type Target = 'request' | 'response';

/** Derived components (RFC 9421 §2.2), and of which message each is. */
const DERIVED: ReadonlyMap<string, Target> = new Map([
  ['@method', 'request'],
  ['@target-uri', 'request'],
  ['@authority', 'request'],
  ['@scheme', 'request'],
  ['@request-target', 'request'],
  ['@path', 'request'],
  ['@query', 'request'],
  ['@query-param', 'request'],
  ['@status', 'response'],
]);

const FLAGS = ['req', 'sf', 'bs', 'tr'];
const STRINGS = ['key', 'name'];

export function componentOf([name, parameters]: Item): Component {
  return { name: String(name), parameters, identifier: serializeItem([name, parameters]) };
}

/** The same for equal components, in whichever order their parameters stand (RFC 9421 §2). */
export function sameness({ name, parameters }: Component): string {
  const sorted = new Map([...parameters].sort(([one], [other]) => (one < other ? -1 : 1)));
  return serializeItem([name, sorted]);
}

/** What keeps it from being covered; null when nothing does. Names and parameters that nobody knows may be new ones. */
export function componentFault([name, parameters]: Item, target: Target): string | null {
  if (typeof name !== 'string') return `${visible(serializeItem([name, new Map()]), 60)} without quotes`;
  const shown = `"${visible(name, 60)}"`;
  const flag = FLAGS.find((each) => parameters.has(each) && parameters.get(each) !== true);
  if (flag !== undefined) return `${shown} with a value of ${flag}`;
  const string = STRINGS.find((each) => parameters.has(each) && typeof parameters.get(each) !== 'string');
  if (string !== undefined) return `${shown} with a ${string} that is no string`;
  if (parameters.has('bs') && (parameters.has('sf') || parameters.has('key'))) {
    return `${shown} with bs and ${parameters.has('sf') ? 'sf' : 'key'}, which exclude each other`;
  }
  if (parameters.has('req') && target === 'request') return `${shown} with req, for a request`;
  return name.startsWith('@') ? derivedFault(name, parameters, target) : fieldFault(name, shown);
}

function fieldFault(name: string, shown: string): string | null {
  if (!isToken(name)) return `${shown}, which is no name of a header`;
  return name === name.toLowerCase() ? null : `${shown}, which is not in lower case`;
}

function derivedFault(name: string, parameters: Component['parameters'], target: Target): string | null {
  if (name === '@signature-params') return '"@signature-params", which is there anyway';
  if (name === '@query-param' && !parameters.has('name')) return '"@query-param" without a name';
  const from = parameters.has('req') ? 'request' : target;
  const of = DERIVED.get(name);
  if (of === undefined || of === from) return null;
  return of === 'request' ? `"${name}" of a response` : `"${name}" of a request`;
}
