import { type CheckDefinition, check, observation, suite } from '../harness/check/check.ts';
import type { Expect } from '../harness/check/expect.ts';
import { IN_JSON, THROUGHOUT_JSON } from '../harness/check/reading.ts';
import { settled } from '../harness/check/requirement.ts';
import { clause, type Ground, practice, rfc } from '../harness/contract/ground.ts';
import type { Reply } from '../harness/evidence/exchange/reply.ts';
import { shapeOf } from '../harness/evidence/json/shape.ts';
import { latin1Text } from '../harness/evidence/octets/latin1.ts';
import { sample } from '../harness/probe/request/sample.ts';
import { type OtherPrefix, otherPrefixes } from '../harness/probe/request/version.ts';

const prefixed = [settled('versioning.prefix')];

export const versioning = suite('versioning', 'Versioning', [
  check(
    'versioning.prefix',
    {
      title: 'serves the documented path below the documented prefix',
      grounds: [clause('versioning.prefix')],
      applies: prefixed,
      provenBy: ['sample-is-404'],
    },
    async ({ probe, expect }) => {
      expect(await probe(sample)).toConform('the resource below the prefix', ({ response }) =>
        response.status === 404 || response.status === 410 ? `status ${response.status}` : null,
      );
    },
  ),

  check(
    'versioning.no-redirect',
    {
      title: 'does not send clients away from the documented path',
      grounds: [clause('versioning.prefix')],
      applies: prefixed,
      provenBy: ['prefix-redirects'],
    },
    async ({ probe, expect }) => {
      expect(await probe(sample)).toConform('no redirect', redirect);
    },
  ),

  // A client that follows takes its credential along, or loses it.
  check(
    'versioning.no-foreign-redirect',
    {
      title: 'does not send clients to another host, or from https to http',
      grounds: [practice('OWASP API8:2023')],
      provenBy: ['redirect-to-other-host'],
    },
    async ({ probe, expect }) => {
      expect(await probe(sample)).toConform('no redirect to another origin', (reply) => {
        const { location, request } = reply.response;
        const here = URL.parse(request.url);
        if (location === null || here === null || location.origin === here.origin) return null;
        // The very same place, only that nobody can listen in.
        const isUpgrade =
          location.protocol === 'https:' && here.protocol === 'http:' && location.hostname === here.hostname;
        return isUpgrade ? null : redirect(reply);
      });
    },
  ),

  // An unversioned or an undocumented prefix that answers is one more interface to keep and to guard.
  check(
    'versioning.without-prefix',
    {
      title: 'does not serve the same resource without the prefix',
      grounds: [practice('OWASP API9:2023')],
      applies: prefixed,
      provenBy: ['serves-without-prefix'],
    },
    async ({ probe, expect, notApplicable }) => {
      const bare = (await probe(otherPrefixes)).filter(({ prefix }) => prefix === '');
      if (bare.length === 0) return notApplicable('the documented path begins with no version');
      const documented = await probe(sample);
      holdToOthers(expect, bare, documented);
    },
  ),

  check(
    'versioning.other-versions',
    {
      title: 'does not serve the same resource below versions that are not documented',
      grounds: [practice('OWASP API9:2023')],
      applies: prefixed,
      provenBy: ['serves-any-version'],
    },
    async ({ probe, expect }) => {
      const others = (await probe(otherPrefixes)).filter(({ prefix }) => prefix !== '');
      const documented = await probe(sample);
      holdToOthers(expect, others, documented);
    },
  ),

  observation(
    'versioning.other-prefixes',
    {
      title: 'answers below other version prefixes',
      grounds: [clause('versioning.policy')],
      shownBy: ['serves-any-version', 'serves-without-prefix'],
    },
    async ({ probe, observe, note }) => {
      const found = (await probe(otherPrefixes)).map(({ prefix, reply }) => [
        prefix || '(none)',
        reply.response.status,
      ]);
      observe('versioning.other-prefixes', Object.fromEntries(found));
      note(found.map(([prefix, status]) => `${prefix} ${status}`).join(', '));
    },
  ),

  check(
    'versioning.links',
    {
      title: 'keeps its links below the prefix',
      grounds: [practice('links stay in the version')],
      applies: prefixed,
      provenBy: ['links-leave-prefix'],
    },
    async ({ probe, expect, valueOf: documented, notApplicable }) => {
      const reply = await probe(sample);
      expect(reply).toConform('its links', () => null, IN_JSON);
      const links = reply.response.sameOriginLinks;
      if (links.length === 0) return notApplicable('the documented response holds no links to this service');
      const prefix = String(documented('versioning.prefix'));
      expect(reply).toConform(`links below ${prefix}`, () => {
        const stray = links.find((path) => path !== prefix && !path.startsWith(`${prefix}/`));
        return stray === undefined ? null : `a link to ${stray}`;
      });
    },
  ),

  check(
    'versioning.reachable-links',
    {
      title: 'links to no host of an inner network',
      grounds: [practice('OWASP API8:2023')],
      provenBy: ['links-to-other-host'],
    },
    async ({ probe, expect }) => {
      expect(await probe(sample)).toConform(
        'links that clients can follow',
        ({ response: { innerLink } }) => (innerLink === null ? null : `one to ${innerLink.host}`),
        THROUGHOUT_JSON,
      );
    },
  ),

  // RFC 9745 §2.1: Deprecation is a structured field, a Date; RFC 8594 §3: Sunset is an HTTP-date.
  ends(
    'versioning.deprecation-field',
    'Deprecation',
    'a Date such as @1735689600',
    rfc(9745, '2.1', 'MUST'),
    ['deprecation-malformed'],
  ),
  ends('versioning.sunset-field', 'Sunset', 'an HTTP-date', rfc(8594, '3', 'MUST'), ['sunset-malformed']),

  observation(
    'versioning.deprecation',
    {
      title: 'announces a deprecation or sunset',
      grounds: [clause('versioning.policy')],
      shownBy: ['announces-deprecation'],
    },
    async ({ probe, observe, note }) => {
      const { response } = await probe(sample);
      const announced = {
        deprecation: response.field('deprecation') ?? null,
        sunset: response.field('sunset') ?? null,
      };
      observe('versioning.deprecation', announced);
      note((announced.deprecation ?? announced.sunset) ? 'announced' : 'nothing is announced');
    },
  ),

  observation(
    'versioning.version-field',
    {
      title: 'says in a field which version answers',
      grounds: [clause('versioning.selection')],
      shownBy: ['announces-version'],
    },
    async ({ probe, observe, note }) => {
      const { fields } = (await probe(sample)).response;
      const telling = fields.filter(([name]) =>
        /^(?:x-)?(?:[a-z]+-)?api-version$|^(?:content|x)-version$/i.test(name),
      );
      observe(
        'versioning.version-field',
        Object.fromEntries(telling.map(([name, value]) => [name.toLowerCase(), value])),
      );
      note(
        telling.length === 0
          ? 'no field says it'
          : telling.map(([name, value]) => `${name}: ${value}`).join(', '),
      );
    },
  ),
]);

/** The fields that announce the end of what answers have a form each. */
function ends(
  id: string,
  field: 'Deprecation' | 'Sunset',
  form: string,
  ground: Ground,
  provenBy: readonly [string, ...string[]],
): CheckDefinition {
  return check(
    id,
    { title: `writes ${field} in its standard form`, grounds: [ground], provenBy },
    async ({ probe, expect, notApplicable }) => {
      const reply = await probe(sample);
      if (!reply.response.has(field)) return notApplicable(`the documented response has no ${field}`);
      expect(reply).toConform(`${form} in ${field}`, ({ response }) => response.lifecycleFault(field));
    },
  );
}

function redirect({ response }: Reply): string | null {
  const redirects = response.status >= 300 && response.status < 400 && response.status !== 304;
  return redirects ? `status ${response.status} to ${response.field('location') ?? 'nowhere'}` : null;
}

function holdToOthers(expect: Expect, others: readonly OtherPrefix[], documented: Reply): void {
  const served = others.map(({ reply }) => reply).filter((reply) => reply.served);
  if (served.length === 0) return;
  expect(documented, ...served).toConform(
    'another answer than the documented one',
    (reply) => (reply === documented ? null : sameResource(reply, documented)),
    IN_JSON,
  );
}

/** Served with content of the same shape; a service that says 200 to every path does not serve the resource there. */
function sameResource(reply: Reply, documented: Reply): string | null {
  const [here, there] = [reply, documented].map(({ response }) => {
    const shape = shapeOf(response.json.value);
    return shape === null ? latin1Text(response.content) : JSON.stringify(shape);
  });
  return here === there ? `the same resource (status ${reply.response.status})` : null;
}
