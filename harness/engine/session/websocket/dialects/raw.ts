import { parseJsonObject } from '../../../../base/json-text.ts';
import type { MessageDialect } from '../../../../config/blocks/dialect.ts';

/** Names by which a JSON message commonly says what it is. */
const NAMES = ['event', 'type'] as const;

/** No dialect. JSON objects that name their kind are events all the same. */
export const raw: MessageDialect = {
  name: 'raw',
  read(text) {
    const message = parseJsonObject(text);
    const event = NAMES.map((name) => message?.[name]).find((name) => typeof name === 'string');
    return typeof event === 'string' ? { event, channel: null, data: message } : null;
  },
};
