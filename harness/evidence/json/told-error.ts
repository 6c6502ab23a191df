import { hasMembers } from '../../json-text.ts';
import { visible } from '../octets/visible.ts';

/** Members at the top of a body by which services tell that they failed, and values with which they do. */
const MEMBERS: readonly (readonly [name: string, tells: (member: unknown) => boolean])[] = [
  ['error', isNotNothing],
  ['errors', isNotNothing],
  ['success', (member) => member === false],
  ['ok', (member) => member === false],
  ['status', (member) => member === 'error' || member === 'fail'],
];

/** The member by which a JSON value tells of an error, as it stands there; null when none does. */
export function toldError(value: unknown): string | null {
  if (!hasMembers(value)) return null;
  for (const [name, tells] of MEMBERS) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    if (tells(member)) return `"${name}": ${visible(JSON.stringify(member) ?? '', 60)}`;
  }
  return null;
}

/** `null`, `false`, `0`, `""`, `[]` and `{}` say that there was none. */
function isNotNothing(member: unknown): boolean {
  return hasMembers(member) ? Object.keys(member).length > 0 : Boolean(member);
}
