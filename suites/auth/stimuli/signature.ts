import type { Sample } from '../../../harness/base/clause.ts';
import { probe } from '../../../harness/engine/session/probe.ts';
import { queryOf, withQuery } from '../../../harness/wire/request.ts';
import { requireServed, served, variation } from '../../stimuli/sample.ts';

/** Signed requests: each is the sample but for what the signature should have noticed. */

export const staleSignature = variation('stale-signature', 'signed an hour ago', {
  credential: { flawed: 'stale' },
});
export const signedForOtherMethod = variation('signed-for-other-method', 'signed for another method', {
  credential: { flawed: 'other-method' },
});
export const signedForOtherPath = variation('signed-for-other-path', 'signed for another path', {
  credential: { flawed: 'other-path' },
});

const withParameter = ({ path }: Sample) => `${path}?conform=1`;

/** The same query, signed whole, is served: otherwise its refusal would show nothing. */
export const signedForOtherQuery = probe('signed-for-other-query', async ({ http }) => {
  requireServed(await http.send({ purpose: 'with a parameter, signed', target: withParameter }));
  return http.send({
    purpose: 'with a parameter added after signing',
    target: withParameter,
    credential: { flawed: 'other-query' },
  });
});

/** An event for a channel that nobody has joined: the one request of the documented dialect that has content. */
const EVENT = '{"name":"conform","channel":"conform-nobody","data":"x"}';

export const signedForOtherContent = probe('signed-for-other-content', async ({ config, http }) => {
  const id = config.credentials.app?.id ?? '';
  const event = {
    method: 'POST',
    target: () => `/apps/${encodeURIComponent(id)}/events`,
    fields: [['Content-Type', 'application/json']] as const,
    content: EVENT,
  };
  requireServed(await http.send({ ...event, purpose: 'of an event to nobody, signed' }));
  return http.send({
    ...event,
    purpose: 'of an event that was altered after signing',
    credential: { flawed: 'other-content' },
  });
});

/** The very signature of the sample a second time. */
export const replayedSignature = probe('replayed-signature', { needs: [served] }, async ({ ask, http }) => {
  const first = await ask(served);
  const parameters = queryOf(first.exchange.request.target);
  return http.send({
    purpose: 'with the signature of an earlier request',
    target: ({ path }) => withQuery(path, parameters),
    credential: 'held',
  });
});

/** Signed by the application where a key is configured. */
export const signedInstead = variation(
  'signed-instead',
  'signed by the application instead of with the key',
  { credential: 'signed' },
);
