import { createHash } from 'node:crypto';
import {
  type BareItem,
  type Dictionary,
  type InnerList,
  type Item,
  isInnerList,
  parseDictionary,
  serializeItem,
} from 'structured-headers';
import type { FieldLine } from '../../exchange.ts';
import { visible } from '../../octets/utf8.ts';
import { fieldValue, isToken } from '../grammar/field-grammar.ts';
import { structured } from '../grammar/structured-field.ts';

/** A signature of a message (RFC 9421), as it was read. */
export interface MessageSignature {
  readonly label: string;
  /** What it covers and its parameters, as it stood there. */
  readonly input: InnerList;
  readonly components: readonly Component[];
  readonly parameters: ReadonlyMap<string, BareItem>;
  readonly value: Uint8Array;
}

interface SignatureReading {
  /** Those that are well formed. */
  readonly signatures: readonly MessageSignature[];
  /** The fault of the first one that is not; null for none. */
  readonly fault: string | null;
  /** Why not all of them were looked at; null if all were. */
  readonly unread: string | null;
}

const TIMES = ['created', 'expires'];
const STRINGS = ['nonce', 'alg', 'keyid', 'tag'];

/** The most signatures of a message that are looked at. */
const MOST = 20;

/** Reads Signature-Input and Signature (RFC 9421 §4) among these lines, trailers included; never throws. */
export function readSignatures(lines: readonly FieldLine[], target: Target = 'response'): SignatureReading {
  const inputs = readMembers(lines, 'Signature-Input');
  const values = readMembers(lines, 'Signature');
  const faults = [inputs.fault, values.fault].filter((fault) => fault !== null);
  const signatures: MessageSignature[] = [];
  for (const [label, input] of [...inputs.members].slice(0, MOST)) {
    const value = values.members.get(label);
    const fault = inputFault(input, target, isWholeNumber) ?? valueFault(value, values.fault !== null);
    if (fault !== null) faults.push(`${visible(label, 40)}: ${fault}`);
    else if (isInnerList(input) && value?.[0] instanceof ArrayBuffer) {
      const [items, parameters] = input;
      const components = items.map(componentOf);
      signatures.push({ label, input, components, parameters, value: new Uint8Array(value[0]) });
    }
  }
  const unknown = [...values.members.keys()].find((label) => !inputs.members.has(label));
  if (unknown !== undefined && inputs.fault === null)
    faults.push(`${visible(unknown, 40)}: only in Signature`);
  const { size } = inputs.members;
  const unread = size > MOST ? `${MOST} of its ${size} signatures are looked at` : null;
  return { signatures, fault: faults[0] ?? null, unread };
}

/** The fault of Accept-Signature (RFC 9421 §5.1), which asks for signatures of requests; null for none. */
export function acceptSignatureFault(lines: readonly FieldLine[]): string | null {
  const { members, fault } = readMembers(lines, 'Accept-Signature');
  if (fault !== null) return fault;
  for (const [label, input] of [...members].slice(0, MOST)) {
    const wrong = inputFault(input, 'request', isWish);
    if (wrong !== null) return `${visible(label, 40)}: ${wrong}`;
  }
  return null;
}

type Member = Item | InnerList;

function readMembers(lines: readonly FieldLine[], field: string) {
  const value = fieldValue(lines, field);
  const none = new Map<string, Member>();
  if (value === undefined) return { members: none, fault: `no ${field}` };
  const members = structured((): ReadonlyMap<string, Member> => parseDictionary(value));
  if (members === null)
    return { members: none, fault: `${field}: "${visible(value, 80)}", which is no dictionary` };
  const twice = repeatedKey(value);
  return { members, fault: twice === null ? null : `${visible(twice, 40)} twice in ${field}` };
}

/** The first key that stands twice in a dictionary: when it is parsed the later member takes the place of the earlier. */
function repeatedKey(dictionary: string): string | null {
  const bare = dictionary.replace(/"(?:\\.|[^"\\])*"|:[^:]*:|\([^)]*\)/g, '');
  const keys = bare.split(',').map((member) => /^\s*([^=;\s]*)/.exec(member)?.[1] ?? '');
  return keys.find((key, at) => keys.indexOf(key) < at) ?? null;
}

function valueFault(value: Member | undefined, isUnread: boolean): string | null {
  if (value === undefined) return isUnread ? null : 'only in Signature-Input';
  return value[0] instanceof ArrayBuffer ? null : 'its signature is no byte sequence between colons';
}

/** The fault of a parameter that holds a time; null for none. */
type TimeFault = (name: string, value: BareItem) => string | null;

/** RFC 9421 §2.3. */
const isWholeNumber: TimeFault = (name, value) =>
  Number.isInteger(value) ? null : `${name} is no whole number`;

/** RFC 9421 §5.1: times are asked for, and not given. */
const isWish: TimeFault = (name, value) => (value === true ? null : `${name} with a value`);

function inputFault(input: Member, target: Target, timeFault: TimeFault): string | null {
  if (!isInnerList(input)) return 'no list of what it covers';
  const [items, parameters] = input;
  for (const item of items) {
    const fault = componentFault(item, target);
    if (fault !== null) return `it covers ${fault}`;
  }
  const components = items.map(componentOf);
  const keys = components.map(sameness);
  const twice = components.find((_, at) => keys.indexOf(keys[at] ?? '') < at);
  if (twice) return `it covers ${visible(twice.identifier, 80)} twice`;
  for (const [name, value] of parameters) {
    const fault = TIMES.includes(name) ? timeFault(name, value) : null;
    if (fault !== null) return fault;
    if (STRINGS.includes(name) && typeof value !== 'string') return `${name} without quotes`;
  }
  return null;
}

/** A piece of a message that a signature covers (RFC 9421 §2): a field, or a value derived from the message. */
export interface Component {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, BareItem>;
  /** As it stands in the signature base: `"content-type"`, `"@method";req`. */
  readonly identifier: string;
}

/** The kind of message that is signed. */
type Target = 'request' | 'response';

/** Derived components (RFC 9421 §2.2) of a request; of a response there is `@status` alone. */
const OF_REQUEST: ReadonlySet<string> = new Set([
  ...['@method', '@target-uri', '@authority', '@scheme', '@request-target'],
  ...['@path', '@query', '@query-param'],
]);

const FLAGS = ['req', 'sf', 'bs', 'tr'];
const COMPONENT_STRINGS = ['key', 'name'];

function componentOf([name, parameters]: Item): Component {
  return { name: String(name), parameters, identifier: serializeItem([name, parameters]) };
}

/** The same for equal components, in whichever order their parameters stand (RFC 9421 §2). */
export function sameness({ name, parameters }: Component): string {
  const sorted = new Map([...parameters].sort(([one], [other]) => (one < other ? -1 : 1)));
  return serializeItem([name, sorted]);
}

/** What keeps it from being covered; null when nothing does. Unknown names and parameters may be new ones. */
function componentFault([name, parameters]: Item, target: Target): string | null {
  if (typeof name !== 'string') return `${visible(serializeItem([name, new Map()]), 60)} without quotes`;
  const shown = `"${visible(name, 60)}"`;
  const flag = FLAGS.find((each) => parameters.has(each) && parameters.get(each) !== true);
  if (flag !== undefined) return `${shown} with a value of ${flag}`;
  const string = COMPONENT_STRINGS.find(
    (each) => parameters.has(each) && typeof parameters.get(each) !== 'string',
  );
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
  if (OF_REQUEST.has(name)) return from === 'request' ? null : `"${name}" of a response`;
  return name === '@status' && from === 'request' ? `"${name}" of a request` : null;
}

/** Hash algorithms (RFC 9530 §7.2) that can be tried, each with the name that Node has for it. */
const HASHES = new Map(Object.entries({ 'sha-512': 'sha512', 'sha-256': 'sha256', sha: 'sha1', md5: 'md5' }));

/** Not to be used where an attacker may change a message (RFC 9530 §5). */
const DEPRECATED: ReadonlySet<string> = new Set(['md5', 'sha', 'unixsum', 'unixcksum', 'adler', 'crc32c']);

interface Digests {
  /** By their algorithms; of those that are well formed. */
  readonly values: ReadonlyMap<string, Uint8Array>;
  /** The fault of the field, without the digest, which differs each time; null for none. */
  readonly fault: string | null;
}

/** Reads Content-Digest or Repr-Digest (RFC 9530 §2, §3): a dictionary of byte sequences. Never throws. */
export function readDigests(value: string): Digests {
  const values = new Map<string, Uint8Array>();
  const dictionary = structured((): Dictionary => parseDictionary(value));
  let fault = dictionary === null ? 'no dictionary of algorithms and digests' : null;
  for (const [algorithm, [digest]] of dictionary ?? []) {
    if (digest instanceof ArrayBuffer) values.set(algorithm, new Uint8Array(digest));
    else fault ??= `${visible(algorithm, 40)} without colons around it`;
  }
  return { values, fault };
}

/** The first algorithm whose digest is not that of the octets; null when there is none. Unknown ones are left alone. */
export function wrongDigest({ values }: Digests, octets: Uint8Array): string | null {
  for (const [algorithm, digest] of values) {
    const hash = HASHES.get(algorithm);
    if (hash !== undefined && !createHash(hash).update(octets).digest().equals(digest)) return algorithm;
  }
  return null;
}

/** The algorithms where each of them is deprecated; null when one is not, or there is none. */
export function weakDigests({ values }: Digests): readonly string[] | null {
  const algorithms = [...values.keys()];
  return algorithms.length > 0 && algorithms.every((each) => DEPRECATED.has(each)) ? algorithms : null;
}
