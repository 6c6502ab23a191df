import { parseJsonObject } from '../../base/json-text.ts';
import { child, type DocumentNode } from '../document/source.ts';
import type { MessageText } from './documented-messages.ts';
import type { FoundMessage } from './messages.ts';

/** What only this connection, or nothing at all, is another for. */
const HARMLESS = /^(?:ping|heartbeat|keep-?alive|subscribe|unsubscribe)$/i;
/** It may change or remove what the run did not create. */
const DESTRUCTIVE =
  /delete|remove|cancel|destroy|drop|purge|reset|clear|kick|ban|revoke|terminate|shutdown|update|replace|patch|rename|transfer|withdraw/i;
/** Members of a message that say what it asks for. */
const WORDS = ['type', 'event', 'method', 'op', 'action', 'kind', 'cmd', 'command'];

/** What sending a message may change. The document's `x-safe` goes before its names. */
export function riskOf(
  operation: DocumentNode,
  { at, name }: FoundMessage,
  id: string,
  text: string,
): MessageText['risk'] {
  const marks = [child(at, 'x-safe').value, child(operation, 'x-safe').value];
  const mark = marks.find((each) => typeof each === 'boolean');
  if (mark === true) return null;
  const value = parseJsonObject(text);
  const words = WORDS.map((word) => value?.[word]).filter((word) => typeof word === 'string');
  if (mark === undefined && (words.length > 0 ? words : [name]).every((word) => HARMLESS.test(word)))
    return null;
  return [id, name, ...words].some((word) => DESTRUCTIVE.test(word)) ? 'destroys' : 'changes';
}
