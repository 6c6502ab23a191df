import { visible } from '../octets/visible.ts';
import { trimSpace } from './grammar/field-grammar.ts';

/** What all language tags have in common, those of before the present grammar included (RFC 5646 §2.1, §2.2.8). */
const LANGUAGE_TAG = /^[a-z]{1,8}(?:-[a-z\d]{1,8})*$/i;

/** What is no language tag in a Content-Language (RFC 9110 §8.5); null for nothing. Recipients pass over empty members. */
export function contentLanguageFault(value: string): string | null {
  const members = value.split(',').map(trimSpace);
  const wrong = members.find((member) => member !== '' && !LANGUAGE_TAG.test(member));
  if (wrong !== undefined) return `"${visible(wrong, 40)}", which is no language tag`;
  return members.every((member) => member === '') ? 'an empty value' : null;
}
