import { NotApplicable } from '../../base/verdict.ts';
import type { Sample } from '../../contract/clause.ts';
import type { Reply } from '../../evidence/exchange/reply.ts';
import type { FieldLine } from '../../evidence/exchange.ts';
import { type Probe, probe, risky } from '../../session/probe.ts';
import { sampleAgain, variation } from './sample.ts';

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
export const nonAsciiCredential = risky(
  variation('non-ascii-credential', {
    purpose: 'with a non-ASCII key',
    credential: { wrong: 'non-ascii' },
  }),
);
export const quotedCredential = variation('quoted-credential', {
  purpose: 'with a key that holds quotes',
  credential: { wrong: 'quoted' },
});
export const oversizedCredential = risky(
  variation('oversized-credential', {
    purpose: 'with a 9 KiB key',
    credential: { wrong: 'oversized' },
  }),
);
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

/** A way around the credential: the request that has none, and the same one with it. */
export interface WayAround {
  readonly anonymous: Probe<Reply>;
  /** Its refusal means something only where this is served. */
  readonly twin: Probe<Reply>;
}

/** Fields for which some services, or what stands before them, forget to ask for the credential. */
const ODD_FIELDS = {
  otherRepresentation: [['Accept', 'text/html']],
  methodOverride: [
    ['X-HTTP-Method-Override', 'GET'],
    ['X-Method-Override', 'GET'],
  ],
  localClient: [
    ...['X-Forwarded-For', 'X-Real-IP', 'X-Client-IP', 'True-Client-IP'].map(
      (name): FieldLine => [name, '127.0.0.1'],
    ),
    ['Forwarded', 'for=127.0.0.1;host=localhost'],
  ],
} as const satisfies Record<string, readonly FieldLine[]>;

/** With all of them at once and the right credential: where that is served, none of them stands in the way. */
const allOddFields = variation('all-odd-fields', {
  purpose: 'as text/html, under method override fields, posing as a client of its own network',
  fields: Object.values(ODD_FIELDS).flat(),
});

function underFields(name: string, purpose: string, fields: readonly FieldLine[]): WayAround {
  const alone = variation(`${name}-with-credential`, { purpose, fields });
  return {
    anonymous: variation(`${name}-without-credential`, {
      purpose: `${purpose}, without a credential`,
      fields,
      credential: 'none',
    }),
    twin: probe(`${name}-twin`, async ({ ask }) => {
      const together = await ask(allOddFields);
      return together.served ? together : ask(alone);
    }),
  };
}

function underSpelling(name: string, purpose: string, target: (sample: Sample) => string): WayAround {
  return {
    anonymous: variation(`${name}-without-credential`, {
      purpose: `${purpose}, without a credential`,
      target,
      credential: 'none',
    }),
    twin: variation(`${name}-with-credential`, { purpose, target }),
  };
}

export const otherRepresentation = underFields(
  'other-representation',
  'as text/html',
  ODD_FIELDS.otherRepresentation,
);
export const methodOverride = underFields(
  'method-override',
  'under method override fields',
  ODD_FIELDS.methodOverride,
);
export const localClient = underFields(
  'as-local-client',
  'posing as a client of its own network',
  ODD_FIELDS.localClient,
);

/** Other spellings of the documented path that a lenient router takes for the same. */
export const respelled: readonly WayAround[] = [
  underSpelling('trailing-slash', 'with a slash after the path', ({ path }) => `${path}/`),
  underSpelling('encoded-path', 'with the last letter of the path percent-encoded', ({ path }) =>
    path.replace(/[A-Za-z](?=[^A-Za-z]*$)/, percentEncoded),
  ),
];

/** Every way around that sends something beside the documented path. */
export const WAYS_AROUND: readonly WayAround[] = [
  otherRepresentation,
  methodOverride,
  localClient,
  ...respelled,
];

/** Of a page that the service has nothing to do with. */
export const FOREIGN_ORIGIN = 'https://elsewhere.invalid';

/** A page of another origin asks a browser to send the key along. */
export const foreignOrigin = variation('foreign-origin', {
  purpose: 'for a page of another origin',
  fields: [['Origin', FOREIGN_ORIGIN]],
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
  nonAsciiCredential,
  quotedCredential,
  oversizedCredential,
] as const;

/**
 * The right credential after all those wrong ones: a service that has shut out the client meanwhile refuses for
 * another reason than the credential. The second sample serves for it when it came after them.
 */
export const rightAfterWrong: Probe<Reply> = probe('right-after-wrong', async ({ ask, http }) => {
  const wrong: Reply[] = [];
  for (const each of REFUSED.filter(({ isRisky }) => !isRisky)) {
    try {
      wrong.push(await ask(each));
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error;
    }
  }
  const again = await ask(sampleAgain);
  const isLast = wrong.every(({ exchange }) => exchange.timing.startedMs < again.exchange.timing.startedMs);
  return isLast ? again : http.send({ purpose: 'as documented, after all the wrong credentials' });
});

/** The documented sample with the second configured key. */
export const secondKeySample = variation('second-key-sample', {
  purpose: 'with the second key',
  credential: 'second',
});
