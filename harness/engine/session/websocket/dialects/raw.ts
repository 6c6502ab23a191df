import { parseJsonObject } from '../../../../base/json-text.ts';
import type { MessageDialect } from '../../../../config/blocks/dialect.ts';

/** Names by which a JSON message commonly says what it is. */
const NAMES = ['event', 'type'] as const;

/** No dialect at all: what is a JSON object and says what it is can be told from others all the same. */
export const raw: MessageDialect = {
  name: 'raw',
  read(text) {
    const message = parseJsonObject(text);
    const event = NAMES.map((name) => message?.[name]).find((name) => typeof name === 'string');
    return typeof event === 'string' ? { event, channel: null, data: message } : null;
  },
};
