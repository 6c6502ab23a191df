import { type JsonFault, jsonFault } from '../yaml/json-fault.ts';

/** A number that `JSON.parse` would not give back as it was written (`1.0`, 20 digits), kept as its text. */
interface RawNumber {
  readonly rawJSON: string;
}

/** "JSON.parse source text access" of ECMAScript, which the compiler's library does not know yet. */
interface SourceTextJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): boolean;
}

function isSourceTextJson(json: object): json is SourceTextJson {
  return 'rawJSON' in json && 'isRawJSON' in json;
}

function sourceTextJson(): SourceTextJson {
  const json: object = JSON;
  if (isSourceTextJson(json)) return json;
  throw new TypeError('this version of Node does not keep the text of JSON numbers');
}

/** Parses JSON so that `JSON.stringify` writes every number as it stood: 1.0 and 1 are two types to Pact. */
export function parseKeepingNumbers(
  text: string,
): { readonly value: unknown } | { readonly fault: JsonFault } {
  const fault = jsonFault(text);
  if (fault) return { fault };
  const json = sourceTextJson();
  const value = json.parse(text, (_key, each, { source }) =>
    typeof each === 'number' && source !== undefined && source !== String(each) ? json.rawJSON(source) : each,
  );
  return { value };
}

export function isRawNumber(value: object): value is RawNumber {
  return sourceTextJson().isRawJSON(value);
}
