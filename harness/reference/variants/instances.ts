import { EVERY, REST, tableOf, type Variant } from '../behavior/deviation.ts';
import { oneFinishedIn, oneIn, whenCrowded } from '../behavior/patches/instances.ts';
import { onAnswer, onFinished } from '../behavior/patches/patch.ts';
import { asProblem, having, withJson } from '../http/answer-changes.ts';
import { withField, withoutField } from '../http/message.ts';

/** What differs from answer to answer, and may. */

export const INSTANCE_VARIANTS = tableOf<Variant>(EVERY, {
  'names-its-instances': {
    summary: 'says in headers which of several instances answered, what it took and whether a cache had it',
    patch: (behavior) => {
      let count = 0;
      return onFinished('every', (answer) => {
        count += 1;
        const named = withField(
          withField(answer, 'X-Served-By', `api-${count % 3}`),
          'Server-Timing',
          `app;dur=${count}`,
        );
        return count % 3 === 0 ? withField(named, 'X-Cache', 'HIT') : named;
      })(behavior);
    },
  },
  'unavailable-when-crowded': {
    services: REST.services,
    summary: 'says 503 and for how long, where many requests come together (RFC 9110 §15.6.4)',
    patch: whenCrowded(12, (answer) => withField(asProblem(503)(answer), 'Retry-After', '1')),
  },
  'server-of-the-instance': {
    summary: 'has another Server header on one of four instances',
    patch: oneFinishedIn(4, having('Server', 'blue')),
  },
  'lists-in-any-order': {
    services: REST.services,
    summary: 'lists resources in another order each time, each order with a tag of its own',
    patch: (behavior) => {
      let count = 0;
      return onAnswer(
        'served',
        (answer) =>
          withJson(withoutField(answer, 'ETag'), (content) => {
            count += 1;
            const { resources } = content;
            if (!Array.isArray(resources)) return content;
            const at = count % resources.length;
            return { ...content, resources: [...resources.slice(at), ...resources.slice(0, at)] };
          }),
        ({ query }) => query === null,
      )(behavior);
    },
  },
  'a-cache-that-fills': {
    services: REST.services,
    summary: 'is behind a cache for some of its answers, which are older each time and say so',
    patch: (behavior) => {
      let age = 0;
      return oneIn(3, (answer, _, { clock }) => {
        age += 200;
        return withField(
          withField(answer, 'Age', String(age)),
          'Date',
          new Date(clock.now() - age * 1_000).toUTCString(),
        );
      })(behavior);
    },
  },
});
