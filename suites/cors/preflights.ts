import { check, clients, observation, practice } from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { grounds, originForm, originsNamed } from './forms.ts';
import * as page from './stimuli/page.ts';
import * as answer from './stimuli/page-answer.ts';

// Fetch §4.8: a preflight has no credential.
const preflightCredential = check('cors.preflight-credential', {
  title: 'asks for no credential in a preflight',
  headline: 'A preflight without a credential gets {answer}',
  why: 'Browsers never send one with a preflight, so the page cannot call at all.',
  change: 'Answer preflights before the credential is checked.',
  grounds: [...grounds, clients('browsers send preflights without a credential')],
  applies: [originsNamed],
  uses: [page.namedPreflights],
  judge: ({ expect }) =>
    expect().toConform('no demand for a credential', ({ response: { status } }) =>
      status === 401 || status === 403 || status === 407 ? `status ${status}` : null,
    ),
});

// Fetch §4.8: an ok status, 200 to 299, and the CORS check.
const preflightStatus = check('cors.preflight', {
  title: 'answers the preflights of the named pages with 2xx and their origin',
  headline: 'The preflight of a named page is not answered with its origin: {got}',
  why: 'The browser ends the call before it sends the request.',
  change:
    'Answer OPTIONS with Access-Control-Request-Method with 204 and the origin, wherever something is served.',
  grounds: [...grounds, clients('browsers take a 2xx with the origin of the page')],
  applies: [originsNamed],
  restsOn: [preflightCredential, originForm],
  uses: [page.namedPreflights],
  judge: ({ expect, note, service }) => {
    const unasked = page.unaskedPreflights(service);
    if (unasked > 0) note(`The preflights of ${unasked} more operations were not sent.`);
    return expect().toConform('status 2xx and the origin of the page', (reply) =>
      reply.served ? answer.unreadable(reply) : `status ${reply.response.status}`,
    );
  },
});

interface Allowed extends Omit<RowNotes<'title' | 'headline'>, 'why'> {
  /** What they do where it is not allowed. */
  readonly clients: string;
  /** Completes "expected …". */
  readonly wanted: string;
  /** What is not allowed; null if everything is. */
  readonly refused: typeof answer.refusedMethod;
}

const allowed = (id: string, { clients: consequence, wanted, refused, ...notes }: Allowed) =>
  check(id, {
    ...notes,
    why: 'The browser does not send the request.',
    grounds: [...grounds, clients(consequence)],
    applies: [originsNamed],
    restsOn: [preflightStatus],
    uses: [page.namedPreflights],
    judge({ expect, service }) {
      const policy = page.pagePolicy(service);
      return expect()
        .where(({ served }) => served, 'no preflight is answered')
        .toConform(wanted, (reply) => refused(reply, policy));
    },
  });

/** Those of the operations, too. */
export const preflights = [
  preflightCredential,
  preflightStatus,

  // Fetch §4.8: byte by byte; GET, HEAD and POST need no permission.
  allowed('cors.preflight-methods', {
    title: 'allows the documented methods in preflights',
    headline: 'A documented method is not allowed to pages: {got}',
    change: 'Name the method in Access-Control-Allow-Methods, in capitals. With cookies * is no wildcard.',
    clients: 'browsers send no method that the preflight did not allow',
    wanted: 'the method in Access-Control-Allow-Methods',
    refused: answer.refusedMethod,
  }),

  // Fetch §4.8: in any letter case; * stands neither for Authorization nor for anything with credentials.
  allowed('cors.preflight-headers', {
    title: 'allows the documented headers in preflights',
    headline: 'A documented header is not allowed to pages: {got}',
    change:
      'Name the header in Access-Control-Allow-Headers. The wildcard * never stands for Authorization, and with cookies for nothing.',
    clients: 'browsers send no header that the preflight did not allow',
    wanted: 'the headers in Access-Control-Allow-Headers',
    refused: answer.refusedHeaders,
  }),

  // Private Network Access was never finished, and few browsers ask.
  observation('cors.private-network', {
    title: 'says whether public pages may call it in a private network',
    why: 'Some browsers ask before a public page calls a private network.',
    grounds: [practice('Private Network Access')],
    applies: [originsNamed],
    uses: [page.privatePreflight],
    async observe({ probe }) {
      const { response } = await probe(page.privatePreflight);
      const value = response.field('access-control-allow-private-network') ?? null;
      return {
        seen: value,
        note: value === null ? 'nothing is said of private networks' : `it says ${value}`,
      };
    },
  }),
];
