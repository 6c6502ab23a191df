/** The part of a parameter's name that is not the noun before it: `id` for `petId` of `pets`. */
export function ownName(name: string, noun: string): string {
  const of = plain(noun);
  return of !== '' && plain(name).startsWith(of) ? plain(name).slice(of.length) : plain(name);
}

/** `pet_id`, `petId` and `pet-id` are one name. */
export function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase();
}

/** `categories` → `category`, `boxes` → `box`, `pets` → `pet`. */
export function singular(noun: string): string {
  if (/[^aeiou]ies$/i.test(noun)) return noun.replace(/ies$/i, 'y');
  if (/(?:x|ch|sh|ss)es$/i.test(noun)) return noun.replace(/es$/i, '');
  return /[^s]s$/i.test(noun) ? noun.slice(0, -1) : noun;
}

/** Names by which services call the place where a page begins. */
const CURSOR = /^(?:(?:page_?|next_?)?cursor|(?:next_?)?page_?token|continuation_?token|after)$/i;

/** Whether only the service makes its values. */
export function isCursorName(name: string): boolean {
  return CURSOR.test(name);
}
