import { isJsonObject, type JsonObject } from '../../base/json-text.ts';
import { type JsonTextFault, jsonFault } from '../yaml/read-text.ts';
import { type ExpectedInteraction, interactionId } from './pacts.ts';

/** A number that `JSON.parse` would not give back as it was written (`1.0`, 20 digits), kept as its text. */
interface RawNumber {
  readonly rawJSON: string;
}

/** "JSON.parse source text access" of ECMAScript, which the compiler's library does not know yet. */
const json = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, at: { source?: string }) => unknown): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): boolean;
};

/** Parses JSON so that `JSON.stringify` writes every number as it stood: 1.0 and 1 are two types to Pact. */
export function parseKeepingNumbers(
  text: string,
): { readonly value: unknown } | { readonly fault: JsonTextFault } {
  const fault = jsonFault(text);
  if (fault) return { fault };
  const value = json.parse(text, (_key, each, { source }) =>
    typeof each === 'number' && source !== undefined && source !== String(each) ? json.rawJSON(source) : each,
  );
  return { value };
}

export function isRawNumber(value: object): value is RawNumber {
  return json.isRawJSON(value);
}

export interface PactFile {
  readonly consumer: string;
  readonly provider: string;
  readonly interactions: readonly ExpectedInteraction[];
}

interface Provenance {
  /** A path or a URL. */
  readonly source: string;
  /** What a broker says of the whole pact. */
  readonly pending?: boolean;
}

type List = 'interactions' | 'messages';

/** The verifier knows no higher one. */
const HIGHEST_SPECIFICATION = 4;

interface InteractionKind {
  readonly kind: ExpectedInteraction['kind'];
  readonly unsupported: string | null;
}

const HTTP: InteractionKind = { kind: 'http', unsupported: null };
const MESSAGE: InteractionKind = { kind: 'message', unsupported: null };
const WITH_REPLY = 'it is a message with a reply, which cannot be verified here';
const KIND_BY_TYPE: ReadonlyMap<unknown, InteractionKind> = new Map([
  ['Synchronous/HTTP', HTTP],
  ['Asynchronous/Messages', MESSAGE],
  ['Synchronous/Messages', { ...MESSAGE, unsupported: WITH_REPLY }],
]);

/** Reads a pact, more strictly than Pact's own reader, which makes up missing requests and responses. */
export function readPact(text: string, from: Provenance): PactFile | { readonly fault: JsonTextFault } {
  const parsed = parseKeepingNumbers(text);
  if ('fault' in parsed) return parsed;
  try {
    return pactOf(parsed.value, from);
  } catch (error) {
    if (error instanceof NotAPact) return { fault: { problem: error.message } };
    throw error;
  }
}

class NotAPact extends Error {}

function pactOf(whole: unknown, from: Provenance): PactFile {
  if (!isFields(whole)) throw new NotAPact('is no pact: it holds no JSON object');
  const consumer = nameOf(whole, 'consumer');
  const provider = nameOf(whole, 'provider');
  const specification = specificationOf(whole.metadata);
  if (specification > HIGHEST_SPECIFICATION) {
    const problem = `is a pact of specification ${specification}; up to ${HIGHEST_SPECIFICATION} are known`;
    throw new NotAPact(problem);
  }
  const read = (list: List) =>
    listOf(whole, list).map((value, index) => {
      const at = `${list}[${index}]`;
      if (!isFields(value)) throw new NotAPact(`${at} is no object`);
      return interactionOf(value, { at, list, whole, consumer, from });
    });
  return { consumer, provider, interactions: [...read('interactions'), ...read('messages')] };
}

interface InteractionContext {
  /** `interactions[3]`. */
  readonly at: string;
  readonly list: List;
  readonly whole: JsonObject;
  readonly consumer: string;
  readonly from: Provenance;
}

function interactionOf(
  interaction: JsonObject,
  { at, list, whole, consumer, from }: InteractionContext,
): ExpectedInteraction {
  const { description } = interaction;
  if (typeof description !== 'string') throw new NotAPact(`${at}.description is missing`);
  const { kind, unsupported } = kindOf(interaction, at, list);
  const states = statesOf(interaction, at);
  const brokerId = typeof interaction._id === 'string' ? interaction._id : null;
  const http = kind === 'http' ? httpOf(interaction, at) : { method: null, status: null };
  return {
    id: interactionId(consumer, description, states),
    consumer,
    description,
    states,
    kind,
    ...http,
    unsupported: unsupported ?? pluginNeededBy(interaction),
    pending: interaction.pending === true || from.pending === true,
    origins: [{ source: from.source, brokerId }],
    pact: alone(whole, list, interaction),
  };
}

function kindOf({ type }: JsonObject, at: string, list: List): InteractionKind {
  if (type === undefined) return list === 'messages' ? MESSAGE : HTTP;
  const known = KIND_BY_TYPE.get(type);
  if (known) return known;
  throw new NotAPact(`${at}.type is none of ${[...KIND_BY_TYPE.keys()].join(', ')}`);
}

function httpOf({ request, response }: JsonObject, at: string): { method: string; status: number } {
  if (!isFields(request)) throw new NotAPact(`${at}.request is missing`);
  const { method, path } = request;
  if (typeof method !== 'string') throw new NotAPact(`${at}.request.method is missing`);
  if (typeof path !== 'string') throw new NotAPact(`${at}.request.path is missing`);
  if (!isFields(response)) throw new NotAPact(`${at}.response is missing`);
  const { status = 200 } = response;
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 100 || status > 999)
    throw new NotAPact(`${at}.response.status is no status code`);
  return { method: method.toUpperCase(), status };
}

function statesOf(interaction: JsonObject, at: string): readonly string[] {
  const states = interaction.providerStates ?? interaction.providerState ?? interaction.provider_state ?? [];
  if (typeof states === 'string') return states === '' ? [] : [states];
  if (!Array.isArray(states)) throw new NotAPact(`${at}.providerStates is no list`);
  return states.map((state: unknown, index) => {
    if (isFields(state) && typeof state.name === 'string') return state.name;
    throw new NotAPact(`${at}.providerStates[${index}].name is missing`);
  });
}

function pluginNeededBy({ pluginConfiguration }: JsonObject): string | null {
  if (!isFields(pluginConfiguration)) return null;
  const names = Object.keys(pluginConfiguration).join(', ');
  return names === '' ? null : `it needs the Pact plugin ${names}, and no plugin is loaded here`;
}

/** The pact as if it had no other interaction, and without what a broker adds to it: nothing in it leads anywhere. */
function alone(whole: JsonObject, list: List, interaction: JsonObject): string {
  const { consumer, provider, metadata: all } = whole;
  const metadata = isFields(all)
    ? Object.fromEntries(SPECIFICATION_KEYS.map((key) => [key, all[key]]))
    : undefined;
  const only = { ...interaction, _id: undefined, pending: undefined };
  return JSON.stringify({ consumer, provider, [list]: [only], metadata });
}

const SPECIFICATION_KEYS = ['pactSpecification', 'pact-specification', 'pactSpecificationVersion'] as const;

/** 2 where nothing is said: before 3 it was not always written down. */
function specificationOf(metadata: unknown): number {
  if (!isFields(metadata)) return 2;
  const block = SPECIFICATION_KEYS.map((key) => metadata[key]).find((value) => value !== undefined);
  const version = isFields(block) ? block.version : block;
  const major = typeof version === 'string' ? Number.parseInt(version, 10) : Number.NaN;
  return Number.isNaN(major) ? 2 : major;
}

function nameOf(whole: JsonObject, party: 'consumer' | 'provider'): string {
  const value = whole[party];
  if (isFields(value) && typeof value.name === 'string' && value.name !== '') return value.name;
  throw new NotAPact(`is no pact: ${party}.name is missing`);
}

function listOf(whole: JsonObject, key: List): readonly unknown[] {
  const value = whole[key] ?? [];
  if (Array.isArray(value)) return value;
  throw new NotAPact(`${key} is no list`);
}

function isFields(value: unknown): value is JsonObject {
  return isJsonObject(value) && !isRawNumber(value);
}
