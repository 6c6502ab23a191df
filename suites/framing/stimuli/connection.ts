import { Blocked, NotApplicable, unlessInapplicable } from '../../../harness/base/verdict.ts';
import { isCredentialOptional } from '../../../harness/config/service.ts';
import type { Unasked } from '../../../harness/engine/session/http/service-http.ts';
import type { Stimulus } from '../../../harness/engine/session/http/stimulus.ts';
import { type Port, type Probe, probe, risky } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';
import type { RequestForm } from '../../../harness/wire/http/request.ts';
import { withoutCredential } from '../../auth/stimuli/credential.ts';
import { type Difference, sampleOnKept, served, variation } from '../../stimuli/sample.ts';
import { siblingOf, unknownPath } from '../../stimuli/target.ts';

/**
 * Several requests on one connection, and messages whose end is ambiguous (RFC 9112 §6, §9). Each is followed by a
 * request that must get no response: a server that answers it has misread the message before it. They are sent without
 * a credential, so that they cost no quota.
 */

const KEPT = { connection: null } as const;
export const CHUNKED: FieldLine = ['Transfer-Encoding', 'chunked'];
/** The end of chunked content (RFC 9112 §7.1). */
const LAST_CHUNK = '0\r\n\r\n';
const HIDDEN = '/conform-hidden-request';

interface ConnectionRequest {
  readonly fields?: readonly FieldLine[];
  readonly content?: string;
  readonly raw?: RequestForm;
  /** Responses that may come; 1 when left out. */
  readonly responses?: number;
}

function differenceOf({ fields = [], content, raw, responses = 1 }: ConnectionRequest): Difference {
  return {
    fields,
    without: ['content-type'],
    credential: 'none',
    raw: { ...KEPT, behind: [{ method: 'GET', target: HIDDEN }], ...raw },
    responses,
    ...(content === undefined ? {} : { content }),
  };
}

/** One message with another one hidden in it or behind it. */
function hiding(name: string, purpose: string, asking: ConnectionRequest): Probe<Reply> {
  return risky(variation(name, purpose, differenceOf(asking)));
}

/** The same for a message that must be refused: sent again with the right credential if a missing one was refused. */
function refused(name: string, purpose: string, asking: ConnectionRequest): Probe<Reply> {
  const alone = hiding(name, purpose, asking);
  const send: Probe<Reply>['send'] = async (port) => {
    const anonymous = await alone.send(port);
    const forTheCredential = [401, 403, (await port.ask(withoutCredential)).status];
    if (!forTheCredential.includes(anonymous.status) || anonymous.statuses.length > 1) return anonymous;
    const again = `${purpose}, and the right credential`;
    return port.http.send({ ...differenceOf(asking), purpose: again, credential: 'right' });
  };
  const { responses = 1 } = asking;
  const needs = [served, withoutCredential];
  return risky(probe(name, { needs, cost: 2 * responses, usualCost: responses }, send));
}

/** Content that ends at once by its chunks, and goes on by its length. */
const IN_DISPUTE = { content: LAST_CHUNK, raw: { declares: 'everything' } } as const;

/** RFC 9112 §9.3: unread content of a request is not the next request. */
export const unreadContent = hiding('unread-content', 'with content that looks like a request', {
  raw: { declares: 'everything' },
});
/** §6.1 */
export const bothLengths = hiding('both-lengths', 'with Content-Length and Transfer-Encoding', {
  fields: [CHUNKED],
  ...IN_DISPUTE,
});
/** §6.1: HTTP/1.0 knows no chunks. */
export const chunksInOldVersion = hiding('chunks-in-old-version', 'in HTTP/1.0 with Transfer-Encoding', {
  fields: [['Connection', 'keep-alive'], CHUNKED],
  content: LAST_CHUNK,
  raw: { httpVersion: '1.0' },
});
/** §6.3 (5) */
export const differingLengths = refused('differing-lengths', 'with two Content-Length that differ', {
  fields: [
    ['Content-Length', '0'],
    ['Content-Length', '9'],
  ],
});
export const badLength = refused('bad-length', 'with Content-Length: +0', {
  fields: [['Content-Length', '+0']],
});
/** §6.3 (4) */
export const chunksNotLast = refused('chunks-not-last', 'with Transfer-Encoding: chunked, gzip', {
  fields: [['Transfer-Encoding', 'chunked, gzip']],
  content: LAST_CHUNK,
});
/** §6.1 */
export const unknownCoding = refused('unknown-coding', 'with a transfer coding that nobody knows', {
  fields: [['Transfer-Encoding', 'x-conform, chunked']],
  content: LAST_CHUNK,
});
/** §7.1: 17 digits, of which the last sixteen are 5. */
export const overflowingChunk = hiding(
  'overflowing-chunk',
  'with a chunk size that is too large for any number',
  { fields: [CHUNKED], content: `10000000000000005\r\nabcde\r\n${LAST_CHUNK}` },
);
/** §2.2, §5.2, and a name that a gateway may write with a hyphen: none of them is Transfer-Encoding. */
export const hiddenFields = risky(
  probe('hidden-fields', { needs: [served], cost: () => HIDDEN_CODINGS.length }, async ({ ask, http }) => {
    await ask(served);
    const replies: Reply[] = [];
    for (const [what, fields] of HIDDEN_CODINGS) {
      const purpose = `with Transfer-Encoding ${what}`;
      replies.push(await http.send({ purpose, ...differenceOf({ fields, ...IN_DISPUTE }) }));
    }
    return replies;
  }),
);

const HIDDEN_CODINGS: readonly (readonly [what: string, fields: readonly FieldLine[]])[] = [
  [
    'in a folded line',
    [
      ['X-Conform', 'folded'],
      [' Transfer-Encoding', 'chunked'],
    ],
  ],
  ['behind a bare CR', [['X-Conform', 'cut\rTransfer-Encoding: chunked']]],
  ['with an underscore', [['Transfer_Encoding', 'chunked']]],
];

/** §9.6: nothing is read behind a request that says close. */
export const closeAsked = variation(
  'close-asked',
  'with Connection: close, and a request behind it',
  differenceOf({ raw: { connection: 'close' } }),
);

/** What two requests on one connection got. */
export interface Pair
  extends Pick<Reply, 'evidence' | 'to' | 'served' | 'statuses' | 'staysOpen' | 'exchange'> {
  /** What the second gets when it comes alone. */
  readonly alone: number | null;
}

/** What tells how the second is answered alone. */
export const PAIRED = [served, withoutCredential, unknownPath];

/** Behind the first, the second comes without a credential, so that the answers tell the two apart. */
export async function pairOf(
  { ask, http, config, documented }: Pick<Port, 'ask' | 'http' | 'config' | 'documented'>,
  stimulus: Stimulus,
): Promise<Pair> {
  await ask(served);
  if (documented.method !== 'GET') throw new NotApplicable('the documented request is no GET');
  const anonymous = config.credentials.carrier === null ? null : await ask(withoutCredential);
  const isOpen = anonymous === null || (isCredentialOptional(config) && anonymous.served);
  const twin = isOpen ? await ask(unknownPath) : anonymous;
  if (twin.status === null)
    throw new Blocked(
      `the request behind it has no answer alone: ${twin.exchange.failure?.message ?? 'none came'}`,
    );
  const target = isOpen ? siblingOf(documented.path) : documented.path;
  const behind = [{ method: 'GET', target, fields: Object.entries(documented.fields) }];
  const raw = { ...KEPT, behind };
  const reply = await http.send({ ...stimulus, raw, responses: 2 });
  const { exchange, evidence, to, statuses, staysOpen } = reply;
  return { exchange, evidence, to, served: reply.served, statuses, staysOpen, alone: twin.status };
}

/** §9.3.2: sent again if the first answer is not the expected one, as a fault that comes and goes is not one of order. */
export const pipelined = probe<Pair>('pipelined', { needs: PAIRED, cost: 4, usualCost: 1 }, async (port) => {
  const purpose = 'as documented, with another request right behind it';
  const pair = await pairOf(port, { purpose });
  return pair.served ? pair : pairOf(port, { purpose: `${purpose}, again` });
});

/** §7.1: chunks with an extension and a trailer, as any recipient must take them. */
export const chunkedContent = risky(
  probe<Pair>('chunked-content', { needs: PAIRED, cost: 2, usualCost: 1 }, (port) =>
    pairOf(port, {
      purpose: 'with content in chunks, and another request right behind it',
      fields: [CHUNKED],
      without: ['content-type'],
      credential: 'none',
      content: 'A;x=1\r\nconform=12\r\n0\r\nX: 1\r\n\r\n',
    }),
  ),
);

/** RFC 9110 §10.1.1: a client need not wait for the 100 that it asks for. */
export const expectedContent = risky(
  probe<Pair>('expected-content', { needs: PAIRED, cost: 2, usualCost: 1 }, (port) =>
    pairOf(port, {
      purpose: 'with Expect: 100-continue and its content, and another request right behind it',
      fields: [['Expect', '100-continue']],
      without: ['content-type'],
      credential: 'none',
      content: 'conform=12',
    }),
  ),
);

/** §9.6: alone on a connection that is to be kept. */
export const keptOpen = variation('kept-open', 'as documented, on a connection that may be kept', {
  raw: KEPT,
  responses: 1,
});

/** §6.1, §9.3, RFC 9110 §15.2: for a client that knows neither chunks nor interim responses. */
export const oldClient = variation('old-client', 'in HTTP/1.0 with Expect: 100-continue', {
  fields: [['Expect', '100-continue']],
  raw: { ...KEPT, httpVersion: '1.0' },
  responses: 1,
});

/** RFC 9110 §7.8: what some clients offer with each request. */
export const upgradeOffer = variation('upgrade-offer', 'offering HTTP/2 by Upgrade: h2c', {
  fields: [
    ['Connection', 'Upgrade, HTTP2-Settings'],
    ['Upgrade', 'h2c'],
    ['HTTP2-Settings', 'AAMAAABkAAQAoAAAAAIAAAAA'],
  ],
  raw: KEPT,
  responses: 1,
});

/** What followed the responses so far though nothing was asked, that on a kept connection last of all. */
export const unasked = probe<readonly Followed[]>(
  'unasked',
  { needs: [served, sampleOnKept], cost: 0 },
  async ({ ask, http, clock, signal }) => {
    const { to, evidence } = await ask(served);
    await ask(sampleOnKept).catch(unlessInapplicable);
    await clock.sleep(AFTERWARDS_MS, signal);
    const followed = http.unasked();
    return followed.length === 0 ? [{ to, evidence, octets: null }] : followed;
  },
);

/** What followed a response, by its first line; null for nothing. */
interface Followed extends Omit<Unasked, 'octets'> {
  readonly octets: string | null;
}

/** How long the last connection is listened to at the least, in ms. */
const AFTERWARDS_MS = 50;
