import type { FieldLine, RecordedResponse } from '../exchange.ts';
import { latin1Text } from '../octets/latin1.ts';
import { visible } from '../octets/visible.ts';
import { type Trace, traces } from '../redaction/marker.ts';

/** A secret that a response held before it was redacted. */
export interface SecretPlace extends Trace {
  /** In words: `the body`, `the field Location`, `the reason phrase` … */
  readonly place: string;
}

/** Every secret in every part of a response. `content`: its body, content codings undone. */
export function findSecretPlaces(response: RecordedResponse, content: Uint8Array): readonly SecretPlace[] {
  const found = (text: string, place: string) => traces(text).map((trace) => ({ ...trace, place }));
  const inLines = (lines: readonly FieldLine[], kind: string) =>
    lines.flatMap(([name, value]) => found(`${name}\n${value}`, `${kind} ${visible(name, 100)}`));
  return [
    ...found(response.reason ?? '', 'the reason phrase'),
    ...inLines(response.fields, 'the field'),
    ...response.informational.flatMap(({ status, fields }) => inLines(fields, `the ${status} field`)),
    ...inLines(response.trailers, 'the trailer'),
    ...found(latin1Text(content), 'the body'),
  ];
}
