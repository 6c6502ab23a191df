import { FieldReader, listElements } from './grammar/field-grammar.ts';

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

/** `token *( ";" token [ "=" ( token / quoted-string ) ] )`; a string is the fault. */
function readExtension(reader: FieldReader): Extension | string {
  const name = reader.token();
  if (name === null) return `${reader.rest()} where the name of an extension should be`;
  const parameters = new Map<string, string | null>();
  for (;;) {
    reader.skipSpace();
    if (reader.done) return { name, parameters };
    if (!reader.takeChar(';')) return `${reader.rest()} where ; or the end should be`;
    reader.skipSpace();
    const parameter = reader.token();
    if (parameter === null) return `${reader.rest()} where a parameter of ${name} should be`;
    reader.skipSpace();
    if (parameters.has(parameter)) return `the parameter ${parameter} twice`;
    if (!reader.takeChar('=')) {
      parameters.set(parameter, null);
      continue;
    }
    reader.skipSpace();
    const value = reader.word();
    if (value === null) return `${reader.rest()} where a value of ${parameter} should be`;
    parameters.set(parameter, value);
  }
}

const WINDOW_BITS = /^(?:[89]|1[0-5])$/;

interface Parameter {
  /** Carries a number of bits, where it carries a value at all. */
  readonly isWindow: boolean;
  /** An answer may have it without being offered. */
  readonly unasked: boolean;
  /** An answer that takes the offer has it. */
  readonly binding: boolean;
}

/** RFC 7692 §7.1: what the parameters of an offer and of its answer have to do with each other. */
const DEFLATE_PARAMETERS: Readonly<Record<string, Parameter>> = {
  server_no_context_takeover: { isWindow: false, unasked: true, binding: true },
  client_no_context_takeover: { isWindow: false, unasked: true, binding: false },
  server_max_window_bits: { isWindow: true, unasked: true, binding: true },
  client_max_window_bits: { isWindow: true, unasked: false, binding: false },
};

/** What of an answer to offers of permessage-deflate fits none of them (RFC 7692 §7.1); null for nothing. */
export function deflateAnswerFault(
  { extensions, fault }: ExtensionReading,
  offers: readonly string[],
): string | null {
  if (fault !== null) return fault;
  const [selected, ...more] = extensions.filter(({ name }) => name === 'permessage-deflate');
  if (selected === undefined) return null;
  if (more.length > 0) return 'permessage-deflate twice';
  const offered = offers.flatMap((offer) => readExtensions(offer).extensions);
  const faults = offered.map((offer) => deflateFault(selected, offer));
  return faults.includes(null) ? null : (faults.at(-1) ?? 'permessage-deflate, which was not offered');
}

/** The fault of permessage-deflate as selected for this offer of it (RFC 7692 §7.1); null for nothing. */
function deflateFault(selected: Extension, offered: Extension): string | null {
  for (const [name, value] of selected.parameters) {
    const rule = Object.hasOwn(DEFLATE_PARAMETERS, name) ? DEFLATE_PARAMETERS[name] : undefined;
    if (rule === undefined) return `the parameter ${name}, which permessage-deflate does not have`;
    if (!rule.isWindow && value !== null) return `${name} with the value "${value}"`;
    if (rule.isWindow && !(value !== null && WINDOW_BITS.test(value))) {
      return `${name} with the value "${value ?? ''}"`;
    }
    if (!rule.unasked && !offered.parameters.has(name)) return `${name} which was not offered`;
    const limit = offered.parameters.get(name) ?? null;
    if (rule.isWindow && limit !== null && Number(value) > Number(limit)) {
      return `${name}=${value}, more than the ${limit} that were offered`;
    }
  }
  const missing = Object.entries(DEFLATE_PARAMETERS).find(
    ([name, { binding }]) => binding && offered.parameters.has(name) && !selected.parameters.has(name),
  );
  return missing ? `no ${missing[0]}, which was offered` : null;
}
