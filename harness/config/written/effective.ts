import { Document, isMap, isNode, isSeq } from 'yaml';
import type { LoadedService } from '../load.ts';
import type { Operation } from '../operation/call/call.ts';
import { keyWithin, plainOf } from '../yaml/located.ts';
import { formatOrigin, type Origins } from '../yaml/origin.ts';

/** The effective config as YAML with the origin of each value. Secrets are masked: `[secret KEY]`. */
export function effectiveConfig(service: LoadedService): string {
  const { config, document, origins } = service;
  const heading = config.environment === null ? '' : `# environment: ${config.environment}\n`;
  const whole = new Document(plainOf(document));
  annotate(whole.contents, '', origins);
  return heading + yamlText(whole) + callsOf(service);
}

function yamlText(document: Document): string {
  // The printer gives an empty list and its comment lines of their own.
  return document.toString({ lineWidth: 0 }).replaceAll(/:\n +(\[\]|\{\})\n +#/g, ': $1 #');
}

/** The operations to call, as comments, since they follow from the blocks above. */
function callsOf({ config }: LoadedService): string {
  if (config.operations.length === 0) return '';
  const calls = new Document(config.operations.map(asWritten));
  for (const [index, operation] of config.operations.entries()) {
    const id = calls.getIn([index, 'id'], true);
    if (!isNode(id)) continue;
    id.comment = ` ${operation.place}${operation.uncallable === null ? '' : `; cannot be called: ${operation.uncallable}`}`;
  }
  const lines = yamlText(calls).trimEnd().split('\n');
  return ['# Operations that are called:', ...lines.map((line) => `#   ${line}`), ''].join('\n');
}

function asWritten({ id, method, path, fields, body, response, auth }: Operation): object {
  const { status, mediaTypes, schema } = response;
  return {
    id,
    method,
    path,
    ...(fields.length === 0 ? {} : { fields: Object.fromEntries(fields) }),
    ...(body === null ? {} : { body: { text: body.text, type: body.mediaType } }),
    response: {
      status,
      ...(mediaTypes.length === 0 ? {} : { type: mediaTypes.join(', ') }),
      schema: schema === null ? null : '[JSON Schema]',
    },
    ...(auth === 'required' ? {} : { auth: auth === 'optional' ? 'optional' : false }),
  };
}

/** Comments go to the values that are written on one line; an empty list or mapping is one. */
function annotate(node: unknown, key: string, origins: Origins): void {
  if (isMap(node) && node.items.length > 0) {
    for (const { key: name, value } of node.items) annotate(value, keyWithin(key, String(name)), origins);
  } else if (isSeq(node) && node.items.length > 0) {
    for (const [index, item] of node.items.entries()) annotate(item, keyWithin(key, String(index)), origins);
  } else if (isNode(node)) {
    node.comment = ` ${formatOrigin(origins.get(key) ?? { kind: 'default' })}`;
  }
}
