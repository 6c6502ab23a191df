import { variation } from './sample.ts';

/** The sample with every kind of credential but the right one. */

export const withoutCredential = variation('without-credential', {
  purpose: 'without a credential',
  credential: 'none',
});
export const wrongCredential = variation('wrong-credential', {
  purpose: 'with a wrong key',
  credential: { wrong: 'wrong' },
});
export const emptyCredential = variation('empty-credential', {
  purpose: 'with an empty key',
  credential: { wrong: 'empty' },
});
export const truncatedCredential = variation('truncated-credential', {
  purpose: 'with the key cut short',
  credential: { wrong: 'truncated' },
});
export const extendedCredential = variation('extended-credential', {
  purpose: 'with the key and a suffix',
  credential: { wrong: 'extended' },
});
export const caseFlippedCredential = variation('case-flipped-credential', {
  purpose: 'with the key in other letter case',
  credential: { wrong: 'case-flipped' },
});
export const foreignCredential = variation('foreign-credential', {
  purpose: 'with a non-ASCII key',
  credential: { wrong: 'non-ascii' },
});
export const quotedCredential = variation('quoted-credential', {
  purpose: 'with a key that holds quotes',
  credential: { wrong: 'quoted' },
});
export const oversizedCredential = variation('oversized-credential', {
  purpose: 'with a 9 KiB key',
  credential: { wrong: 'oversized' },
});
export const otherScheme = variation('other-scheme', {
  purpose: 'with the right key under another scheme',
  credential: { wrong: 'other-scheme' },
});
/** Not wrong at all: scheme names are case-insensitive. */
export const lowerCaseScheme = variation('lower-case-scheme', {
  purpose: 'with the scheme name in other letter case',
  credential: { spelled: 'other-case-scheme' },
});
export const rightThenWrong = variation('right-then-wrong', {
  purpose: 'with two credentials, the second one wrong',
  credential: { spelled: 'right-then-wrong' },
});
export const wrongThenRight = variation('wrong-then-right', {
  purpose: 'with two credentials, the first one wrong',
  credential: { spelled: 'wrong-then-right' },
});

export const headWithoutCredential = variation('head-without-credential', {
  purpose: 'without a credential',
  method: 'HEAD',
  credential: 'none',
});
export const otherRepresentationWithoutCredential = variation('other-representation-without-credential', {
  purpose: 'as text/html, without a credential',
  fields: [['Accept', 'text/html']],
  credential: 'none',
});
export const methodOverrideWithoutCredential = variation('method-override-without-credential', {
  purpose: 'without a credential, under method override fields',
  fields: [
    ['X-HTTP-Method-Override', 'GET'],
    ['X-Method-Override', 'GET'],
  ],
  credential: 'none',
});
export const asLocalClientWithoutCredential = variation('as-local-client-without-credential', {
  purpose: 'without a credential, posing as a client of its own network',
  fields: ['X-Forwarded-For', 'X-Real-IP', 'X-Client-IP', 'True-Client-IP']
    .map((name): [string, string] => [name, '127.0.0.1'])
    .concat([['Forwarded', 'for=127.0.0.1;host=localhost']]),
  credential: 'none',
});

/** Other spellings of the documented path that a lenient router takes for the same. */
export const respelledWithoutCredential = [
  variation('trailing-slash-without-credential', {
    purpose: 'with a slash after the path, without a credential',
    target: ({ path }) => `${path}/`,
    credential: 'none',
  }),
  variation('encoded-path-without-credential', {
    purpose: 'with the last letter of the path percent-encoded, without a credential',
    target: ({ path }) => path.replace(/[A-Za-z](?=[^A-Za-z]*$)/, percentEncoded),
    credential: 'none',
  }),
] as const;

/** A page of another origin asks a browser to send the key along. */
export const foreignOrigin = variation('foreign-origin', {
  purpose: 'for a page of another origin',
  fields: [['Origin', 'https://elsewhere.invalid']],
});

function percentEncoded(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16)}`;
}

/** Every request whose credential must not be accepted. */
export const REFUSED = [
  withoutCredential,
  wrongCredential,
  emptyCredential,
  truncatedCredential,
  extendedCredential,
  caseFlippedCredential,
  foreignCredential,
  quotedCredential,
  oversizedCredential,
] as const;
