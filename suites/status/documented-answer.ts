import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { IN_JSON } from '../../harness/check/reading.ts';
import { credentialed } from '../../harness/check/requirement.ts';
import { clause, practice, rfc9110 } from '../../harness/contract/ground.ts';
import { visible } from '../../harness/evidence/octets/visible.ts';
import { hasMembers } from '../../harness/json-text.ts';
import { everyReply } from '../../harness/probe/gathered.ts';
import { sample, sampleAgain } from '../../harness/probe/request/sample.ts';
import * as target from '../../harness/probe/request/target.ts';

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
  if (hasMembers(member)) return Object.keys(member).length > 0;
  return Boolean(member);
}

function memberOf(value: unknown, name: string): unknown {
  return hasMembers(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
