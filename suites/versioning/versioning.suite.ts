import {
  check,
  clause,
  type Ground,
  IN_JSON,
  observation,
  practice,
  rfc,
  settled,
  suite,
  THROUGHOUT_JSON,
  versionReported,
} from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { everyExchange } from '../stimuli/record.ts';
import { sample } from '../stimuli/sample.ts';
import { deployedVersion, type OtherPrefix, otherPrefixes, versionBase } from './stimuli/version.ts';

const prefixed = [settled('versioning.prefix')];

interface Elsewhere extends RowNotes {
  /** Completes "does not serve the same resource …" and "The same resource is served …". */
  readonly where: string;
}

/**
 * An unversioned or an undocumented prefix that answers is one more interface to keep and to guard; the documented one
 * in another spelling is none. A service that says 200 to every path does not serve the resource there.
 */
const servesNothing = (id: string, kind: OtherPrefix['kind'], { where, ...notes }: Elsewhere) =>
  check(id, {
    ...notes,
    title: `does not serve the same resource ${where}`,
    headline: `The same resource is served ${where}`,
    grounds: [practice('OWASP API9:2023')],
    applies: prefixed,
    uses: [otherPrefixes, sample],
    async judge({ probe, expect, notApplicable }) {
      const others = (await probe(otherPrefixes)).filter((other) => other.kind === kind);
      if (others.length === 0) notApplicable('no such prefix can be asked for below the base URL');
      const served = others.map(({ reply }) => reply).filter((reply) => reply.served);
      if (served.length === 0) return;
      const documented = await probe(sample);
      await expect(documented, served).toConform(
        'another answer than the documented one',
        (reply) =>
          reply !== documented && reply.response.hasContentLike(documented.response)
            ? `the same resource (status ${reply.status})`
            : null,
        IN_JSON,
      );
    },
  });

interface DatedField {
  readonly change: string;
  readonly form: string;
  readonly ground: Ground;
}

/** The fields that announce the end of what answers have a form each. */
const writes = (id: string, field: 'Deprecation' | 'Sunset', { form, ground, change }: DatedField) =>
  check(id, {
    title: `sends ${field} in its standard format`,
    headline: `${field} is not in its standard format: {got}`,
    why: 'Clients that watch for the end of a version cannot read it.',
    change,
    grounds: [ground],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has(field), `no response has ${field}`)
        .toConform(`${form} in ${field}`, ({ response }) => response.lifecycleFault(field)),
  });

export const noRedirect = check('versioning.no-redirect', {
  title: 'does not redirect clients away from the documented path',
  headline: 'The documented path redirects: {got}',
  why: 'Some clients do not follow redirects, and others lose the credential on the way.',
  change: 'Serve the documented path itself, or document the new one.',
  grounds: [clause('versioning.prefix')],
  applies: prefixed,
  uses: [sample],
  judge: ({ expect, documented }) =>
    expect().toConform('no redirect', ({ response: { redirect, location } }) => {
      const leaves = location !== null && !location.pathname.includes(`${documented('versioning.prefix')}/`);
      return redirect === null ? null : `${redirect}${leaves ? ', without the prefix' : ''}`;
    }),
});

export const versioning = suite('versioning', 'Versioning', [
  check('versioning.prefix', {
    title: 'serves the documented path below the documented prefix',
    headline: 'The documented path below the prefix gets {answer}',
    why: 'No URL works that a client builds from the documents.',
    change: 'Serve the API below the documented prefix, or correct versioning.prefix.',
    grounds: [clause('versioning.prefix')],
    applies: prefixed,
    uses: [sample],
    judge: ({ expect }) =>
      expect().toConform('the resource below the prefix', ({ response: { status } }) =>
        status === 404 || status === 410 ? `status ${status}` : null,
      ),
  }),

  noRedirect,

  // A client that follows takes its credential along, or loses it.
  check('versioning.no-foreign-redirect', {
    title: 'does not redirect clients to another host, or from https to http',
    headline: 'Clients are redirected to another host or to http: {got}',
    why: 'The client sends its credential to a stranger, or without encryption.',
    change: 'Redirect within the host and by https alone, and set the public address in the service.',
    grounds: [practice('OWASP API8:2023')],
    uses: [sample],
    judge: ({ expect }) =>
      expect().toConform('no redirect to another origin', ({ response }) => response.foreignRedirect),
  }),

  // Whatever answers is found, and used.
  servesNothing('versioning.without-prefix', 'none', {
    where: 'without the prefix',
    why: 'Clients come to rely on it, and then no version can ever be retired.',
    change: 'Answer 404 without the prefix, or redirect to the documented path.',
  }),
  servesNothing('versioning.other-versions', 'version', {
    where: 'below versions that are not documented',
    why: 'Undocumented versions get less care, and are attacked first.',
    change: 'Answer 404 below versions that you do not document.',
  }),

  // versioning.policy does not show which versions there are.
  observation('versioning.other-prefixes', {
    title: 'answers below other version prefixes, or refuses them',
    why: 'An undocumented version can still be used, and attacked.',
    grounds: [clause('versioning.policy')],
    uses: [otherPrefixes],
    async observe({ probe }) {
      const found = (await probe(otherPrefixes)).map(
        ({ segment, reply }) => [segment || '(none)', reply.response.status] as const,
      );
      return {
        seen: Object.fromEntries(found),
        note: found.map(([prefix, status]) => `${prefix} ${status}`).join(', '),
      };
    },
  }),

  // A link must not lead to another version.
  check('versioning.links', {
    title: 'keeps its links below the prefix',
    headline: 'The documented response has a link out of its version: {got}',
    why: 'Who follows the link ends up in another version, or nowhere.',
    change: 'Build links with the version prefix, also behind a proxy that strips it.',
    grounds: [practice('links stay in the version')],
    applies: prefixed,
    restsOn: [noRedirect],
    uses: [versionBase, sample],
    async judge({ probe, expect, documented }) {
      const prefix = String(documented('versioning.prefix'));
      const bases = [prefix, (await probe(versionBase)) ?? prefix];
      await expect(sample).toBeRead('its links', IN_JSON);
      await expect(sample)
        .where(
          ({ response }) => response.sameOriginLinks.length > 0,
          'the documented response holds no links to this service',
        )
        .toConform(`links below ${prefix}`, ({ response }) => {
          const isBelow = (path: string) => bases.some((base) => `${path}/`.startsWith(`${base}/`));
          const stray = response.sameOriginLinks.find((path) => !isBelow(path));
          return stray === undefined ? null : `a link to ${stray}`;
        });
    },
  }),

  // Such a link is of no use to clients, and tells them how the service is built.
  check('versioning.reachable-links', {
    title: 'links to no internal host',
    headline: 'The documented response links to an internal host: {got}',
    why: 'Clients cannot follow the link, and it shows how your network is built.',
    change: 'Build links from the public address of the service.',
    grounds: [practice('OWASP API8:2023')],
    uses: [sample],
    judge: ({ expect }) =>
      expect().toConform(
        'links that clients can follow',
        ({ response: { innerLink } }) => innerLink && `one to ${innerLink.host}`,
        THROUGHOUT_JSON,
      ),
  }),

  // RFC 9745 §2.1: Deprecation is a structured field, a Date; RFC 8594 §3: Sunset is an HTTP-date.
  writes('versioning.deprecation-field', 'Deprecation', {
    change: 'Write the seconds since 1970 behind an @: Deprecation: @1735689600.',
    form: 'a Date such as @1735689600',
    ground: rfc(9745, '2.1', 'MUST'),
  }),
  writes('versioning.sunset-field', 'Sunset', {
    change: 'Write a date of HTTP: Sunset: Sun, 06 Nov 1994 08:49:37 GMT.',
    form: 'an HTTP-date',
    ground: rfc(8594, '3', 'MUST'),
  }),

  // RFC 9745 §4: what ends before it is deprecated contradicts itself.
  check('versioning.sunset-after-deprecation', {
    title: 'ends no earlier than it is deprecated',
    headline: 'Sunset is earlier than Deprecation: {got}',
    why: 'Clients that plan by Deprecation find the service gone.',
    change: 'Send a Sunset that is later than Deprecation.',
    grounds: [rfc(9745, '4', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(
          ({ response }) =>
            response.has('sunset') &&
            response.has('deprecation') &&
            (['Sunset', 'Deprecation'] as const).every((field) => response.lifecycleFault(field) === null),
          'no response has both fields in their standard form',
        )
        .toConform('a Sunset that is not before Deprecation', ({ response }) =>
          Date.parse(response.field('sunset') ?? '') < Number(response.field('deprecation')?.slice(1)) * 1_000
            ? `Sunset ${response.field('sunset')} with Deprecation ${response.field('deprecation')}`
            : null,
        ),
  }),

  // versioning.policy does not show how a version ends.
  observation('versioning.deprecation', {
    title: 'announces that it is deprecated or will end, or says nothing of it',
    why: 'A client that sees it can move to the next version in time.',
    grounds: [clause('versioning.policy')],
    uses: [sample],
    async observe({ probe }) {
      const { response } = await probe(sample);
      const deprecation = response.field('deprecation') ?? null;
      const sunset = response.field('sunset') ?? null;
      const isAnnounced = (deprecation ?? sunset) !== null;
      return { seen: { deprecation, sunset }, note: isAnnounced ? 'announced' : 'nothing is announced' };
    },
  }),

  // versioning.selection does not show whether a version is reported.
  observation('versioning.version-field', {
    title: 'says in a header which version answers, or does not',
    why: 'It shows which version a client really uses.',
    varies: 'text',
    grounds: [clause('versioning.selection')],
    uses: [sample],
    async observe({ probe }) {
      const { versionFields } = (await probe(sample)).response;
      const fields = versionFields.map(([name, value]) => `${name}: ${value}`).join(', ');
      return {
        seen: Object.fromEntries(versionFields.map(([name, value]) => [name.toLowerCase(), value])),
        note: fields || 'no header says it',
      };
    },
  }),

  // versioning.policy does not show which version is deployed.
  observation('versioning.deployed', {
    title: 'says which version of it is deployed',
    why: 'A check that comes and goes while the version stays the same is flaky; after an upgrade it may not be.',
    varies: 'text',
    grounds: [clause('versioning.policy')],
    applies: [versionReported],
    uses: [deployedVersion],
    async observe({ probe }) {
      const { version, note } = await probe(deployedVersion);
      return { seen: version, note };
    },
  }),
]);
