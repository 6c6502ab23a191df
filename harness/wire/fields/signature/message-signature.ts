import { type BareItem, type InnerList, type Item, isInnerList, parseDictionary } from 'structured-headers';
import type { FieldLine } from '../../exchange.ts';
import { visible } from '../../octets/visible.ts';
import { fieldValue } from '../grammar/field-lines.ts';
import { structured } from '../grammar/structured-field.ts';
import { type Component, componentFault, componentOf, sameness, type Target } from './component.ts';

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
  /** What is wrong with the first one that is not; null when nothing is. */
  readonly fault: string | null;
}

const INTEGERS = ['created', 'expires'];
const STRINGS = ['nonce', 'alg', 'keyid', 'tag'];

/** A message has at most so many signatures that are looked at. */
const MOST = 20;

/** Reads Signature-Input and Signature (RFC 9421 §4) among these lines, trailers included; never throws. */
export function readSignatures(lines: readonly FieldLine[], target: Target = 'response'): SignatureReading {
  const inputs = readMembers(lines, 'Signature-Input');
  const values = readMembers(lines, 'Signature');
  const faults = [inputs.fault, values.fault].filter((fault) => fault !== null);
  const signatures: MessageSignature[] = [];
  for (const [label, input] of [...inputs.members].slice(0, MOST)) {
    const value = values.members.get(label);
    const fault = inputFault(input, target, parameterFault) ?? valueFault(value, values.fault !== null);
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
  return { signatures, fault: faults[0] ?? null };
}

/** What is wrong with Accept-Signature (RFC 9421 §5.1), which asks for signatures of requests; null when nothing is. */
export function acceptSignatureFault(lines: readonly FieldLine[]): string | null {
  const { members, fault } = readMembers(lines, 'Accept-Signature');
  if (fault !== null) return fault;
  for (const [label, input] of [...members].slice(0, MOST)) {
    const wrong = inputFault(input, 'request', wishFault);
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

type ParameterFault = (name: string, value: BareItem) => string | null;

function inputFault(input: Member, target: Target, faultOf: ParameterFault): string | null {
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
    const fault = faultOf(name, value);
    if (fault !== null) return fault;
  }
  return null;
}

/** RFC 9421 §2.3. */
const parameterFault: ParameterFault = (name, value) => {
  if (INTEGERS.includes(name) && !Number.isInteger(value)) return `${name} is no whole number`;
  return stringFault(name, value);
};

/** RFC 9421 §5.1: times are asked for, and not given. */
const wishFault: ParameterFault = (name, value) => {
  if (INTEGERS.includes(name) && value !== true) return `${name} with a value`;
  return stringFault(name, value);
};

function stringFault(name: string, value: BareItem): string | null {
  return STRINGS.includes(name) && typeof value !== 'string' ? `${name} without quotes` : null;
}
