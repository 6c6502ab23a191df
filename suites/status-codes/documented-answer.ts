import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { IN_JSON } from '../../harness/check/reading.ts';
import { credentialed } from '../../harness/check/requirement.ts';
import { clause, practice, rfc, rfc9110, rfc9111 } from '../../harness/contract/ground.ts';
import { visible } from '../../harness/evidence/visible.ts';
import { everyReply } from '../../harness/probe/gathered.ts';
import { sample, sampleAgain } from '../../harness/probe/sample.ts';
import * as target from '../../harness/probe/target.ts';

/** The documented request and its opposite, and what holds of every answer. */
export const documentedAnswer: readonly CheckDefinition[] = [
  check(
    'status.sample',
    {
      title: 'answers the documented sample request with 200',
      grounds: [clause('endpoint.sample')],
      provenBy: ['sample-is-404'],
    },
    async ({ probe, expect }) => {
      const reply = await probe(sample);
      expect(reply).toBeAnswered();
      expect(reply).toHaveStatus(200);
    },
  ),

  check(
    'status.documented-content-type',
    {
      title: 'accepts the documented Content-Type on a request without content',
      grounds: [clause('endpoint.sample')],
      provenBy: ['content-type-on-get-415'],
    },
    async ({ probe, violated, blocked }) => {
      const documented = await probe(sample);
      if (documented.served) return;
      const without = await probe(target.withoutContentType);
      if (!without.served)
        return blocked('the sample request is served neither with Content-Type nor without');
      violated(
        `expected the documented request to be served, got status ${documented.response.status}, and ${without.response.status} without Content-Type`,
        documented.evidence,
      );
    },
  ),

  // RFC 9110 §15.5.5. Where the credential is demanded first, the answer to the right one still is 404.
  check(
    'status.unknown-path',
    {
      title: 'answers 404 at a path that does not exist',
      grounds: [clause('responses.status-codes')],
      provenBy: ['unknown-path-200', 'unknown-path-500'],
    },
    async ({ probe, expect }) => {
      expect(await probe(target.unknownPath)).toHaveStatus(404, 410);
    },
  ),

  observation(
    'status.unknown-path-without-credential',
    {
      title: 'says 404 or 401 first where both apply',
      grounds: [clause('errors.codes')],
      applies: [credentialed],
      shownBy: ['not-found-before-auth'],
    },
    async ({ probe, observe, note }) => {
      const { status } = (await probe(target.unknownPathWithoutCredential)).response;
      observe('status.unknown-path-without-credential', status);
      note(`status ${status}`);
    },
  ),

  // RFC 9110 §15: three digits, the first one a class of 1 to 5; §16.2.1: codes come from the registry.
  check(
    'status.registered',
    {
      title: 'uses registered status codes only',
      grounds: [clause('responses.status-codes'), rfc9110('15', 'MUST')],
      provenBy: ['unregistered-status'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(everyReply))).toHaveRegisteredStatus();
    },
  ),

  check(
    'status.no-error-in-success',
    {
      title: 'dresses no error as success',
      grounds: [clause('responses.status-codes')],
      provenBy: ['error-in-200', 'failure-in-200'],
    },
    async ({ probe, expect }) => {
      const successes = (await probe(everyReply)).filter(({ served }) => served);
      expect(...successes).toConform(
        'no error in a 2xx body',
        ({ response }) => {
          const { value } = response.json;
          const dressed = ERROR_MEMBERS.find(([name, tells]) => tells(memberOf(value, name)));
          return dressed === undefined
            ? null
            : `status ${response.status} with "${dressed[0]}": ${visible(JSON.stringify(memberOf(value, dressed[0])) ?? '', 60)}`;
        },
        IN_JSON,
      );
    },
  ),

  // One instance in several that is out of order answers now and then.
  check(
    'status.stable',
    {
      title: 'answers the same request twice with one status and one media type',
      grounds: [practice('repeatable answers')],
      provenBy: ['flapping-status'],
    },
    async ({ probe, expect }) => {
      const first = (await probe(sample)).response;
      expect(await probe(sampleAgain)).toConform(
        `status ${first.status} and the same media type`,
        ({ response }) => {
          if (response.status !== first.status) return `status ${response.status}`;
          const [before, now] = [first.field('content-type'), response.field('content-type')];
          return before === now ? null : `Content-Type ${now ?? 'absent'} after ${before ?? 'absent'}`;
        },
      );
    },
  ),

  // RFC 9110 §5.3: of a field whose value is no list, nobody knows which of several lines counts.
  check(
    'status.single-fields',
    {
      title: 'sends each field that has one value once',
      grounds: [rfc9110('5.3', 'MUST')],
      provenBy: ['date-twice'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(everyReply))).toConform(
        'one line of each such field',
        ({ response }) => response.repeatedField,
      );
    },
  ),

  // RFC 9111 §5.2: directives with commas between them; a cache that cannot read `no-store` stores.
  check(
    'status.cache-control-form',
    {
      title: 'writes Cache-Control by its grammar',
      grounds: [rfc9111('5.2', 'MUST')],
      provenBy: ['cache-control-malformed'],
    },
    async ({ probe, expect }) => {
      const telling = (await probe(everyReply)).filter(({ response }) => response.has('cache-control'));
      expect(...telling).toConform(
        'Cache-Control directives',
        ({ response }) => response.cacheControl.faults[0] ?? null,
      );
    },
  ),

  // RFC 8288 §3: a target in angle brackets and parameters behind semicolons.
  check(
    'status.link-form',
    {
      title: 'writes Link by its grammar',
      grounds: [rfc(8288, '3', 'MUST')],
      provenBy: ['link-malformed'],
    },
    async ({ probe, expect }) => {
      const telling = (await probe(everyReply)).filter(({ response }) => response.has('link'));
      expect(...telling).toConform('links', ({ response }) => response.linkFaults[0] ?? null);
    },
  ),

  // RFC 9110 §6.6.1: an origin server with a clock sends Date.
  check(
    'status.date',
    {
      title: 'dates its responses',
      grounds: [rfc9110('6.6.1', 'SHOULD')],
      provenBy: ['no-date'],
    },
    async ({ probe, expect }) => {
      expect(await probe(sample), await probe(target.unknownPath)).toHaveField('Date');
    },
  ),

  // RFC 9110 §5.6.7: whoever generates a date generates an IMF-fixdate.
  check(
    'status.date-form',
    {
      title: 'writes Date as HTTP does',
      grounds: [rfc9110('5.6.7', 'MUST')],
      provenBy: ['date-malformed'],
    },
    async ({ probe, expect, notApplicable }) => {
      const reply = await probe(sample);
      if (!reply.response.has('date')) return notApplicable('the answer has no Date');
      expect(reply).toConform('an IMF-fixdate in Date', ({ response }) =>
        response.dateFault === null ? null : `"${response.field('date')}"`,
      );
    },
  ),

  // RFC 9110 §8.8.3: an opaque tag in double quotes, perhaps weak.
  check(
    'status.etag-form',
    {
      title: 'writes ETag as an entity tag',
      grounds: [rfc9110('8.8.3', 'MUST')],
      provenBy: ['etag-unquoted'],
    },
    async ({ probe, expect, notApplicable }) => {
      const reply = await probe(sample);
      if (!reply.response.has('etag')) return notApplicable('the documented response has no ETag');
      expect(reply).toConform('an entity tag in double quotes', ({ response }) => response.etagFault);
    },
  ),

  // RFC 9110 §13.1.2: a GET is answered 304 while the tag it names still is that of the resource; 412 is for others.
  check(
    'status.not-modified',
    {
      title: 'answers 304 to a client that has what it would be sent',
      grounds: [rfc9110('13.1.2', 'MUST')],
      provenBy: ['if-none-match-ignored', 'if-none-match-412'],
    },
    async ({ probe, expect, notApplicable }) => {
      const tag = (await probe(sample)).response.entityTag;
      const reply = await probe(target.conditional);
      const { status, entityTag } = reply.response;
      if (status !== 304 && status !== 412) {
        if (tag === null) return notApplicable('the documented response has no ETag');
        if (!reply.served) return notApplicable('such a request is refused');
        if (entityTag !== tag) return notApplicable('the resource has another ETag by now');
      }
      expect(reply).toConform('status 304', () => {
        if (status === 304) return null;
        return status === 412 ? 'status 412' : `status ${status} with the same ETag`;
      });
    },
  ),

  // RFC 9110 §15.4.5: a 304 has the fields that a 200 would have had and caches need.
  check(
    'status.not-modified-fields',
    {
      title: 'repeats in a 304 what caches need of the 200',
      grounds: [rfc9110('15.4.5', 'MUST')],
      provenBy: ['not-modified-without-fields'],
    },
    async ({ probe, expect, notApplicable }) => {
      const { response: full } = await probe(sample);
      const reply = await probe(target.conditional);
      if (reply.exchange.response?.status !== 304) return notApplicable('no request was answered 304');
      const needed = ['Cache-Control', 'Content-Location', 'ETag', 'Vary'].filter((name) => full.has(name));
      expect(reply).toConform(`the ${needed.join(', ')} of the 200`, ({ response }) => {
        const lost = needed.filter((name) => !response.has(name));
        return lost.length === 0 ? null : `no ${lost.join(', no ')}`;
      });
    },
  ),

  check(
    'status.request-id',
    {
      title: 'labels each response with a request id of its own',
      grounds: [clause('errors.request-id')],
      provenBy: ['request-id-missing', 'request-id-repeats'],
    },
    async ({ probe, observe, violated, note }) => {
      const reply = await probe(sampleAgain);
      const first = (await probe(sample)).response.requestId;
      const second = reply.response.requestId;
      const unique = first !== null && first.value !== second?.value;
      observe('status.request-id', { field: first?.field ?? null, unique });
      if (first === null) return violated('expected a request id on each response, got none', reply.evidence);
      if (!unique)
        return violated(`expected another ${first.field} on each response, got one twice`, reply.evidence);
      note(`in ${first.field}, unique`);
    },
  ),
];

/** Members at the top of a body by which services tell that they failed, and values with which they do. */
const ERROR_MEMBERS: readonly (readonly [name: string, tells: (member: unknown) => boolean])[] = [
  ['error', isNotNothing],
  ['errors', isNotNothing],
  ['success', (member) => member === false],
  ['ok', (member) => member === false],
  ['status', (member) => member === 'error' || member === 'fail'],
];

/** `null`, `false`, `0`, `""`, `[]` and `{}` say that there was none. */
function isNotNothing(member: unknown): boolean {
  if (typeof member === 'object' && member !== null) return Object.keys(member).length > 0;
  return Boolean(member);
}

function memberOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isObject ? Reflect.get(value, name) : undefined;
}
