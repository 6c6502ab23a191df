import { FieldReader, listElements } from './field-grammar.ts';

/** An element of Sec-WebSocket-Extensions. */
export interface Extension {
  readonly name: string;
  /** By name, as written; null for a parameter without a value. */
  readonly parameters: ReadonlyMap<string, string | null>;
}

export interface ExtensionReading {
  readonly extensions: readonly Extension[];
  /** One line; null when the grammar is kept. */
  readonly fault: string | null;
}

/** Reads a value of Sec-WebSocket-Extensions (RFC 6455 §9.1). */
export function readExtensions(value: string): ExtensionReading {
  const extensions: Extension[] = [];
  for (const element of listElements(value)) {
    const read = readExtension(new FieldReader(element));
    if (typeof read === 'string') return { extensions, fault: read };
    extensions.push(read);
  }
  return { extensions, fault: null };
}

/** `token *( ";" token [ "=" ( token / quoted-string ) ] )`; a string says what is wrong. */
function readExtension(reader: FieldReader): Extension | string {
  const name = reader.token();
  if (name === null) return `expected the name of an extension, got ${reader.rest()}`;
  const parameters = new Map<string, string | null>();
  for (;;) {
    reader.skipSpace();
    if (reader.done) return { name, parameters };
    if (!reader.takeChar(';')) return `expected ; or the end, got ${reader.rest()}`;
    reader.skipSpace();
    const parameter = reader.token();
    if (parameter === null) return `expected a parameter of ${name}, got ${reader.rest()}`;
    reader.skipSpace();
    if (parameters.has(parameter)) return `the parameter ${parameter} twice`;
    if (!reader.takeChar('=')) {
      parameters.set(parameter, null);
      continue;
    }
    reader.skipSpace();
    const value = reader.next === '"' ? reader.quotedString() : reader.token();
    if (value === null) return `expected a value of ${parameter}, got ${reader.rest()}`;
    parameters.set(parameter, value);
  }
}

const WINDOW_BITS = /^(?:[89]|1[0-5])$/;

type ParameterRule = (value: string | null) => string | null;

/** Whether a value is one (RFC 7692 §7.1.1, §7.1.2). */
const noValue: ParameterRule = (value) => (value === null ? null : `with the value "${value}"`);
const windowBits: ParameterRule = (value) =>
  value !== null && WINDOW_BITS.test(value) ? null : `with the value "${value ?? ''}"`;

/** What may answer an offer of permessage-deflate that has no parameters. */
const DEFLATE_PARAMETERS: Readonly<Record<string, ParameterRule>> = {
  server_no_context_takeover: noValue,
  client_no_context_takeover: noValue,
  server_max_window_bits: windowBits,
  // §7.1.2.2: only where the offer has it.
  client_max_window_bits: () => 'which was not offered',
};

/** What is wrong with permessage-deflate as selected for an offer without parameters (RFC 7692 §7.1); null for nothing. */
export function plainDeflateFault({ parameters }: Extension): string | null {
  for (const [name, value] of parameters) {
    const rule = Object.hasOwn(DEFLATE_PARAMETERS, name) ? DEFLATE_PARAMETERS[name] : undefined;
    if (rule === undefined) return `the parameter ${name}, which permessage-deflate does not have`;
    const fault = rule(value);
    if (fault !== null) return `${name} ${fault}`;
  }
  return null;
}
