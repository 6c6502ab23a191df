import {
  type CheckDefinition,
  check,
  clause,
  clients,
  type Probe,
  practice,
  settled,
} from '../../harness/engine/check/suite.ts';
import { foreignOrigin } from '../auth/stimuli/way-around.ts';
import { foreignOriginKept } from '../auth/ways-around.ts';
import { everyExchange } from '../stimuli/record.ts';
import { sample } from '../stimuli/sample.ts';
import * as page from './stimuli/page.ts';
import * as answer from './stimuli/page-answer.ts';

export const originsNamed = settled('cors.origins');

export const grounds = [clause('cors.origins')];

const UNTOLD = 'no answer says whose pages may read it (Access-Control-Allow-Origin)';

/** Requests for pages are sent only where origins are named; elsewhere the record of others has to do. */
const everyAnswerWith =
  (...pages: readonly Probe<unknown>[]): CheckDefinition['uses'] =>
  (config) =>
    originsNamed(config) === null ? [...pages, everyExchange] : [everyExchange];
const withPages = everyAnswerWith(page.namedPages, page.namedPreflights);

// Fetch §4.9: browsers compare the value with the origin of the page; a list or a doubled header is none.
export const originForm = check('cors.origin-form', {
  title: 'names one origin, every origin or none in Access-Control-Allow-Origin',
  headline: 'Access-Control-Allow-Origin is not one origin: {got}',
  why: 'Browsers compare the value with the origin of the page. A list, or the header twice, fits no page.',
  change: 'Set the header in one place, in the service or in its proxy, to the one origin of the request.',
  grounds: [clients('browsers take one origin or * in Access-Control-Allow-Origin')],
  uses: withPages,
  judge: ({ expect }) =>
    expect(everyExchange)
      .where(({ response }) => response.has(answer.ALLOW_ORIGIN), UNTOLD)
      .toConform('one origin, or *', answer.allowOriginFault),
});

// Fetch §3.3.3: `true`, in small letters.
export const credentialsForm = check('cors.credentials-form', {
  title: 'writes Access-Control-Allow-Credentials as true',
  headline: 'Access-Control-Allow-Credentials is not true in small letters: {got}',
  why: 'Browsers take true alone. With another word they keep the answer from the page.',
  change: 'Send Access-Control-Allow-Credentials: true, once and in small letters.',
  grounds: [clients('browsers take the word true in small letters alone')],
  uses: withPages,
  judge: ({ expect }) =>
    expect(everyExchange)
      .where(({ response }) => response.has('access-control-allow-credentials'), 'no answer allows cookies')
      .toConform('true', answer.allowCredentialsFault),
});

/** Forms of the headers for pages. */
export const forms = [
  originForm,
  credentialsForm,

  // Fetch §3.3.3: if the list cannot be read, the preflight has failed.
  check('cors.list-form', {
    title: 'lists methods and headers for pages with commas',
    headline: 'A list of methods or headers for pages is malformed: {got}',
    why: 'Browsers cannot read the list, and do not send the request that it was for.',
    change: 'Write names with commas between them: GET, PUT, DELETE.',
    grounds: [clients('browsers end a preflight whose lists they cannot read')],
    uses: withPages,
    judge: ({ expect }) =>
      expect(everyExchange)
        .where(({ response }) => response.has(answer.ALLOW_ORIGIN), UNTOLD)
        .toConform('names with commas between them', answer.nameListFault),
  }),

  // Fetch §3.3.3: delta-seconds; else browsers keep the permission for five seconds.
  check('cors.max-age-form', {
    title: 'says in seconds how long a preflight holds',
    headline: 'Access-Control-Max-Age is no number of seconds: {got}',
    why: 'Browsers pass over the value, and ask again before nearly every request.',
    change: 'Write a number of seconds: Access-Control-Max-Age: 600.',
    grounds: [practice('Fetch §3.3.3, Access-Control-Max-Age')],
    uses: withPages,
    judge: ({ expect }) =>
      expect(everyExchange)
        .where(answer.saysHowLong, 'no answer has Access-Control-Max-Age')
        .toConform('a number of seconds', answer.maxAgeFault),
  }),

  // Fetch §3.3.5: a cache would give an answer for one origin to the page of another.
  check('cors.vary', {
    title: 'says that an answer depends on the origin (Vary: Origin)',
    headline: 'Answers differ by origin and do not say so in Vary: {got}',
    why: 'A cache gives the answer for one page to another one, and the browser keeps it from that page.',
    change: 'Send Vary: Origin with every answer to such a request, also if it allows no page.',
    grounds: [practice('Fetch §3.3.5, CORS protocol and HTTP caches')],
    restsOn: [originForm, foreignOriginKept],
    uses: everyAnswerWith(page.namedPages, foreignOrigin, sample),
    async judge({ probe, expect }) {
      const { all, shortfall } = await probe(everyExchange);
      const cached = all.filter(
        (reply) =>
          reply.served && reply.isOrdinary && ['GET', 'HEAD'].includes(reply.exchange.request.method),
      );
      const apart = cached.filter(
        (reply) =>
          answer.originOf(reply) !== null && cached.some((other) => answer.differsByOrigin(reply, other)),
      );
      await expect({ all: apart, shortfall })
        .where(() => true, 'no answer differs by the origin of the page')
        .toConform('Origin in Vary', (reply) =>
          answer.mayBeShared(reply) ? `Vary: ${reply.response.vary.join(', ') || 'none'}` : null,
        );
    },
  }),
];
